"""128 base oblivious transfers, once a run: Chou and Orlandi's (2015) in ffdhe3072.

The sender offers A = g^a. For each choice bit c the receiver answers R = A^c g^b, which looks the
same for both, and knows A^b. The sender derives one seed from R^a and the other from (R/A)^a; the
receiver knows the one that it chose.

Against parties that are curious and follow the protocol: the sender learns no choice, if powers to
short exponents look like any others; the receiver learns no other seed, if the computational
Diffie-Hellman problem is hard in the group and SHA-256 behaves like a random function. The run, the
whole transcript and the transfer's number are hashed. The exponents are derived from keys that
parties keep, so that a restarted party sends the same bytes.
"""

import hashlib
from collections.abc import Iterator

import gmpy2
import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import CryptoError
from lotor.crypto.derivation import derive_key
from lotor.crypto.ot.group import (
    ELEMENT_BYTES,
    EXPONENT_BITS,
    PRIME,
    from_bytes,
    generator,
    powers,
    to_bytes,
)
from lotor.crypto.prf import KEY_BYTES

TRANSFERS = 128
SEED_BYTES = 16
OFFER_BYTES = ELEMENT_BYTES
ANSWER_BYTES = TRANSFERS * ELEMENT_BYTES
_EXPONENT_BYTES = -(-EXPONENT_BITS // 8)
_SURPLUS_BITS = 8 * _EXPONENT_BYTES - EXPONENT_BITS


class BaseSender:
    """Offers first, and gets 128 pairs of seeds.

    >>> delta = np.arange(128, dtype=np.uint8) % 2
    >>> sender = BaseSender(bytes(32), "run 1")
    >>> receiver = BaseReceiver(bytes(31) + b"1", "run 1", delta)
    >>> answer, seeds = receiver.answer(sender.offer())
    >>> pairs = sender.pairs(answer)
    >>> seeds[:16] == pairs[:16], seeds[16:32] == pairs[48:64]
    (True, True)
    """

    __slots__ = ("_exponent", "_offer", "_run")

    def __init__(self, key: bytes, run: str) -> None:
        self._run = run
        (self._exponent,) = _exponents(key, f"base OT sender {run}", 1)
        self._offer = generator(TRANSFERS).power(self._exponent)

    def __repr__(self) -> str:
        return "<BaseSender>"

    def offer(self) -> bytes:
        """The first message, 384 bytes."""
        return to_bytes([self._offer])

    def pairs(self, answer: bytes) -> bytes:
        """The two seeds of each transfer, 128 times 16 + 16 bytes, from the receiver's answer."""
        points = from_bytes(answer, TRANSFERS, "the receiver's answer")
        exponent = int.from_bytes(self._exponent, "little")
        shared = gmpy2.powmod_base_list(points, exponent, PRIME)
        unchosen = gmpy2.powmod(self._offer, -exponent, PRIME)
        both = [each for point in shared for each in (point, point * unchosen % PRIME)]
        numbers = (n for n in range(TRANSFERS) for _ in range(2))
        context = _context(self._run, self.offer(), answer)
        return b"".join(_seed(context, n, point) for n, point in zip(numbers, both, strict=True))


class BaseReceiver:
    """Chooses one seed of each pair: the first where its bit is 0, the second where it is 1."""

    __slots__ = ("_choices", "_exponents", "_run")

    def __init__(self, key: bytes, run: str, choices: NDArray[np.uint8]) -> None:
        if choices.shape != (TRANSFERS,) or (choices > 1).any():
            raise CryptoError(f"the choices of base transfers are {TRANSFERS} bits, 0 or 1 each")
        self._run = run
        self._choices = choices.tolist()
        # Other choices take other exponents: two answers under the same ones would tell their XOR.
        chosen = hashlib.sha256(np.packbits(choices).tobytes()).hexdigest()
        purpose = f"base OT receiver {chosen} {run}"
        self._exponents = list(_exponents(key, purpose, TRANSFERS))

    def __repr__(self) -> str:
        return "<BaseReceiver>"

    def answer(self, offer: bytes) -> tuple[bytes, bytes]:
        """The second message, 128 times 384 bytes, and the chosen seeds, 128 times 16 bytes."""
        (point,) = from_bytes(offer, 1, "the sender's offer")
        raised, offered = generator(TRANSFERS), powers(point, TRANSFERS)
        points = [raised.power(b) for b in self._exponents]
        sent = [
            each * point % PRIME if choice else each
            for each, choice in zip(points, self._choices, strict=True)
        ]
        answer = to_bytes(sent)
        context = _context(self._run, offer, answer)
        seeds = (_seed(context, n, offered.power(b)) for n, b in enumerate(self._exponents))
        return answer, b"".join(seeds)


def _exponents(key: bytes, purpose: str, count: int) -> Iterator[bytes]:
    if len(key) != KEY_BYTES:
        raise CryptoError(f"base transfers need a key of {KEY_BYTES} bytes, not {len(key)}")
    stream = hashlib.shake_256(derive_key(key, purpose)).digest(count * _EXPONENT_BYTES)
    for start in range(0, len(stream), _EXPONENT_BYTES):
        number = int.from_bytes(stream[start : start + _EXPONENT_BYTES])
        yield (number >> _SURPLUS_BITS).to_bytes(_EXPONENT_BYTES, "little")


def _context(run: str, offer: bytes, answer: bytes) -> bytes:
    name = run.encode()
    return hashlib.sha256(
        b"lotor/1 base OT" + len(name).to_bytes(4) + name + offer + answer
    ).digest()


def _seed(context: bytes, number: int, shared: gmpy2.mpz) -> bytes:
    data = context + number.to_bytes(2) + int(shared).to_bytes(ELEMENT_BYTES)
    return hashlib.sha256(data).digest()[:SEED_BYTES]
