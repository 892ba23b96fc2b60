"""Both servers and the dealer in one process: to try a circuit out, and for tests."""

import secrets
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from lotor.crypto.sharing.circuits import Circuit, joined, to_message
from lotor.crypto.sharing.engine import Engine, ServerEngine
from lotor.crypto.sharing.pads import PadCipher, Pads
from lotor.crypto.sharing.recipe import Recipe
from lotor.crypto.sharing.shares import Shared
from lotor.crypto.sharing.words import Bits, Words

T = TypeVar("T")


def split(x: Words) -> tuple[Words, Words]:
    """Two shares of a value, each of them random."""
    mask = np.frombuffer(secrets.token_bytes(x.nbytes), np.uint64).reshape(x.shape)
    return mask, x - mask


def run_locally(circuit: Callable[..., Circuit[T]], *inputs: tuple[Words, Words]) -> tuple[T, T]:
    """What each server ends with, from both servers' shares of the inputs.

    >>> from lotor.crypto.sharing import argmax
    >>> one_hots = run_locally(argmax, split(np.array([3, 9, 4], np.uint64)))
    >>> (one_hots[0].share ^ one_hots[1].share).tolist()
    [0, 1, 0]
    """

    def of(server: int) -> Callable[[Engine], Circuit[T]]:
        shares = [Shared(pair[server], first=server == 0) for pair in inputs]
        return lambda engine: circuit(engine, *shares)

    return run_both(of(0), of(1))


def run_both(
    first: Callable[[Engine], Circuit[T]],
    second: Callable[[Engine], Circuit[T]],
    given: Sequence[Bits] = (),
) -> tuple[T, T]:
    """The same for what each server runs, which must ask for the same; the dealer has `given`."""
    return LocalRun(first, second, given)()


class LocalRun(Generic[T]):
    """A circuit that is traced once and may run many times, each time with pads of its own."""

    def __init__(
        self,
        first: Callable[[Engine], Circuit[T]],
        second: Callable[[Engine], Circuit[T]],
        given: Sequence[Bits] = (),
    ) -> None:
        self.recipe = Recipe.of(second)
        self._first, self._second, self._given = first, second, given
        self._ciphers = [PadCipher(secrets.token_bytes(32)) for _ in range(2)]
        self._runs = 0

    def __call__(self) -> tuple[T, T]:
        """Deal, and let both servers compute."""
        corrections = self.recipe.deal(self._pads(0), self._pads(1), given=self._given)
        engines = ServerEngine(self._pads(0)), ServerEngine(self._pads(1), corrections)
        self._runs += 1
        circuits = [self._first(engines[0]), self._second(engines[1])]
        results: list[T] = []
        opened: list[object] = [None, None]
        while True:
            asked = []
            for steps, values in zip(circuits, opened, strict=True):
                try:
                    asked.append(steps.send(values))  # type: ignore[arg-type]
                except StopIteration as end:
                    results.append(end.value)
            if results:
                ours, theirs = results
                return ours, theirs
            messages = [to_message(opening) for opening in asked]
            opened = [
                joined(opening, message, "the other server")
                for opening, message in zip(asked, reversed(messages), strict=True)
            ]

    def _pads(self, server: int) -> Pads:
        size = self.recipe.pad_bytes(first=server == 0)
        return Pads(self._ciphers[server], size, t=self._runs, attempt=0, circuit=0)
