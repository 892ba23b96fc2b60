"""p' with a dealer: the one-hot vector of the arm comes in two shares."""

from lotor.core.effects import Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.sharing import Bits
from lotor.protocols.memory import Memory
from lotor.protocols.ppcb.acting import PPCBActing
from lotor.protocols.ppcb.messages import OneHot
from lotor.protocols.ppcb.terms import SEATS
from lotor.protocols.two_server.outside import read_bits


class PPCBActorMemory(Memory, tag="ppcb/4/actor"):
    """How far it is."""


class PPCBActor(PPCBActing):
    """Puts the servers' shares together."""

    memory_kind = PPCBActorMemory

    def _read_arm(self, t: int) -> Steps[int]:
        one_hot = yield from read_bits(OneHot, t, self._terms.arms, SEATS)
        return self._arm(one_hot, self._terms.before + t)

    @staticmethod
    def _arm(one_hot: Bits, t: int) -> int:
        if sorted(one_hot.tolist()) != [0] * (len(one_hot) - 1) + [1]:
            raise ProtocolError(
                f"the servers' shares of step {t} are not those of one arm: the servers are at "
                "different steps, or a message was altered; nothing was pulled"
            )
        return int(one_hot.argmax())
