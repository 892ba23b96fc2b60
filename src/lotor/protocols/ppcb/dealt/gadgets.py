"""How servers with a dealer truncate, choose an arm and take a reciprocal."""

from dataclasses import dataclass

from lotor.crypto.sharing import (
    RING,
    Circuit,
    Engine,
    MaskedWords,
    Shared,
    SharedBits,
    reciprocal,
    settled,
    truncate,
)
from lotor.protocols.ppcb.dealt.choice import taken
from lotor.protocols.ppcb.shape import INNER_BITS, Chance, StepShape


@dataclass(frozen=True, slots=True)
class DealtGadgets:
    """The dealer deals modulo 2^64 whatever the ring, and what it truncates comes masked."""

    shape: StepShape

    def cut(
        self,
        engine: Engine,
        z: Shared,
        bits: int,
        ring: int = RING,  # noqa: ARG002
    ) -> Circuit[Shared]:
        return settled(engine, (yield from truncate(engine, z, bits)))

    def cut_and_mask(
        self,
        engine: Engine,
        z: Shared,
        bits: int,
        ring: int = RING,  # noqa: ARG002
    ) -> Circuit[MaskedWords]:
        return (yield from truncate(engine, z, bits))

    def choose(
        self, engine: Engine, ranked: Shared, room: Shared, chance: Chance
    ) -> Circuit[SharedBits]:
        return (yield from taken(engine, self.shape, ranked, room, chance))

    def reciprocal(
        self,
        engine: Engine,
        d: Shared,
        behind: int,
        ring: int,  # noqa: ARG002
    ) -> Circuit[MaskedWords]:
        return (yield from reciprocal(engine, d, INNER_BITS, behind))
