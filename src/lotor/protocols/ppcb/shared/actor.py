"""p' without a dealer: it reads what a garbled circuit chose."""

from lotor.core.effects import Steps
from lotor.protocols.garbled.showing import OutputReader
from lotor.protocols.memory import Memory
from lotor.protocols.ppcb.acting import PPCBActing
from lotor.protocols.ppcb.shared.circuits import PPCBSharedCircuits
from lotor.protocols.ppcb.shared.messages import WIRE, step_place
from lotor.protocols.ppcb.terms import SEATS, PPCBTerms


class PPCBSharedActorMemory(Memory, tag=WIRE + "actor"):
    """How far it is."""


class PPCBSharedActor(PPCBActing):
    """Has the garbler's table and the evaluator's outputs, who take turns."""

    memory_kind = PPCBSharedActorMemory

    def __init__(self, terms: PPCBTerms, *, snapshot: bytes | None = None) -> None:
        super().__init__(terms, snapshot=snapshot)
        self._schedule = PPCBSharedCircuits.of(terms).schedule

    def _read_arm(self, t: int) -> Steps[int]:
        evaluator = self._schedule.of(t).evaluator
        reader = OutputReader(SEATS[1 - evaluator], SEATS[evaluator], self._terms.arms)
        return reader.receive_position(t, step_place(t))
