"""The two computing servers: everything is learnt here, on shares that tell nothing.

Inputs come to the second server: it writes them down before anything that depends on them is
opened, the reward of a step together with the context of the next. The first server's shares of
them are functions of keys.
"""

from collections.abc import Mapping

import numpy as np

from lotor.core.effects import BeginRound, Checkpoint, Receive, Send, Steps
from lotor.core.errors import JournalError
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import Shared
from lotor.protocols.contextual_draws import ServerDraws
from lotor.protocols.memory import restored
from lotor.protocols.party import Party
from lotor.protocols.ppcb.chosen_arm import LearntModel
from lotor.protocols.ppcb.dealt.circuits import PPCBCircuits, cheapest_circuits
from lotor.protocols.ppcb.dealt.server_memory import (
    CONTEXT,
    REWARDED,
    PPCBServerMemory,
    WaitingStep,
)
from lotor.protocols.ppcb.kept_model import KeptModel
from lotor.protocols.ppcb.messages import Acted, AllPulled, Due, Features, Next, OneHot, Reward
from lotor.protocols.ppcb.owner import AHEAD, TOGETHER
from lotor.protocols.ppcb.shape import Chance, Chosen, Weights, words_in
from lotor.protocols.ppcb.terms import SEATS, PPCBTerms
from lotor.protocols.two_server.checks import check_place, place_of
from lotor.protocols.two_server.server import SharingKeys, SharingServer


class PPCBServer(Party):
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
        self._name = me = SEATS[number]
        self._first = number == 0
        self._terms = terms
        self._shape = terms.shape
        self._last = terms.steps
        self._circuits = self.circuits(terms)
        self._memory = (
            PPCBServerMemory(
                party=me,
                run=terms.run,
                draw_key=draw_key or new_key(),
                keys=SharingKeys.fresh(number),
            )
            if snapshot is None
            else restored(PPCBServerMemory, snapshot, me, terms.run)
        )
        self._draws = ServerDraws(self._memory.draw_key, terms.arms)
        self._sharing = SharingServer(number, SEATS, self._circuits.schedule, self._memory.keys)
        self._model = self._restored_model(kept)

    @staticmethod
    def circuits(terms: PPCBTerms) -> PPCBCircuits:
        """What the servers compute, and the dealer deals for."""
        return cheapest_circuits(terms)

    def operations(self) -> Mapping[str, int]:
        return self._sharing.operations()

    def _restored_model(self, kept: KeptModel | None) -> LearntModel:
        memory, shape, first = self._memory, self._shape, self._first
        vectors = self._circuits.vectors_shape
        if not memory.table:
            ridge = self._terms.learner.ridge
            begin = (
                Weights.initial(shape, ridge, first=first)  # lines 1 to 3
                if kept is None
                else kept.weights(shape, first=first)
            )
            return LearntModel(begin.table, Shared(np.zeros(vectors, np.uint64), first=first))
        columns = shape.entries + shape.features
        if len(memory.table) != 8 * shape.arms * columns:
            raise JournalError(
                f"a snapshot does not belong to a run of {shape.arms} arms and {shape.features} "
                "features: the journal is damaged or of another run; restore its last copy"
            )
        return LearntModel(
            words_in(memory.table, shape.arms, columns, first=first),
            words_in(memory.vectors, *vectors, first=first),
        )

    def _snapshot(self) -> bytes:
        memory = self._memory
        memory.table = self._model.table.share.tobytes()
        memory.vectors = self._model.vectors.share.tobytes()
        return memory.dump()

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
        if terms.predicts and self._first:
            yield Send("receiver", AllPulled(place_of(self._last)))
        if terms.keep:
            self.kept = KeptModel.of(self._name, terms, self._model.table).to_bytes()

    def _set_up(self) -> Steps[None]:
        terms = self._terms
        readers, sources = ["actor"], list(terms.owners)
        # Of a prediction there are no rewards: p'' brings nothing.
        (readers if terms.predicts else sources).append("receiver")
        yield from self._sharing.set_up(terms.digest, readers=readers, sources=sources)
        if terms.continued is not None:
            table = self._sharing.reshared(self._model.table)
            self._model = LearntModel(table, self._model.vectors)

    def _inputs_written(self) -> Checkpoint:
        """What others have brought is on the disk before anything under a pad depends on it."""
        step = self._terms.before + self._memory.t
        return Checkpoint(self._snapshot, step, durable=not self._first)

    def _take_context(self, t: int) -> Steps[None]:
        """Lines 5 to 7: the context is the parties' features, one after the other."""
        parts = []
        for name, count in self._terms.owners.items():
            parts.append((yield from self._sharing.take_input(name, Features, t, count)))
            asks = not self._first and t % TOGETHER == 0
            if asks and t + AHEAD - TOGETHER < self._last:
                yield Send(name, Next(place_of(t + AHEAD - TOGETHER + 1)))
        self._memory.waiting.append(WaitingStep(np.concatenate(parts).tobytes()))

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

    def _chance(self, t: int) -> Chance:
        """Lines 8 and 12: this server's part of them."""
        draws, step = self._draws, self._terms.before + t
        ranks = draws.order(step).astype(np.uint64)
        return Chance(np.array([draws.coin(step)], np.uint64), draws.turn(step), ranks)

    def _let_act(self, t: int) -> Steps[None]:
        """Line 16: p' pulls the arm, and p'' hears that there will be a reward."""
        latest, prepare = self._memory.waiting[-1], self._circuits.prepare
        yield from self._sharing.tell_bits("actor", OneHot, t, latest.one_hot_share())
        if prepare is not None:  # while the arm is pulled
            chosen = self._chosen(latest)
            gains = yield from self._sharing.compute(t, prepare, self._model, chosen)
            latest.keep_gains(gains)
        if self._first:
            acted: Acted = yield Receive("actor", Acted)
            check_place(acted, place_of(t), "actor")
            if not self._terms.predicts:
                yield Send("receiver", Due(place_of(t)))
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
