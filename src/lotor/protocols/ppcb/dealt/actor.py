"""p': alone learns which arm is pulled, and nothing of what it pays."""

from lotor.core.effects import Act, Checkpoint, Decision, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.sharing import Bits
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.ppcb.messages import Acted, OneHot
from lotor.protocols.ppcb.terms import FIRST, SEATS, PPCBTerms
from lotor.protocols.two_server.checks import place_of
from lotor.protocols.two_server.outside import agree, read_bits


class PPCBActorMemory(Memory, tag="ppcb/4/actor"):
    """It remembers nothing but how far it is."""


class PPCBActor(Party):
    """Puts the servers' shares together and pulls that arm (line 16)."""

    def __init__(self, terms: PPCBTerms, *, snapshot: bytes | None = None) -> None:
        self._terms = terms
        self._memory = (
            PPCBActorMemory(party="actor", run=terms.run)
            if snapshot is None
            else restored(PPCBActorMemory, snapshot, "actor", terms.run)
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
            one_hot = yield from read_bits(OneHot, t, terms.arms, SEATS)
            yield Act(Decision.of_step(terms.run, step, self._arm(one_hot, step)))
            yield Send(FIRST, Acted(place_of(t)))

    @staticmethod
    def _arm(one_hot: Bits, t: int) -> int:
        if sorted(one_hot.tolist()) != [0] * (len(one_hot) - 1) + [1]:
            raise ProtocolError(
                f"the servers' shares of step {t} are not those of one arm: the servers are at "
                "different steps, or a message was altered; nothing was pulled"
            )
        return int(one_hot.argmax())
