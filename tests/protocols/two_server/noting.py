"""Notes which pads are drawn, by whom, and how often."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from lotor.crypto.sharing import PadCipher, Pads, pads
from lotor.protocols.two_server import dealer, masks, outside, server

Place = tuple[bytes, int, int, int]
"""A key, and the step, attempt and circuit that it is used for."""


@dataclass
class NotedPads:
    """How often each pad was drawn: by servers for circuits, by the dealer, and for inputs and
    results; and how each begins."""

    used: dict[str, Counter[Place]] = field(default_factory=dict)
    streams: dict[Place, set[bytes]] = field(default_factory=dict)

    def kind(self, holder: str) -> type[Pads]:
        used, streams = self.used.setdefault(holder, Counter()), self.streams

        class Noted(Pads):
            def __init__(
                self, cipher: PadCipher, size: int, *, t: int, attempt: int, circuit: int
            ) -> None:
                super().__init__(cipher, size, t=t, attempt=attempt, circuit=circuit)
                assert isinstance(cipher, Known)
                place = cipher.key, t, attempt, circuit
                used[place] += 1
                streams.setdefault(place, set()).add(self._stream[:8])

        return Noted

    def check_unequal(self) -> None:
        """No two pads begin alike, and one that is drawn again is the same."""
        assert all(len(found) == 1 for found in self.streams.values())
        assert len(set.union(*self.streams.values())) == len(self.streams)


class Known(PadCipher):
    """A cipher that tells its key."""

    def __init__(self, key: bytes) -> None:
        super().__init__(key)
        self.key = key


@contextmanager
def noted_pads() -> Iterator[NotedPads]:
    noted = NotedPads()
    with pytest.MonkeyPatch.context() as patch:
        for name, module in (("server", server), ("dealer", dealer), ("outside", masks)):
            patch.setattr(module, "Pads", noted.kind(name))
        for module in (pads, dealer, outside):
            patch.setattr(module, "PadCipher", Known)
        yield noted
