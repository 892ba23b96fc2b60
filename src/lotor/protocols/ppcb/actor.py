"""p': alone learns which arm is pulled, and nothing of what it pays."""

import numpy as np

from lotor.core.effects import Act, Checkpoint, Decision, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.sharing import Bits
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.ppcb.messages import Acted, Agreed, OneHot
from lotor.protocols.ppcb.terms import FIRST, SECOND, Terms
from lotor.protocols.ppcb.wire import check_place, check_size, place_of


class ActorMemory(Memory, tag="ppcb/1/actor"):
    """It remembers nothing but how far it is."""


class Actor(Party):
    """Line 16."""

    def __init__(self, terms: Terms, *, snapshot: bytes | None = None) -> None:
        self._terms = terms
        self._memory = (
            ActorMemory(party="actor", run=terms.run)
            if snapshot is None
            else restored(ActorMemory, snapshot, "actor", terms.run)
        )

    def steps(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            for server in (FIRST, SECOND):
                yield Send(server, Agreed(terms.digest))
            memory.t = 1
        for t in range(memory.t, terms.steps + 1):
            memory.t = t
            yield Checkpoint(memory.dump, t)
            one_hot: Bits = np.zeros(terms.arms, np.uint8)
            for server in (FIRST, SECOND):
                message: OneHot = yield Receive(server, OneHot)
                check_place(message, place_of(t), server)
                check_size(message.shares, terms.arms, server, t)
                one_hot = one_hot ^ np.frombuffer(message.shares, np.uint8)
            yield Act(Decision.of_step(terms.run, t, self._arm(one_hot, t)))
            yield Send(FIRST, Acted(place_of(t)))

    @staticmethod
    def _arm(one_hot: Bits, t: int) -> int:
        if sorted(one_hot.tolist()) != [0] * (len(one_hot) - 1) + [1]:
            raise ProtocolError(
                f"the servers' shares of step {t} are not those of one arm: they are out of step, "
                "or a message was altered; nothing was pulled"
            )
        return int(one_hot.argmax())
