"""The attacks on every protocol: each finds what it looks for, and nothing where it is not."""

from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from lotor.auditing import distinguishing
from lotor.auditing.generic import (
    EVERYWHERE,
    AllBits,
    MessageLengths,
    MessageOrder,
    RepeatedBlocks,
    StrongestBit,
)
from lotor.core.effects import Message
from lotor.core.views import Exchange, Passing, Truth, View
from lotor.protocols.attack import NOT_TRIED, Distinguisher, Score

ROUNDS, PAIRS = 40, 24
TRUTH = Truth([], [], None)
RANDOM = {"bytes": np.random.default_rng(0)}


@pytest.fixture(autouse=True)
def _the_same_bytes_each_time() -> None:
    RANDOM["bytes"] = np.random.default_rng(0)


def urandom(count: int) -> bytes:
    return RANDOM["bytes"].bytes(count)


class Letter(Message, frozen=True, tag="test/letter"):
    place: int
    content: bytes


class Parcel(Message, frozen=True, tag="test/parcel"):
    parts: list[bytes]


def seen(messages: list[tuple[str, Message]], seat: str = "reader") -> View:
    """The view of a party that gets these messages from these senders."""
    exchanges = [
        Exchange(sender, seat, message, msgspec.msgpack.encode(message))
        for sender, message in messages
    ]
    passed = [Passing(one.sender, one.to, len(one.payload), 0.0) for one in exchanges]
    return View((seat,), b"", passed, exchanges)


def letters(content: Callable[[int], bytes], sender: Callable[[int], str] = lambda t: "a") -> View:
    return seen([(sender(t), Letter(t, content(t))) for t in range(ROUNDS)])


def told(attack: Distinguisher, one: Callable[[], View], other: Callable[[], View]) -> Score:
    features = [[attack.features(view()) for _ in range(PAIRS)] for view in (one, other)]
    return distinguishing.score(*features, joint=attack.joint)


def clean() -> View:
    return letters(lambda t: urandom(32))


def is_shown(score: Score) -> bool:
    return score.right == score.of == 16


def is_at_chance(score: Score) -> bool:
    return 2 <= score.right <= 14


def test_a_clean_view_is_at_chance_for_all() -> None:
    for attack in EVERYWHERE:
        if isinstance(attack, Distinguisher):
            assert is_at_chance(told(attack, clean, clean)), attack.name
        else:
            assert attack.score(clean(), TRUTH).right == 0


def test_a_length_that_depends_on_data() -> None:
    longer = lambda: letters(lambda t: urandom(32 + (t == 7)))  # noqa: E731
    assert is_shown(told(MessageLengths(), clean, longer))


def test_an_order_that_depends_on_data() -> None:
    by_turns = lambda: letters(lambda t: urandom(32), lambda t: "ab"[t % 2])  # noqa: E731
    in_blocks = lambda: letters(lambda t: urandom(32), lambda t: "ab"[t < 20])  # noqa: E731
    assert is_shown(told(MessageOrder(), by_turns, in_blocks))
    assert is_at_chance(told(MessageOrder(), by_turns, by_turns))


def test_a_bit_that_depends_on_data() -> None:
    def fixed(bit: int) -> Callable[[], View]:
        return lambda: letters(lambda t: urandom(31) + bytes([urandom(1)[0] & 0xFE | bit]))

    for attack in (StrongestBit(), AllBits()):
        assert is_shown(told(attack, fixed(0), fixed(1)))


def test_two_shares_of_one_value_in_one_view() -> None:
    """Each is uniform; only their difference tells."""

    def shared(value: int) -> Callable[[], View]:
        def view() -> View:
            messages: list[tuple[str, Message]] = []
            for t in range(ROUNDS):
                pad = urandom(32)
                messages.append(("a", Letter(t, pad)))
                messages.append(("b", Letter(t, pad[:-1] + bytes([pad[-1] ^ value]))))
            return seen(messages)

        return view

    assert is_shown(told(StrongestBit(), shared(0), shared(1)))


def test_one_pad_for_two_rounds() -> None:
    def padded(value: int) -> Callable[[], View]:
        def view() -> View:
            pad = urandom(32)
            return letters(lambda t: pad[:-1] + bytes([pad[-1] ^ (value * (t % 2))]))

        return view

    assert is_shown(told(StrongestBit(), padded(0), padded(1)))


def test_repeated_blocks() -> None:
    assert RepeatedBlocks().score(clean(), TRUTH) == Score(0, 2 * ROUNDS, 0.0)
    blocks = [urandom(16), urandom(16)]
    found = RepeatedBlocks().score(letters(lambda t: urandom(16) + blocks[t == 5]), TRUTH)
    assert found == Score(ROUNDS - 2, 2 * ROUNDS, 0.0)


def test_blocks_of_the_format_and_of_the_set_up_are_none() -> None:
    header = urandom(16)
    assert RepeatedBlocks().score(letters(lambda t: header + urandom(16)), TRUTH).right == 0
    few: list[tuple[str, Message]] = [("a", Letter(1, header)), ("b", Letter(1, header))]
    assert RepeatedBlocks().score(seen(few), TRUTH) == NOT_TRIED


def test_blocks_in_lists() -> None:
    once = urandom(16)
    parts = [[urandom(16), once if t % 2 else urandom(16)] for t in range(10)]
    view = seen([("a", Parcel(one)) for one in parts])
    assert RepeatedBlocks().score(view, TRUTH) == Score(4, 20, 0.0)


def test_long_messages_are_sampled() -> None:
    frequencies, changes = AllBits().features(letters(lambda t: urandom(5000))).values()
    assert len(frequencies) == len(changes) == 8 * 2048
