"""The two computing servers: everything is learnt here, on shares that tell nothing.

Inputs come to the second server: it writes them down before anything that depends on them is
opened, the reward of a step together with the context of the next. The first server's shares of
them are functions of keys.
"""

from lotor.core.effects import BeginRound, Checkpoint, Steps
from lotor.crypto.prf import new_key
from lotor.protocols.memory import restored
from lotor.protocols.ppcb.computing import PPCBComputing
from lotor.protocols.ppcb.dealt.circuits import PPCBCircuits, cheapest_circuits
from lotor.protocols.ppcb.dealt.server_memory import (
    CONTEXT,
    REWARDED,
    PPCBServerMemory,
    WaitingStep,
)
from lotor.protocols.ppcb.kept_model import KeptModel
from lotor.protocols.ppcb.messages import OneHot, Reward
from lotor.protocols.ppcb.shape import Chosen, words_in
from lotor.protocols.ppcb.terms import SEATS, PPCBTerms
from lotor.protocols.two_server.server import SharingKeys, SharingServer


class PPCBServer(PPCBComputing):
    """Algorithm 1 but for lines 5, 16 and 19; `number` is 0 or 1.

    `draw_key` decides its part of exploration: from a seed in a simulation, fresh elsewhere. `kept`
    is its share of the model that a continued run begins with.
    """

    def __init__(
        self,
        number: int,
        terms: PPCBTerms,
        *,
        draw_key: bytes | None = None,
        kept: KeptModel | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        super().__init__(number, terms)
        self._last = terms.steps
        self._circuits = self.circuits(terms)
        self._memory: PPCBServerMemory = (
            PPCBServerMemory(
                party=self._name,
                run=terms.run,
                draw_key=draw_key or new_key(),
                keys=SharingKeys.fresh(number),
            )
            if snapshot is None
            else restored(PPCBServerMemory, snapshot, self._name, terms.run)
        )
        schedule, keys = self._circuits.schedule, self._memory.keys
        self._sharing: SharingServer = SharingServer(number, SEATS, schedule, keys)
        self._begin(kept, self._circuits.vectors_shape)

    @staticmethod
    def circuits(terms: PPCBTerms) -> PPCBCircuits:
        """What the servers compute, and the dealer deals for."""
        return cheapest_circuits(terms)

    def steps(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        yield Checkpoint(self._snapshot, memory.t and terms.before + memory.t)
        if memory.t == 0:
            yield from self._set_up()
            yield from self._take_context(1)
            memory.t = 1
            yield self._inputs_written()
        for t in range(memory.t, terms.ends + 1):  # line 4
            if memory.stage == CONTEXT:
                if t <= self._last:
                    yield BeginRound(terms.before + t)
                    yield from self._choose(t)
                    yield from self._let_act(t)
                yield from self._take_reward(t)
                if t < self._last:
                    yield from self._take_context(t + 1)
                memory.t, memory.stage = t, REWARDED
                yield self._inputs_written()
            yield from self._learn(t)
            memory.t, memory.stage = t + 1, CONTEXT
        yield from self._end()

    def _inputs_written(self) -> Checkpoint:
        """What others have brought is on the disk before anything under a pad depends on it."""
        step = self._terms.before + self._memory.t
        return Checkpoint(self._snapshot, step, durable=not self._first)

    def _take_context(self, t: int) -> Steps[None]:
        features = yield from self._take_features(t)
        self._memory.waiting.append(WaitingStep(features.tobytes()))

    def _choose(self, t: int) -> Steps[None]:
        """Lines 8 to 15."""
        circuits, latest = self._circuits, self._memory.waiting[-1]
        if t == 1 and circuits.begin is not None:
            self._model = yield from self._sharing.compute(0, circuits.begin, self._model)
        x = words_in(latest.x, self._shape.features, first=self._first)
        chosen = yield from self._sharing.compute(
            t, circuits.choose, self._model, x, self._chance(t)
        )
        latest.keep(chosen)

    def _let_act(self, t: int) -> Steps[None]:
        """Line 16: p' pulls the arm, and p'' hears that there will be a reward."""
        latest, prepare = self._memory.waiting[-1], self._circuits.prepare
        yield from self._sharing.tell_bits("actor", OneHot, t, latest.one_hot_share())
        if prepare is not None:  # while the arm is pulled
            chosen = self._chosen(latest)
            gains = yield from self._sharing.compute(t, prepare, self._model, chosen)
            latest.keep_gains(gains)
        yield from self._hear_acted(t)
        if self._terms.predicts:
            self._memory.waiting.pop()

    def _learns(self, t: int) -> bool:
        return self._circuits.learn.first <= t <= self._circuits.learn.last

    def _take_reward(self, t: int) -> Steps[None]:
        """Line 19: of the oldest step that waits for one."""
        if self._learns(t):
            share = yield from self._sharing.take_input("receiver", Reward, t, 1)
            self._memory.waiting[0].reward = share.tobytes()

    def _learn(self, t: int) -> Steps[None]:
        """Lines 20 to 23, for the oldest step whose reward has come."""
        if not self._learns(t):
            return
        oldest = self._memory.waiting[0]
        self._model = yield from self._sharing.compute(
            t,
            self._circuits.learn,
            self._model,
            self._chosen(oldest),
            words_in(oldest.reward, 1, first=self._first),
        )
        self._memory.waiting.pop(0)

    def _chosen(self, step: WaitingStep) -> Chosen:
        features, gains = self._shape.features, self._circuits.gains_shapes
        return step.chosen(features, gains, first=self._first)
