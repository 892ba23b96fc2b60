"""The attacks that are tried on every view of every protocol."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lotor.core.effects import Message
from lotor.core.fixed_point import Floats
from lotor.core.views import Exchange, View
from lotor.protocols.attack import NOT_TRIED, Attack, Distinguisher, Features, Score

_MOST_BYTES = 2048
_MOST_PAIRS = 6
_BLOCK = 16
# Kinds of messages that come less often belong to the set-up: public, or before there is any data.
_OFTEN = 5


class MessageLengths(Distinguisher):
    """How many messages pass on each link, how long they are, and how much lengths vary."""

    name: ClassVar[str] = "lengths of messages"
    secret: ClassVar[str] = "lengths"

    def features(self, view: View) -> Features:
        sizes: defaultdict[str, list[int]] = defaultdict(list)
        for passing in view.passed:
            sizes[f"{passing.sender} to {passing.to}"].append(passing.size)
        return {
            link: np.array([len(found), np.mean(found), np.std(found), max(found), min(found)])
            for link, found in sizes.items()
        }


class MessageOrder(Distinguisher):
    """Which link is used after which."""

    name: ClassVar[str] = "order of messages"
    secret: ClassVar[str] = "order"

    def features(self, view: View) -> Features:
        links = [(one.sender, one.to) for one in view.passed]
        follows = Counter(pairwise(links))
        return {f"{pair}": np.array([float(count)]) for pair, count in follows.items()}


class AllBits(Distinguisher):
    """How often each bit of each kind of message is 1, and changes from message to message.

    Of kinds that look alike, such as shares or scores from several senders, also how often the bits
    of two differ, and the byte of one is larger.
    """

    name: ClassVar[str] = "all bits together"
    secret: ClassVar[str] = "bytes"

    def features(self, view: View) -> Features:
        channels = {name: seen for name, seen in _received(view).items() if len(seen) >= _OFTEN}
        tables = {name: _table(seen) for name, seen in channels.items()}
        found = {name: _frequencies(table) for name, table in tables.items()}
        for name, table in tables.items():
            found[f"{name}, changes"] = _frequencies(table[1:] ^ table[:-1])
        alike = [
            (one, other)
            for one, other in combinations(tables, 2)
            if tables[one].shape == tables[other].shape
        ]
        for one, other in alike[:_MOST_PAIRS]:
            a, b = tables[one], tables[other]
            found[f"{one} and {other}"] = _frequencies(a ^ b)
            found[f"{one} above {other}"] = _standardised(a > b)
        return found


class StrongestBit(AllBits):
    """The one of these bits that tells most in the runs that are learned from."""

    name: ClassVar[str] = "the most telling bit"
    joint: ClassVar[bool] = False


class RepeatedBlocks(Attack):
    """Finds blocks of 16 bytes that were received before: fresh encryption never repeats any.

    Blocks that are the same in all messages of a kind are part of the format.
    """

    name: ClassVar[str] = "repeated blocks"
    secret: ClassVar[str] = "repeats"

    def score(self, view: View, truth: object) -> Score:  # noqa: ARG002
        blocks = [
            block for found in _blocks(view).values() if len(set(found)) > 1 for block in found
        ]
        return Score(len(blocks) - len(set(blocks)), len(blocks), 0.0) if blocks else NOT_TRIED


EVERYWHERE: tuple[Attack | Distinguisher, ...] = (
    RepeatedBlocks(),
    MessageLengths(),
    MessageOrder(),
    StrongestBit(),
    AllBits(),
)


def _received(view: View) -> Mapping[str, list[Exchange]]:
    """What its parties received, by sender and kind."""
    channels: defaultdict[str, list[Exchange]] = defaultdict(list)
    for seen in view.exchanges:
        if seen.to in view.seats:
            channels[f"{seen.sender} {type(seen.message).__name__}"].append(seen)
    return channels


def _table(seen: Sequence[Exchange]) -> NDArray[np.uint8]:
    """One row for each message, padded; of long messages, bytes at even distances."""
    width = max(len(one.payload) for one in seen)
    whole = b"".join(one.payload.ljust(width, b"\0") for one in seen)
    table = np.frombuffer(whole, dtype=np.uint8).reshape(len(seen), width)
    if width > _MOST_BYTES:
        table = table[:, np.linspace(0, width - 1, _MOST_BYTES).astype(int)]
    return table


def _frequencies(table: NDArray[np.uint8]) -> Floats:
    return _standardised(np.unpackbits(table, axis=1))


def _standardised(bits: NDArray[np.uint8] | NDArray[np.bool_]) -> Floats:
    """How often each is 1, so that chance moves it by as much for many messages as for few."""
    shares: Floats = bits.mean(axis=0) * np.sqrt(len(bits))
    return shares


def _blocks(view: View) -> Mapping[tuple[str, str, int], list[bytes]]:
    """The blocks of each field of each kind of message that comes often, by their places."""
    blocks: defaultdict[tuple[str, str, int], list[bytes]] = defaultdict(list)
    for channel, seen in _received(view).items():
        if len(seen) >= _OFTEN:
            for one in seen:
                for field, value in _byte_fields(one.message):
                    for start in range(0, len(value) - _BLOCK + 1, _BLOCK):
                        block = value[start : start + _BLOCK]
                        blocks[channel, field, start].append(block)
    return blocks


def _byte_fields(message: Message) -> Iterator[tuple[str, bytes]]:
    for name in message.__struct_fields__:
        value = getattr(message, name)
        if isinstance(value, bytes):
            yield name, value
        elif isinstance(value, list):
            yield from ((f"{name} {i}", one) for i, one in enumerate(value) if type(one) is bytes)
