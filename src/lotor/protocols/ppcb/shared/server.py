"""The two computing servers: everything is learnt here, on shares that tell nothing."""

from hashlib import sha256

import msgspec
import numpy as np

from lotor.core.effects import BeginRound, Checkpoint, Once, Send, Steps
from lotor.core.errors import TooLongError
from lotor.crypto.derivation import derive_key
from lotor.crypto.garbling import bits_of, colours
from lotor.crypto.garbling.reciprocal import ARGUMENT_POINT, OFFSET
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import Bits, PadCipher, Pads, Shared, SharedBits, Words
from lotor.protocols.dealerless.preparation import DealerlessKeys
from lotor.protocols.dealerless.schedule import GarbledCircuit
from lotor.protocols.dealerless.server import DealerlessServer, GarbledTurn
from lotor.protocols.garbled.showing import shown_of, table_of
from lotor.protocols.memory import restored
from lotor.protocols.ppcb.chosen_arm import (
    Learning,
    choose,
    learn,
    learn_late,
    prepare,
    weights,
)
from lotor.protocols.ppcb.computing import PPCBComputing, PPCBComputingMemory
from lotor.protocols.ppcb.kept_model import KeptModel
from lotor.protocols.ppcb.messages import Reward
from lotor.protocols.ppcb.shape import TOO_LONG, Chance, words_in
from lotor.protocols.ppcb.shared.circuits import PPCBSharedCircuits
from lotor.protocols.ppcb.shared.gadgets import SharedGadgets
from lotor.protocols.ppcb.shared.messages import WIRE, step_place
from lotor.protocols.ppcb.terms import SEATS, PPCBTerms

_CONTEXT, _REWARD = b"context", b"reward"


class LateStep(msgspec.Struct, array_like=True):
    """Shares of a step whose reward will come: its context and the chosen arm."""

    x: bytes
    one_hot: bytes

    def __repr__(self) -> str:
        return "<LateStep>"


class PPCBSharedServerMemory(PPCBComputingMemory, kw_only=True, tag=WIRE + "server"):
    """Keys and shares, none of which tells anything without the other server's.

    `waiting` are the steps whose reward is still to come, the oldest first.
    """

    keys: DealerlessKeys
    batch: int = 0
    waiting: list[LateStep] = msgspec.field(default_factory=list)


