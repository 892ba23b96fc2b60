"""Paillier's additively homomorphic encryption, with g = n + 1.

Whoever holds the public key can encrypt integers, add ciphertexts and multiply them by plain
integers; only the private key decrypts. A message m becomes (1 + m·n)·r^n mod n², with r drawn
from the operating system. Plaintexts are signed, from -(n//2) to n//2; sums and products beyond
wrap around unnoticed, so callers keep theirs within.

    >>> import numpy as np
    >>> key = generate_keypair(2048)
    >>> a, b = key.public.encrypt(20), key.public.encrypt(-6)
    >>> key.decrypt((a + b) * 3)
    42
    >>> received = Ciphertext.from_bytes((a + b).to_bytes(), key.public)
    >>> key.decrypt(received)
    14

A ciphertext leaves only through `to_bytes` and `to_json`, which re-randomise whatever is not
fresh: no two outputs can be linked, and none tells how it was computed. What is not protected:
anybody can turn a ciphertext into another valid one, so authenticate the channel; and running
times are not constant.

Many inner products with one encrypted vector, as a private linear bandit needs them, come several
to a ciphertext, each in a slot of its own:

    >>> theta = [key.public.encrypt(3), key.public.encrypt(-2)]
    >>> packed = PackedDotProducts(theta, count=2, rounds=1)
    >>> message = packed.compute(np.array([[5, 4], [-1, 0]]), c=[100, 100])
    >>> ciphertexts = packed.layout.read(message, key.public)
    >>> packed.layout.unpack(key.decrypt_batch(ciphertexts))
    [107, 97]

`Randomisers` prepare what makes ciphertexts fresh; `crypto.workers` spreads the work over cores.

Reference: P. Paillier, Public-key cryptosystems based on composite degree residuosity classes,
EUROCRYPT 1999; ISO/IEC 18033-6.
"""

from lotor.crypto.key_sizes import SECURE_BITS, check_key_bits
from lotor.crypto.paillier.layout import PackedLayout, unpack
from lotor.crypto.paillier.packed import PackedDotProducts
from lotor.crypto.paillier.powers import FixedBase
from lotor.crypto.paillier.private import PrivateKey, generate_keypair
from lotor.crypto.paillier.public import Ciphertext, InsecureKeyWarning, PublicKey
from lotor.crypto.paillier.randomisers import Randomisers

__all__ = [
    "SECURE_BITS",
    "Ciphertext",
    "FixedBase",
    "InsecureKeyWarning",
    "PackedDotProducts",
    "PackedLayout",
    "PrivateKey",
    "PublicKey",
    "Randomisers",
    "check_key_bits",
    "generate_keypair",
    "unpack",
]
