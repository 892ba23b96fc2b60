"""How two servers without a dealer truncate, choose an arm and take a reciprocal."""

from collections.abc import Callable

import numpy as np

from lotor.core.effects import Steps
from lotor.crypto.sharing import (
    RING,
    Bits,
    Circuit,
    Engine,
    MaskedWords,
    Shared,
    SharedBits,
    Words,
    cut,
    cut_and_mask,
    mask,
    polynomial_reciprocal,
)
from lotor.protocols.dealerless.server import GarbledExchange
from lotor.protocols.ppcb.shape import INNER_BITS, Chance


class SharedGadgets:
    """Truncation by transfers; the choice is a garbled circuit, and so may the reciprocal be.

    `choosing` makes a server's share of the one-hot vector from its shares of ranked scores and
    of the room that the context's length leaves. `inverting` makes its share of 1 / (1 + d) from
    that of d; None for a polynomial on shares.
    """

    def __init__(
        self,
        choosing: Callable[[Words, Words, Chance], Steps[Bits]],
        inverting: Callable[[Words, int, int], Steps[Words]] | None,
    ) -> None:
        self._choosing, self._inverting = choosing, inverting

    def cut(self, engine: Engine, z: Shared, bits: int, ring: int = RING) -> Circuit[Shared]:
        return cut(engine, z, bits, ring)

    def cut_and_mask(
        self, engine: Engine, z: Shared, bits: int, ring: int = RING
    ) -> Circuit[MaskedWords]:
        return cut_and_mask(engine, z, bits, ring)

    def choose(
        self, engine: Engine, ranked: Shared, room: Shared, chance: Chance
    ) -> Circuit[SharedBits]:
        found = yield GarbledExchange(lambda: self._choosing(ranked.share, room.share, chance))
        return SharedBits(found[0], first=engine.first)

    def reciprocal(self, engine: Engine, d: Shared, behind: int, ring: int) -> Circuit[MaskedWords]:
        inverting = self._inverting
        if inverting is None:
            return (yield from polynomial_reciprocal(engine, d, INNER_BITS, behind, ring))
        found = yield GarbledExchange(lambda: inverting(d.share, behind, ring))
        inverse = Shared(found[0].astype(np.uint64), first=engine.first)
        return (yield from mask(engine, inverse))


class TracedGadgets(SharedGadgets):
    """The same on zeros, to find what computations on shares ask for."""

    def __init__(self, *, garbled_reciprocal: bool) -> None:
        super().__init__(_nothing, _nothing if garbled_reciprocal else None)

    def choose(
        self,
        engine: Engine,
        ranked: Shared,
        room: Shared,  # noqa: ARG002
        chance: Chance,  # noqa: ARG002
    ) -> Circuit[SharedBits]:
        yield from ()
        return SharedBits(np.zeros(ranked.shape, np.uint8), first=engine.first)

    def reciprocal(self, engine: Engine, d: Shared, behind: int, ring: int) -> Circuit[MaskedWords]:
        if self._inverting is None:
            return (yield from super().reciprocal(engine, d, behind, ring))
        return (yield from mask(engine, Shared(np.zeros(1, np.uint64), first=engine.first)))


def _nothing(*_: object) -> Steps[Words]:
    raise AssertionError("a traced circuit exchanges nothing")