class PPCBSharedServer(PPCBComputing):
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
        self._circuits = PPCBSharedCircuits.of(terms)
        self._memory: PPCBSharedServerMemory = (
            PPCBSharedServerMemory(
                party=self._name,
                run=terms.run,
                draw_key=draw_key or new_key(),
                keys=DealerlessKeys.fresh(number),
            )
            if snapshot is None
            else restored(PPCBSharedServerMemory, snapshot, self._name, terms.run)
        )
        keys = self._memory.keys
        self._numbers = PadCipher(derive_key(keys.own, "chosen numbers"))
        self._sharing: DealerlessServer = DealerlessServer(
            number, SEATS, terms.run, self._circuits.schedule, keys
        )
        self._begin(kept, (self._shape.arms, self._shape.features))
        self._prepared: tuple[SharedBits, Learning]

    def steps(self) -> Steps[None]:
        memory, terms, sharing = self._memory, self._terms, self._sharing
        begun = bool(memory.keys.pairs)
        if not begun:
            yield Checkpoint(self._snapshot)
            yield from self._set_up()
        yield from sharing.begin(memory.batch, self._wires, restored=begun)
        for number in range(memory.batch, sharing.schedule.count):
            steps = sharing.schedule.batch(number).steps
            memory.batch, memory.t = number, steps.start
            yield Checkpoint(self._snapshot, terms.before + memory.t)
            yield from sharing.open_batch(number)
            for t in steps:  # line 4
                yield from self._step(t)
            yield from sharing.close_batch()
        yield from self._end()

    def _step(self, t: int) -> Steps[None]:
        if t <= self._terms.steps:
            yield from self._decide(t)
        else:
            yield from self._sharing.choose_next(t)
            self._sharing.offer_next(t)
        learn = self._circuits.learn
        if learn.first <= t <= learn.last:
            yield from self._learn(t)

    def _decide(self, t: int) -> Steps[None]:
        """Lines 5 to 18; while p' pulls the arm, learning is prepared."""
        terms, shape, circuits, gadgets = self._terms, self._shape, self._circuits, self._gadgets(t)
        x = Shared((yield from self._take_features(t)), first=self._first)
        yield BeginRound(terms.before + t)
        yield self._announced(t, _CONTEXT, x)
        if t == 1 and terms.continued is not None:
            yield from self._begin_from_kept()
        computing = self._sharing.computation(t, circuits.choose)
        engine, model = computing.engine, self._model
        context, one_hot = yield from computing.run(
            choose(engine, gadgets, shape, model, x, self._chance(t))
        )
        yield from self._sharing.choose_next(t)
        if not circuits.late:
            learning = yield from computing.run(
                prepare(engine, gadgets, shape, model, context, one_hot)
            )
            self._prepared = one_hot, learning
        elif not terms.predicts:
            waiting = LateStep(x.share.tobytes(), one_hot.share.tobytes())
            self._memory.waiting.append(waiting)
        self._sharing.offer_next(t)
        yield from self._hear_acted(t)

    def _learn(self, t: int) -> Steps[None]:
        """Lines 19 to 23, for the oldest step that waits for its reward."""
        shape, gadgets, first = self._shape, self._gadgets(t), self._first
        share = yield from self._sharing.take_input("receiver", Reward, t, 1)
        reward = Shared(share, first=first)
        yield self._announced(t, _REWARD, reward)
        computing = self._sharing.computation(t, self._circuits.learn)
        engine, model = computing.engine, self._model
        if self._circuits.late:
            late = self._memory.waiting.pop(0)
            x = words_in(late.x, shape.features, first=first)
            one_hot = SharedBits(np.frombuffer(late.one_hot, np.uint8), first=first)
            learning = learn_late(engine, gadgets, shape, model, x, one_hot, reward)
        else:
            one_hot, prepared = self._prepared
            learning = learn(engine, gadgets, shape, model, one_hot, prepared, reward)
        self._model = yield from computing.run(learning)

    def _begin_from_kept(self) -> Steps[None]:
        computing = self._sharing.computation(1, self._circuits.begin)
        table = self._model.table
        self._model = yield from computing.run(
            weights(computing.engine, self._gadgets(1), self._shape, table)
        )

    def _announced(self, t: int, what: bytes, given: Shared) -> Once:
        """All that is opened from here on follows from this, from keys, and from what the other
        server opens: another model or input under the same masks would show the difference."""
        content = sha256(self._model.table.share.tobytes())
        content.update(self._model.vectors.share.tobytes())
        content.update(given.share.tobytes())
        return Once(step_place(t) + what + content.digest())

    def _gadgets(self, t: int) -> SharedGadgets:
        return SharedGadgets(
            lambda ranked, room, chance: self._pick(t, ranked, room, chance),
            (lambda d, behind, ring: self._invert(t, d, behind, ring))
            if self._circuits.garbles_reciprocal
            else None,
        )

    def _pick(self, t: int, ranked: Words, room: Words, chance: Chance) -> Steps[Bits]:
        """The circuit that chooses: this server's share of the one-hot vector, and p' has the arm.

        What garbler and evaluator see of an output by themselves are its shares by XOR.
        """
        sharing, arms, shape = self._sharing, self._shape.arms, self._shape
        turn = GarbledTurn(t, self._circuits.choice)
        if sharing.garbles(t):
            told = yield from sharing.receive_differences(turn, arms + 1)
            above = np.uint64(1 << (shape.score_bits - 1))  # so that no score is negative
            bits = self._choice_bits(ranked + told[:arms] + above, room + told[arms:], chance)
            outputs = yield from sharing.send_labels(turn, bits, slice(arms, None))
            codes = sharing.codes(turn, outputs[:arms])
            yield Send("actor", table_of(codes, step_place(t)))
        else:
            chosen = self._chosen_numbers(turn)
            differences = np.concatenate([ranked, room]) - chosen
            outputs, told_colours = yield from sharing.evaluate(turn, differences, 1)
            if told_colours[0] ^ colours(outputs[arms:]).item():
                raise TooLongError(TOO_LONG)
            signs = sharing.signs(turn, outputs[:arms])
            yield Send("actor", shown_of(signs, step_place(t)))
        return colours(outputs[:arms])[:, 0]

    def _choice_bits(self, numbers: Words, room: Words, chance: Chance) -> Bits:
        """What a server brings to the choice, in the order of the circuit's inputs."""
        turn_bits = self._circuits.choice.circuit.inputs[3][0]
        parts = (
            (numbers, self._shape.score_bits),
            (room, 64),
            (chance.coin, 64),
            (np.array([chance.turn], np.uint64), turn_bits),
        )
        return np.concatenate([bits_of(words, width).reshape(-1) for words, width in parts])

    def _invert(self, t: int, d: Words, behind: int, ring: int) -> Steps[Words]:
        """The circuit that takes a reciprocal: this server's share of it."""
        sharing, turn = self._sharing, GarbledTurn(t, self._circuits.reciprocal)
        fine = (d & np.uint64((1 << ring) - 1)) >> np.uint64(behind - ARGUMENT_POINT)
        if sharing.garbles(t):
            told = yield from sharing.receive_differences(turn, 1)
            # Each share loses half a unit on average where it is cut.
            argument = fine + told + np.uint64(OFFSET + 1)
            cover: Words = self._chosen_numbers(turn)[1:]
            bits = [bits_of(argument, 31).reshape(-1), bits_of(cover, 64).reshape(-1)]
            yield from sharing.send_labels(turn, np.concatenate(bits), slice(None))
            return -cover
        chosen = self._chosen_numbers(turn)[:1]
        outputs, zeros = yield from sharing.evaluate(turn, fine - chosen, 64)
        inverse: Words = np.packbits(zeros ^ colours(outputs)[:, 0], bitorder="little").view("<u8")
        return inverse.astype(np.uint64)

    def _chosen_numbers(self, turn: GarbledTurn) -> Words:
        """What this server brings to a garbled circuit ahead of time: uniform numbers, in place of
        its shares; to a reciprocal that it garbles, the cover of the result."""
        count = self._shape.arms + 1 if turn.each is self._circuits.choice else 2
        pads = Pads(self._numbers, 8 * count, t=turn.t, attempt=0, circuit=turn.each.number)
        return pads.words((count,))

    def _wires(self, each: GarbledCircuit, steps: range) -> Bits:
        """The bits that it chooses as the evaluator of some steps, (rows, steps)."""
        found = []
        for t in steps:
            numbers = self._chosen_numbers(GarbledTurn(t, each))
            if each is self._circuits.choice:
                found.append(self._choice_bits(numbers[:-1], numbers[-1:], self._chance(t)))
            else:
                found.append(bits_of(numbers[:1], 31).reshape(-1))
        return np.stack(found, axis=1)
