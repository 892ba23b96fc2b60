"""BFV: shares of U·b for a random matrix U at one party and a fixed vector b at the other, on SEAL.

    >>> import secrets
    >>> import numpy as np
    >>> key = ProductKey.generate()
    >>> b = np.array([3, 2**59 - 1], dtype=np.uint64)
    >>> maker = ProductMaker(key.public, key.encrypted(b))
    >>> words = np.frombuffer(secrets.token_bytes(3 * 8 * SLOTS), dtype=np.uint64).reshape(3, SLOTS)
    >>> u, v = words[:2] >> 5, words[2] >> 5
    >>> y = key.read(maker.message(u, v))
    >>> bool((y == (3 * u[0] - u[1] + v) % 2**MODULUS_BITS).all())
    True

The holder of b has the `ProductKey` and reads Y = U·b + V mod 2^59, the maker keeps V: together
they have shares of U·b, 8192 products in one message, ahead of the time when they are needed. One
modulus, 2^59, serves because b_j is a constant polynomial, so that products are taken coefficient
by coefficient and nothing is encoded.

The maker learns nothing about b (BFV, 128-bit security). The holder learns nothing but Y: a fresh
encryption under the public key hides U in the message's second polynomial, and flooding, about 2^65
times as large as the noise that tells about U, hides it in the first; `statistical_distance` says
how well. Both are always added.

What is not protected: the holder must have made its public key and its encryptions honestly; U and
V must be uniform and serve once, also after a crash; whoever can alter messages changes products,
so authenticate the channel; running times are not constant.

Reference: J. Fan and F. Vercauteren, Somewhat practical fully homomorphic encryption, IACR ePrint
2012/144; C. Gentry, A fully homomorphic encryption scheme, 2009, for circuit privacy by flooding.
"""

from lotor.crypto.bfv.context import MODULUS_BITS, SLOTS
from lotor.crypto.bfv.noise import FLOOD_BITS, noise_bound, statistical_distance
from lotor.crypto.bfv.products import MESSAGE_BYTES, NUMBER_BYTES, ProductKey, ProductMaker

__all__ = [
    "FLOOD_BITS",
    "MESSAGE_BYTES",
    "MODULUS_BITS",
    "NUMBER_BYTES",
    "SLOTS",
    "ProductKey",
    "ProductMaker",
    "noise_bound",
    "statistical_distance",
]
