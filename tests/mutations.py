"""Hostile inputs, made from honest ones by small and large changes; a seed repeats them."""

import math
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from lotor.core.errors import LotorError

# `HOSTILE_SEED=7 make test` tries other inputs.
SEED = int(os.environ.get("HOSTILE_SEED", "1"))

STRANGE: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 127, 255, 65_536, 2**31, 2**32, 2**53 + 1),
    *(2**63 - 1, 2**63, 2**64 - 1, -(2**63), 0.5, -0.0, 1e308, 5e-324),
    *(math.nan, math.inf, -math.inf, "", "x", "x" * 3_000, "\x00\n\x1b[31m", "samba", "../../etc"),
    *(b"", b"\x00", b"\xff" * 32, bytes(4_000), [], [[]], {}, {"": None}, {"run": "x"}),
)
NESTED = b"\x91" * 3_000 + b"\x00"


@dataclass(frozen=True)
class HostileTarget:
    """Something that reads bytes of others: what honest ones look like, and what reads them."""

    name: str
    samples: Sequence[bytes]
    read: Callable[[bytes], object]


class Mutator:
    """Makes hostile inputs; two with one seed make the same."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def altered(self, samples: Sequence[bytes]) -> bytes:
        """One of the samples, changed in one way or several."""
        dice = self.dice
        data = dice.choice(samples)
        for _ in range(dice.choice((1, 1, 1, 2, 3))):
            change = dice.choice(
                (self._bytes, self._bytes, self._content, self._content, self._cut)
            )
            data = change(data, samples)
        return data

    def _bytes(self, data: bytes, _: Sequence[bytes]) -> bytes:
        """Some bytes, most of them at the beginning, where sizes and kinds are."""
        dice, changed = self.dice, bytearray(data)
        for _place in range(dice.choice((1, 1, 2, 8)) if data else 0):
            most = len(data) if dice.random() < 0.5 else min(len(data), 40)
            changed[dice.randrange(most)] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
        return bytes(changed)

    def _cut(self, data: bytes, samples: Sequence[bytes]) -> bytes:
        """Parts of it, or of several, or much more."""
        dice = self.dice
        start, end = sorted((dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)))
        other = dice.choice(samples)
        return dice.choice(
            (
                lambda: data[:end],
                lambda: data[start:],
                lambda: data[:start] + data[end:],
                lambda: data[:end] + data[start:],
                lambda: data[:start] + other[start:],
                lambda: data + dice.randbytes(dice.randrange(1, 40)),
                lambda: data[:start] + NESTED + data[start:],
                lambda: dice.randbytes(dice.randrange(100)),
            )
        )()

    def _content(self, data: bytes, samples: Sequence[bytes]) -> bytes:
        """Well-formed msgpack with other content; bytes within it may be msgpack again."""
        try:
            content = msgspec.msgpack.decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return self._bytes(data, samples)
        if not isinstance(content, list | dict):
            return self._bytes(data, samples)
        try:
            return msgspec.msgpack.encode(self._replanted(content))
        except (OverflowError, RecursionError):
            return data

    def _replanted(self, node: object) -> object:
        """The same with one place in it changed."""
        dice = self.dice
        if isinstance(node, list) and node and dice.random() < 0.8:
            place = dice.randrange(len(node))
            return [*node[:place], *self._instead(node[place]), *node[place + 1 :]]
        if isinstance(node, dict) and node and dice.random() < 0.8:
            key = dice.choice(list(node))
            rest = {other: value for other, value in node.items() if other != key}
            instead = self._instead(node[key])
            return {**rest, key: instead[0]} if instead else rest
        if isinstance(node, bytes) and len(node) > 1 and dice.random() < 0.7:
            change = dice.choice((self._bytes, self._content, self._cut))
            return change(node, [node])
        if isinstance(node, int) and dice.random() < 0.5:
            return max(-(2**63), min(2**64 - 1, node + dice.choice((-1, 1, 2, 256))))
        return dice.choice(STRANGE)

    def _instead(self, node: object) -> list[object]:
        """What stands where this stood: mostly one thing, at times none, or the same twice."""
        luck = self.dice.random()
        if luck < 0.1:
            return []
        if luck < 0.15:
            return [node, node]
        return [self._replanted(node)]


def attack(target: HostileTarget, count: int, seed: int = SEED) -> int:
    """Feed a target with so many hostile inputs; only errors of ours may come out of it."""
    mutator = Mutator(seed)
    refused = 0
    for number in range(count):
        data = mutator.altered(target.samples)
        try:
            target.read(data)
        except LotorError as error:
            refused += 1
            assert str(error), (target.name, seed, number)  # noqa: PT017
        except Exception as error:
            raise AssertionError(
                f"input {number} of {target.name} with seed {seed} raised {error!r}: "
                f"{data[:200].hex()}{'…' if len(data) > 200 else ''}"
            ) from error
    return refused
