"""Chou and Orlandi's base transfers."""

import hashlib
from functools import cache

import gmpy2
import numpy as np
import pytest

from lotor.core.errors import CryptoError, FormatError
from lotor.crypto.ot import ANSWER_BYTES, OFFER_BYTES, BaseReceiver, BaseSender, Delta
from lotor.crypto.ot.group import ELEMENT_BYTES, EXPONENT_BITS, PRIME

SENDER, RECEIVER = bytes(range(32)), bytes(range(32, 64))
CHOICES = Delta.derive(bytes(32), "run").bits


@cache
def transcript(run: str = "run") -> tuple[bytes, bytes, bytes, bytes]:
    """Offer, answer, chosen seeds and pairs."""
    sender = BaseSender(SENDER, run)
    answer, seeds = BaseReceiver(RECEIVER, run, CHOICES).answer(sender.offer())
    return sender.offer(), answer, seeds, sender.pairs(answer)


def halves(pairs: bytes) -> list[tuple[bytes, bytes]]:
    return [(pairs[i : i + 16], pairs[i + 16 : i + 32]) for i in range(0, len(pairs), 32)]


def test_the_chosen_seed_agrees_and_the_other_differs() -> None:
    _, _, seeds, pairs = transcript()
    for n, (choice, pair) in enumerate(zip(CHOICES.tolist(), halves(pairs), strict=True)):
        mine = seeds[16 * n : 16 * n + 16]
        assert pair[choice] == mine
        assert pair[1 - choice] != mine
    assert len({seed for pair in halves(pairs) for seed in pair}) == 256


def test_sizes() -> None:
    offer, answer, seeds, pairs = transcript()
    assert (len(offer), len(answer)) == (OFFER_BYTES, ANSWER_BYTES) == (384, 128 * 384)
    assert (len(seeds), len(pairs)) == (2048, 4096)


def test_known_answer() -> None:
    """Recorded from the first version: other bytes would make peers disagree."""
    digests = [hashlib.sha256(part).hexdigest()[:16] for part in transcript()]
    assert digests == KNOWN


KNOWN = ["7160f28a72fd153e", "205e8c759856bf3b", "d1f2fee3e4c946f3", "a81c708a1d27b873"]


def test_the_construction_as_published() -> None:
    """R is g^b or A g^b for a b whose A^b the receiver hashes; the sender has R^a and (R/A)^a."""
    offer, answer, seeds, _ = transcript()
    sender = BaseSender(SENDER, "run")
    a = int.from_bytes(sender._exponent, "little")
    point = int.from_bytes(offer)
    assert gmpy2.powmod(2, a, PRIME) == point
    assert 2 ** (EXPONENT_BITS - 40) < a < 2**EXPONENT_BITS
    context = hashlib.sha256(b"lotor/1 base OT\0\0\0\x03run" + offer + answer).digest()
    for n in (0, 1, 127):
        r = int.from_bytes(answer[n * ELEMENT_BYTES : (n + 1) * ELEMENT_BYTES])
        chosen = r if CHOICES[n] == 0 else r * gmpy2.invert(point, PRIME) % PRIME
        shared = int(gmpy2.powmod(chosen, a, PRIME)).to_bytes(ELEMENT_BYTES)
        seed = hashlib.sha256(context + n.to_bytes(2) + shared).digest()[:16]
        assert seeds[16 * n : 16 * n + 16] == seed


def test_a_restarted_party_sends_the_same_bytes() -> None:
    offer, answer, seeds, pairs = transcript()
    assert BaseSender(SENDER, "run").offer() == offer
    assert BaseReceiver(RECEIVER, "run", CHOICES).answer(offer) == (answer, seeds)
    assert BaseSender(SENDER, "run").pairs(answer) == pairs


def test_another_run_or_other_choices_have_nothing_in_common() -> None:
    offer, answer, seeds, _ = transcript()
    assert BaseSender(SENDER, "run 2").offer() != offer
    elsewhere, other_seeds = BaseReceiver(RECEIVER, "run 2", CHOICES).answer(offer)
    flipped = CHOICES.copy()
    flipped[5] ^= 1
    changed, _ = BaseReceiver(RECEIVER, "run", flipped).answer(offer)
    parts = [
        {each[i : i + ELEMENT_BYTES] for i in range(0, ANSWER_BYTES, ELEMENT_BYTES)}
        for each in (answer, elsewhere, changed)
    ]
    assert len(set.union(*parts)) == 3 * 128
    assert other_seeds != seeds


def test_the_group() -> None:
    assert PRIME.bit_length() == 3072
    assert gmpy2.is_prime(PRIME, 5)
    assert gmpy2.is_prime((PRIME - 1) // 2, 5)
    assert gmpy2.jacobi(2, PRIME) == 1


@pytest.mark.parametrize("bad", [0, 1, PRIME - 1, PRIME, PRIME + 4, 2**3072 - 1, PRIME - 4])
def test_elements_outside_the_group_are_refused(bad: int) -> None:
    """PRIME - 4 is within range, but no square."""
    _, answer, _, _ = transcript()
    element = int(bad).to_bytes(ELEMENT_BYTES)
    with pytest.raises(FormatError, match="element 0 of the sender's offer is not in the group"):
        BaseReceiver(RECEIVER, "run", CHOICES).answer(element)
    altered = answer[: 7 * ELEMENT_BYTES] + element + answer[8 * ELEMENT_BYTES :]
    with pytest.raises(FormatError, match="element 7 of the receiver's answer is not in the group"):
        BaseSender(SENDER, "run").pairs(altered)


@pytest.mark.parametrize("change", [-1, 1, -ELEMENT_BYTES])
def test_messages_of_another_length_are_refused(change: int) -> None:
    offer, answer, _, _ = transcript()
    with pytest.raises(FormatError, match=r"offer has .* bytes, not 384"):
        BaseReceiver(RECEIVER, "run", CHOICES).answer((offer + bytes(1))[: len(offer) + change])
    with pytest.raises(FormatError, match=r"answer has .* bytes, not 49152"):
        BaseSender(SENDER, "run").pairs((answer + bytes(1))[: len(answer) + change])


def test_an_altered_answer_gives_other_seeds_everywhere() -> None:
    """The whole transcript is hashed."""
    _, answer, seeds, _ = transcript()
    other = (4).to_bytes(ELEMENT_BYTES) + answer[ELEMENT_BYTES:]
    pairs = BaseSender(SENDER, "run").pairs(other)
    held = {seeds[i : i + 16] for i in range(0, len(seeds), 16)}
    assert held.isdisjoint({seed for pair in halves(pairs) for seed in pair})


def test_bad_arguments() -> None:
    with pytest.raises(CryptoError, match="32 bytes, not 31"):
        BaseSender(bytes(31), "run")
    for choices in (np.zeros(127, np.uint8), np.full(128, 2, np.uint8)):
        with pytest.raises(CryptoError, match="128 bits"):
            BaseReceiver(RECEIVER, "run", choices)


def test_reprs_tell_nothing() -> None:
    assert repr(BaseSender(SENDER, "run")) == "<BaseSender>"
    assert repr(BaseReceiver(RECEIVER, "run", CHOICES)) == "<BaseReceiver>"
