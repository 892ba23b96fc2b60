"""New levels for an old ciphertext, with the key holder's help and without telling it the values.

The server adds a large random mask, the key holder encrypts what it decrypts again at level 0,
and the server takes the mask off. The mask covers all complex slots, and it is a sum of parts of
falling size: SEAL encodes with doubles, so that one large part alone would leave the low digits of
what it hides in clear. For the same reason the key holder reads the sum in two parts. It is drawn
from a key (AES-256 in counter mode), so that a server which must remember it keeps 32 bytes.
"""

import math
import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from lotor.core.errors import CryptoError, InputError, LevelsExhaustedError
from lotor.crypto.ckks.ciphertext import Ciphertext
from lotor.crypto.ckks.context import Context
from lotor.crypto.ckks.keys import PublicKey, SecretKey
from lotor.crypto.seal.binding import SealCiphertext, SealPlaintext, result_of

SMALLEST_MASK_BITS: Final = 40
MASK_KEY_BYTES: Final = 32
# A double holds 53 bits. Each part is 2^40 times as wide as the steps of the one before, so that
# those steps cannot be seen, and the steps of the last are finer than the noise of a ciphertext.
_PARTS: Final = (1.0, 2.0**-13, 2.0**-26, 2.0**-39)

Slots = NDArray[np.complex128]


@dataclass(frozen=True, repr=False, eq=False)
class Mask:
    """What a server added to one ciphertext; its key is secret and used once."""

    key: bytes
    width: float
    scale: float
    slots: int

    def __post_init__(self) -> None:
        if len(self.key) != MASK_KEY_BYTES:
            raise InputError(f"the key of a mask has {MASK_KEY_BYTES} bytes, not {len(self.key)}")

    @cached_property
    def parts(self) -> tuple[Slots, ...]:
        """Complex numbers in all slots, each part finer than the one before."""
        cipher = Cipher(algorithms.AES256(self.key), modes.CTR(bytes(16))).encryptor()
        return tuple(
            _uniform(cipher.update(bytes(16 * self.slots)), self.width * part) for part in _PARTS
        )

    def __repr__(self) -> str:
        return "<Mask>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Mask is secret and is not pickled or copied: mask again instead")


def add_mask(
    ciphertext: Ciphertext, public: PublicKey, bound: float, bits: int = SMALLEST_MASK_BITS
) -> tuple[Ciphertext, Mask]:
    """Hide values of at most `bound` under a fresh mask 2^bits times as large, and return both."""
    if bits < SMALLEST_MASK_BITS or not (math.isfinite(bound) and bound > 0):
        raise InputError(
            f"bits={bits}, bound={bound}: a mask needs a positive bound and at least "
            f"{SMALLEST_MASK_BITS} bits more than it"
        )
    ciphertext.check_key(public.fingerprint)
    context, level, scale = ciphertext.context, ciphertext.level, ciphertext.scale
    width = bound * 2.0**bits
    _check_room(ciphertext, width)
    slots = context.parameters.slots
    mask = Mask(secrets.token_bytes(MASK_KEY_BYTES), width, scale, slots)
    zero = public.encrypt_zero(level, scale)
    total = result_of(context.evaluator.add, ciphertext.seal, zero.seal)
    for part in mask.parts:
        total = _plus(context, total, context.encode(part, level, scale))
    return Ciphertext(context, ciphertext.key, total), mask


def encrypt_again(secret: SecretKey, masked: Ciphertext, level: int = 0) -> Ciphertext:
    """The key holder's part: the same numbers at a level that has more levels below it."""
    context, scale = secret.context, masked.scale
    masked.check_key(secret.fingerprint)
    high = secret.decrypt_complex(masked)
    rest = _plus(context, masked.seal, context.encode(-high, masked.level, scale))
    low = secret.decrypt_complex(Ciphertext(context, masked.key, rest))
    fresh = secret.encrypt(high, level, scale)
    total = _plus(context, fresh.seal, context.encode(low, level, scale))
    return Ciphertext(context, secret.fingerprint, total)


def take_mask_off(ciphertext: Ciphertext, mask: Mask) -> Ciphertext:
    """The server's end: what was hidden, at the level that the key holder chose."""
    if ciphertext.scale != mask.scale:
        raise CryptoError(
            "this ciphertext has another scale than the one that was masked: the key holder "
            "answered to something else; mask again"
        )
    context, total = ciphertext.context, ciphertext.seal
    for part in mask.parts:
        total = _plus(context, total, context.encode(-part, ciphertext.level, mask.scale))
    return Ciphertext(context, ciphertext.key, total)


def _check_room(ciphertext: Ciphertext, width: float) -> None:
    parameters = ciphertext.parameters
    left = parameters.primes[: ciphertext.levels_left + 1]
    # One bit for the sign, one for the diagonal of the complex square, one to spare.
    needed = math.log2(width) + math.log2(ciphertext.scale) + 3
    if needed > sum(math.log2(prime) for prime in left):
        raise LevelsExhaustedError(
            f"a mask of this size needs a modulus of {needed:.0f} bits and level "
            f"{ciphertext.level} of {parameters.levels} has less: mask one level earlier"
        )


def _plus(context: Context, a: SealCiphertext, plain: SealPlaintext) -> SealCiphertext:
    return result_of(context.evaluator.add_plain, a, plain)


def _uniform(stream: bytes, width: float) -> Slots:
    """Real and imaginary parts between -width and width, from random bytes."""
    words = np.frombuffer(stream, dtype="<i8") >> 11
    parts = width * (words + 0.5) * 2.0**-52
    count = len(parts) // 2
    return np.asarray(parts[:count] + 1j * parts[count:], dtype=np.complex128)
