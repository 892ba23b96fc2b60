"""p', whatever shows it the arm: alone learns which arm is pulled, and nothing of what it pays."""

from abc import abstractmethod
from typing import ClassVar

from lotor.core.effects import Act, Checkpoint, Decision, Send, Steps
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.ppcb.messages import Acted
from lotor.protocols.ppcb.terms import FIRST, SEATS, PPCBTerms
from lotor.protocols.two_server.checks import place_of
from lotor.protocols.two_server.outside import agree


class PPCBActing(Party):
    """Reads which arm was chosen, for which it needs both servers, and pulls it (line 16).

    It remembers nothing but how far it is.
    """

    memory_kind: ClassVar[type[Memory]]

    def __init__(self, terms: PPCBTerms, *, snapshot: bytes | None = None) -> None:
        self._terms = terms
        self._memory = (
            self.memory_kind(party="actor", run=terms.run)
            if snapshot is None
            else restored(self.memory_kind, snapshot, "actor", terms.run)
        )

    @abstractmethod
    def _read_arm(self, t: int) -> Steps[int]:
        """The arm of step t, from both servers' messages."""

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
            arm = yield from self._read_arm(t)
            yield Act(Decision.of_step(terms.run, step, arm))
            yield Send(FIRST, Acted(place_of(t)))
