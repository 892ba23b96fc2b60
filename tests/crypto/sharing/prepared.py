"""Two servers without a dealer, in one process: they make for each other what circuits ask for."""

import secrets
from collections.abc import Callable, Sequence
from typing import TypeVar

from lotor.crypto.garbling import HashKeys
from lotor.crypto.ot import Delta, VectorChooser, VectorSender
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    PadCipher,
    Pads,
    PreparedEngine,
    Recipe,
    Supply,
    Values,
    Words,
    joined,
    to_message,
)

T = TypeVar("T")


class Direction:
    """Transfers in which one server chooses and the other offers."""

    def __init__(self, epoch: int) -> None:
        self.delta = Delta.derive(secrets.token_bytes(32), "run")
        pairs, public = secrets.token_bytes(4096), secrets.token_bytes(32)
        seeds = b"".join(
            pairs[32 * n + 16 * bit :][:16] for n, bit in enumerate(self.delta.bits.tolist())
        )
        self.chooser = VectorChooser(pairs, HashKeys(public), epoch=epoch)
        self.sender = VectorSender(seeds, self.delta, HashKeys(public), epoch=epoch)


class Pair:
    """Both servers; the second one evaluates, unless said otherwise."""

    def __init__(self) -> None:
        self._directions = [Direction(0), Direction(1)]
        self._ciphers = [PadCipher(secrets.token_bytes(32)) for _ in range(2)]
        self._batches = 0

    def engines(
        self, recipe: Recipe, steps: int, evaluator: int = 1
    ) -> list[tuple[Engine, Engine]]:
        """For each step what both servers compute with."""
        supply = Supply(recipe)
        place = self._batches
        values = [supply.drawn(self._pads(recipe, p, place, steps)) for p in (0, 1)]
        shares = self.shares(supply, values, evaluator)
        pads = [self._pads(recipe, p, place, steps) for p in (0, 1)]
        return [
            (
                PreparedEngine(pads[0][n], [each[n] for each in shares[0]], first=True),
                PreparedEngine(pads[1][n], [each[n] for each in shares[1]], first=False),
            )
            for n in range(steps)
        ]

    def shares(
        self, supply: Supply, values: Sequence[Values], evaluator: int = 1
    ) -> list[list[Words]]:
        """Of both servers, for the masks that they have drawn for some steps."""
        self._batches += 1
        steps = len(values[0][0])
        chosen: list[list[Words]] = [[], []]
        offered: list[list[Words]] = [[], []]
        for chooser, direction in enumerate(self._directions):
            evaluates = chooser == evaluator
            other = 1 - chooser
            bits = supply.choices(values[chooser], evaluator=evaluates)
            assert len(bits) == supply.rows(steps, evaluator=evaluates)
            if not len(bits):
                continue
            transfers = supply.transfers(steps, 0, evaluator=evaluates)
            columns, kept = direction.chooser.choose(self._batches, bits)
            rows = direction.sender.rows(self._batches, columns, len(bits))
            vectors = supply.vectors(values[other], evaluator=evaluates)
            message, offered[other] = direction.sender.send(rows, transfers, vectors)
            chosen[chooser] = direction.chooser.receive(kept, transfers, message)
        return [
            supply.shares(values[p], chosen[p], offered[p], evaluator=p == evaluator)
            for p in (0, 1)
        ]

    def run(
        self,
        first: Callable[[Engine], Circuit[T]],
        second: Callable[[Engine], Circuit[T]],
        evaluator: int = 1,
    ) -> tuple[T, T]:
        """What each server ends with."""
        ((one, other),) = self.engines(Recipe.of(second), 1, evaluator)
        return run_both(first(one), second(other))

    def _pads(self, recipe: Recipe, server: int, place: int, steps: int) -> list[Pads]:
        size = recipe.uniform_bytes
        first = place << 16
        return [
            Pads(self._ciphers[server], size, t=first + n, attempt=0, circuit=0)
            for n in range(steps)
        ]


def run_both(first: Circuit[T], second: Circuit[T]) -> tuple[T, T]:
    """Both circuits, side by side."""
    circuits, opened = (first, second), [None, None]
    while True:
        asked, results = [], []
        for circuit, values in zip(circuits, opened, strict=True):
            try:
                asked.append(circuit.send(values))  # type: ignore[arg-type]
            except StopIteration as end:
                results.append(end.value)
        if results:
            ours, theirs = results
            return ours, theirs
        messages = [to_message(opening) for opening in asked]
        opened = [
            joined(opening, message, "the other server")  # type: ignore[misc]
            for opening, message in zip(asked, reversed(messages), strict=True)
        ]


def at_both(
    circuit: Callable[..., Circuit[T]], shares: Sequence[tuple[object, object]]
) -> tuple[Callable[[Engine], Circuit[T]], Callable[[Engine], Circuit[T]]]:
    """The circuit of each server, on its parts of the inputs."""
    return (
        lambda engine: circuit(engine, *(pair[0] for pair in shares)),
        lambda engine: circuit(engine, *(pair[1] for pair in shares)),
    )
