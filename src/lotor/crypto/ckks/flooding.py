"""Noise on the results that leave the server, so that they do not tell how they were computed.

A decrypted CKKS result carries an error that depends on the secret key and on everything that
went into it. `flood` adds a fresh encryption of zero and a Gaussian in all slots, real and
imaginary.
"""

import math
import os

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError
from lotor.crypto.ckks.ciphertext import Ciphertext
from lotor.crypto.ckks.keys import PublicKey
from lotor.crypto.seal.binding import result_of

_UNIT = 2.0**-53


def flood(ciphertext: Ciphertext, public: PublicKey, sigma: float) -> Ciphertext:
    """The same values plus fresh Gaussian noise of this standard deviation in every slot."""
    if not (math.isfinite(sigma) and sigma > 0):
        raise InputError(f"sigma={sigma}: noise needs a positive standard deviation")
    ciphertext.check_key(public.fingerprint)
    context, level, scale = ciphertext.context, ciphertext.level, ciphertext.scale
    zero = public.encrypt_zero(level, scale)
    noise = context.encode(sigma * complex_normal(context.parameters.slots), level, scale)
    masked = result_of(context.evaluator.add, ciphertext.seal, zero.seal)
    out = result_of(context.evaluator.add_plain, masked, noise)
    return Ciphertext(context, ciphertext.key, out)


def complex_normal(count: int) -> NDArray[np.complex128]:
    """Standard normal real and imaginary parts from the operating system's randomness."""
    words = np.frombuffer(os.urandom(16 * count), dtype=np.uint64) >> np.uint64(11)
    uniform = (words.reshape(2, count) + 0.5) * _UNIT
    # Box and Muller's pair of normal numbers is one complex number.
    radius = np.sqrt(-2.0 * np.log(uniform[0]))
    return np.asarray(radius * np.exp(2j * np.pi * uniform[1]), dtype=np.complex128)
