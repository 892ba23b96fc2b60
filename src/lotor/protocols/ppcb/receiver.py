"""p'': alone learns the rewards, and not which arms paid them. It also orders the run."""

from collections.abc import Mapping

import numpy as np

from lotor.core.effects import Checkpoint, Decision, Expect, Pull, Receive, Send, Steps
from lotor.core.errors import FormatError
from lotor.core.fixed_point import REWARD_ONE
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import to_words
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.ppcb.messages import AllPulled, Due, Reward
from lotor.protocols.ppcb.terms import FIRST, SEATS, SECOND, PPCBTerms
from lotor.protocols.two_server.checks import check_place, place_of
from lotor.protocols.two_server.outside import InputSharer, agree


class PPCBReceiverMemory(Memory, tag="ppcb/4/receiver"):
    """The terms that it ordered, the key of its shares, and the sum of rewards so far."""

    share_key: bytes
    terms: PPCBTerms | None = None
    total: int = 0

    def __repr__(self) -> str:
        return f"<PPCBReceiverMemory in run {self.run} at step {self.t}>"


class PPCBReceiver(Party):
    """Pulls the reward of each step and shares it (line 19); of a prediction there is none."""

    def __init__(self, terms: PPCBTerms, *, share_key: bytes | None = None) -> None:
        self._terms = terms
        self._memory = PPCBReceiverMemory(
            party="receiver", run=terms.run, share_key=share_key or new_key(), terms=terms
        )
        self._sharer = InputSharer(self._memory.share_key, SEATS)

    @classmethod
    def restored(cls, run: str, snapshot: bytes) -> "PPCBReceiver":
        memory = restored(PPCBReceiverMemory, snapshot, "receiver", run)
        if memory.terms is None:
            raise FormatError(
                "this snapshot of a receiver has no order in it, so another party wrote it: "
                "restore the receiver from its own snapshot"
            )
        receiver = cls(memory.terms, share_key=memory.share_key)
        receiver._memory = memory
        return receiver

    def operations(self) -> Mapping[str, int]:
        learnt = min(self._memory.t - self._terms.late, self._terms.learnt)
        return {"values_shared": max(0, learnt)}

    def steps(self) -> Steps[float]:
        terms = self._terms
        return (yield from self._prediction() if terms.predicts else self._rewards())

    def _rewards(self) -> Steps[float]:
        memory, terms = self._memory, self._terms
        last, late, scale, before = terms.steps, terms.late, terms.scale, terms.before
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            yield from self._sharer.set_up(terms.digest)
            memory.t = 1
        for t in range(memory.t, last + late + 1):
            memory.t = t
            yield Checkpoint(memory.dump, before + t)
            if t <= last:
                due: Due = yield Receive(FIRST, Due)
                check_place(due, place_of(t), FIRST)
                yield Expect(Decision.hidden(terms.run, before + t))
            if t <= late:
                continue
            pulled = Decision.hidden(terms.run, before + t - late)
            reward = scale.to_fixed((yield Pull(pulled)))
            memory.total += reward
            if t <= terms.ends:
                yield Send(SECOND, Reward(place_of(t), self._share(reward, t)))  # line 19
        return scale.total(memory.total, last)

    def _prediction(self) -> Steps[float]:
        """No rewards: it learns that the run has ended, and returns how many steps it had."""
        memory, terms = self._memory, self._terms
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            yield from agree(terms.digest, SEATS)
            memory.t = 1
        yield Checkpoint(memory.dump, terms.before)
        ended: AllPulled = yield Receive(FIRST, AllPulled)
        check_place(ended, place_of(terms.steps), FIRST)
        return float(terms.steps)

    def _share(self, reward: int, t: int) -> bytes:
        return self._sharer.share(to_words(np.array([reward / REWARD_ONE]), self._terms.bits), t)
