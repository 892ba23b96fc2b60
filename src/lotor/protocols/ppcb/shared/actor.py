"""p': alone learns which arm is pulled, and nothing of what it pays."""

from lotor.core.effects import Act, Checkpoint, Decision, Send, Steps
from lotor.protocols.garbled.showing import OutputReader
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.ppcb.messages import Acted
from lotor.protocols.ppcb.shared.circuits import PPCBSharedCircuits
from lotor.protocols.ppcb.shared.messages import WIRE, step_place
from lotor.protocols.ppcb.terms import FIRST, SEATS, PPCBTerms
from lotor.protocols.two_server.checks import place_of
from lotor.protocols.two_server.outside import agree


class PPCBSharedActorMemory(Memory, tag=WIRE + "actor"):
    """It remembers nothing but how far it is."""


class PPCBSharedActor(Party):
    """Reads the choice, for which it needs both servers, and pulls that arm (line 16)."""

    def __init__(self, terms: PPCBTerms, *, snapshot: bytes | None = None) -> None:
        self._terms = terms
        self._schedule = PPCBSharedCircuits(terms).schedule
        self._memory = (
            PPCBSharedActorMemory(party="actor", run=terms.run)
            if snapshot is None
            else restored(PPCBSharedActorMemory, snapshot, "actor", terms.run)
        )

    def steps(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            yield from agree(terms.digest, SEATS)
            memory.t = 1
        for t in range(memory.t, terms.steps + 1):
            memory.t = t
            step = terms.before + t
            yield Checkpoint(memory.dump, step)
            arm = yield from self._reader(t).receive_position(t, step_place(t))
            yield Act(Decision.of_step(terms.run, step, arm))
            yield Send(FIRST, Acted(place_of(t)))

    def _reader(self, t: int) -> OutputReader:
        """The servers take turns in who garbles."""
        evaluator = self._schedule.of(t).evaluator
        return OutputReader(SEATS[1 - evaluator], SEATS[evaluator], self._terms.arms)
