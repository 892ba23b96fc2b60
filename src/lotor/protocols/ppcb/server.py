"""The two computing servers: everything is learnt here, on shares that tell nothing.

All that a step opens is a function of its inputs, of keys and of the dealer's pads, so that after a
crash it is computed again, and the very same values are opened again. Inputs come to the second
server: it writes them down before anything that depends on them is opened, the reward of a step
together with the context of the next. The first server's shares of them are functions of keys.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import InputError, JournalError
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import (
    Bits,
    Circuit,
    Engine,
    PadCiphers,
    Pads,
    Server,
    Shared,
    SharedBits,
    Words,
    joined,
    to_message,
)
from lotor.protocols.contextual_draws import ServerDraws
from lotor.protocols.memory import restored
from lotor.protocols.party import Party
from lotor.protocols.ppcb.dealer import batch_of
from lotor.protocols.ppcb.messages import (
    Acted,
    Agreed,
    BlindKey,
    Corrections,
    Due,
    Features,
    InputKey,
    More,
    Next,
    OneHot,
    Opened,
    PadKey,
    Reward,
)
from lotor.protocols.ppcb.owner import AHEAD, TOGETHER
from lotor.protocols.ppcb.recipes import Recipes, learn_late
from lotor.protocols.ppcb.server_memory import CONTEXT, REWARDED, Choice, ServerMemory
from lotor.protocols.ppcb.shape import Chance, Gains, Weights
from lotor.protocols.ppcb.step import choose, decide, learn
from lotor.protocols.ppcb.terms import FIRST, SECOND, Terms
from lotor.protocols.ppcb.wire import (
    ATTEMPT,
    DECIDE,
    LEARN,
    blind,
    check_agreed,
    check_place,
    check_size,
    input_mask,
    key_from,
    place_of,
    words_from,
)

T = TypeVar("T")


class ComputingServer(Party):
    """Algorithm 1 but for lines 5, 16 and 19; `number` is 0 or 1.

    `draw_key` decides its part of exploration: from a seed in a simulation, fresh elsewhere.
    """

    def __init__(
        self,
        number: int,
        terms: Terms,
        *,
        draw_key: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._me, self._other = (FIRST, SECOND)[number], (SECOND, FIRST)[number]
        self._first = number == 0
        self._terms = terms
        self._shape = terms.shape
        self._last = terms.steps
        self._recipes = Recipes(terms)
        self._batch = batch_of(self._recipes)
        self._rounds = self._opened_bytes = 0
        self._memory = (
            ServerMemory(
                party=self._me,
                run=terms.run,
                draw_key=draw_key or new_key(),
                blind_key=new_key() if self._first else b"",
            )
            if snapshot is None
            else restored(ServerMemory, snapshot, self._me, terms.run)
        )
        self._draws = ServerDraws(self._memory.draw_key, terms.arms)
        self._ciphers = PadCiphers()
        self._corrections: dict[tuple[int, int], memoryview] = {}
        self._weights = self._restored_weights()

    def operations(self) -> Mapping[str, int]:
        # Rounds are the same at both.
        rounds = {"rounds": self._rounds} if self._first else {}
        return {**rounds, "opened_bytes": self._opened_bytes}

    def _restored_weights(self) -> Weights:
        memory, shape = self._memory, self._shape
        if not memory.weights:
            ridge = self._terms.learner.ridge
            return Weights.initial(shape, ridge, first=self._first)  # lines 1 to 3
        columns = shape.entries + shape.features
        if len(memory.weights) != 8 * shape.arms * columns:
            raise JournalError(
                f"a snapshot does not belong to a run of {shape.arms} arms and {shape.features} "
                "features: the journal is damaged or of another run; restore its last copy"
            )
        return Weights(self._shared(memory.weights, shape.arms, columns))

    def _shared(self, data: bytes, *shape: int) -> Shared:
        return Shared(np.frombuffer(data, np.uint64).reshape(shape), first=self._first)

    def _snapshot(self) -> bytes:
        memory = self._memory
        memory.weights = self._weights.table.share.tobytes()
        return memory.dump()

    def steps(self) -> Steps[None]:
        memory = self._memory
        yield Checkpoint(self._snapshot, memory.t)
        if memory.t == 0:
            yield from self._set_up()
            yield from self._take_context(1)
            memory.t = 1
            yield self._inputs_written()
        for t in range(memory.t, self._last + 1):  # line 4
            if memory.stage == CONTEXT:
                yield from self._choose(t)
                yield from self._let_act(t)
                yield from self._take_reward(t)
                if t < self._last:
                    yield from self._take_context(t + 1)
                memory.t, memory.stage = t, REWARDED
                yield self._inputs_written()
            yield from self._learn(t)
            memory.t, memory.stage = t + 1, CONTEXT

    def _inputs_written(self) -> Checkpoint:
        """What others have brought is on the disk before anything under a pad depends on it."""
        return Checkpoint(self._snapshot, self._memory.t, durable=not self._first)

    def _set_up(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        digest = terms.digest
        yield Send(self._other, Agreed(digest))
        agreed: Agreed = yield Receive(self._other, Agreed)
        check_agreed(agreed, digest, self._other)
        if self._first:
            yield Send(self._other, BlindKey(digest, memory.blind_key))
        else:
            blinding: BlindKey = yield Receive(self._other, BlindKey)
            memory.blind_key = key_from(blinding, digest, self._other)
        dealt: PadKey = yield Receive("dealer", PadKey)
        memory.pad_key = key_from(dealt, digest, "dealer")
        agreed = yield Receive("actor", Agreed)
        check_agreed(agreed, digest, "actor")
        for name in ("receiver", *terms.owners):
            if self._first:
                given: InputKey = yield Receive(name, InputKey)
                memory.input_keys[name] = key_from(given, digest, name)
            else:
                agreed = yield Receive(name, Agreed)
                check_agreed(agreed, digest, name)

    def _take_context(self, t: int) -> Steps[None]:
        """Lines 5 to 7: the context is the parties' features, one after the other."""
        memory, terms = self._memory, self._terms
        parts: list[Words] = []
        for name, count in terms.owners.items():
            if self._first:
                parts.append(input_mask(self._ciphers.of(memory.input_keys[name]), t, count))
                continue
            message: Features = yield Receive(name, Features)
            check_place(message, place_of(t), name)
            parts.append(words_from(message.shares, count, name, t))
            if t % TOGETHER == 0 and t + AHEAD - TOGETHER < self._last:
                yield Send(name, Next(place_of(t + AHEAD - TOGETHER + 1)))
        memory.waiting.append(Choice(np.concatenate(parts).tobytes()))

    def _choose(self, t: int) -> Steps[None]:
        """Lines 8 to 15."""
        terms, shape = self._terms, self._shape
        latest = self._memory.waiting[-1]
        x = self._shared(latest.x, shape.features)
        chance = self._chance(t)
        if terms.delay:
            one_hot = yield from self._computed(
                t, DECIDE, lambda engine: choose(engine, shape, self._weights, x, chance)
            )
        else:
            one_hot, gains = yield from self._computed(
                t, DECIDE, lambda engine: decide(engine, shape, self._weights, x, chance)
            )
            latest.outer, latest.k, latest.s = (
                part.share.tobytes() for part in (gains.outer, gains.k, gains.s)
            )
        latest.one_hot = one_hot.share.tobytes()

    def _chance(self, t: int) -> Chance:
        """Lines 8 and 12: this server's part of them."""
        draws = self._draws
        ranks = draws.order(t).astype(np.uint64)
        return Chance(np.array([draws.coin(t)], np.uint64), draws.turn(t), ranks)

    def _let_act(self, t: int) -> Steps[None]:
        """Line 16: p' pulls the arm, and p'' hears that there will be a reward."""
        memory, terms = self._memory, self._terms
        one_hot = np.frombuffer(memory.waiting[-1].one_hot, np.uint8)
        blinded = one_hot ^ blind(self._ciphers.of(memory.blind_key), t, terms.arms)
        yield Send("actor", OneHot(place_of(t), blinded.tobytes()))
        if self._first:
            acted: Acted = yield Receive("actor", Acted)
            check_place(acted, place_of(t), "actor")
            yield Send("receiver", Due(place_of(t)))

    def _take_reward(self, t: int) -> Steps[None]:
        """Line 19: of the oldest step that waits for one."""
        memory = self._memory
        if t <= self._terms.delay:
            return
        if self._first:
            share = input_mask(self._ciphers.of(memory.input_keys["receiver"]), t, 1)
        else:
            reward: Reward = yield Receive("receiver", Reward)
            check_place(reward, place_of(t), "receiver")
            share = words_from(reward.shares, 1, "receiver", t)
        memory.waiting[0].reward = share.tobytes()

    def _learn(self, t: int) -> Steps[None]:
        """Lines 20 to 23, for the oldest step whose reward has come."""
        terms, shape = self._terms, self._shape
        if t <= terms.delay:
            return
        choice = self._memory.waiting[0]
        one_hot: Bits = np.frombuffer(choice.one_hot, np.uint8)
        chosen = SharedBits(one_hot, first=self._first)
        reward = self._shared(choice.reward, 1)

        def circuit(engine: Engine) -> Circuit[Weights]:
            if terms.delay:
                x = self._shared(choice.x, shape.features)
                return learn_late(engine, shape, self._weights, x, chosen, reward)
            gains = Gains(
                self._shared(choice.outer, shape.arms, shape.entries),
                self._shared(choice.k, shape.arms, shape.features),
                self._shared(choice.s, shape.arms, 1),
            )
            return learn(engine, self._weights, chosen, gains, reward)

        self._weights = yield from self._computed(t, LEARN, circuit)
        self._memory.waiting.pop(0)

    def _computed(self, t: int, circuit: int, build: Callable[[Engine], Circuit[T]]) -> Steps[T]:
        """Run a circuit with the other server, round by round."""
        engine = yield from self._engine(t, circuit)
        steps = build(engine)
        round_number = 0
        try:
            asked = next(steps)
            while True:
                place = place_of(t, circuit, round_number)
                message = to_message(asked)
                yield Send(self._other, Opened(place, message))
                reply: Opened = yield Receive(self._other, Opened)
                check_place(reply, place, self._other)
                check_size(reply.shares, len(message), self._other, t)
                self._rounds += 1
                self._opened_bytes += len(message)
                asked = steps.send(joined(asked, reply.shares, self._other))
                round_number += 1
        except StopIteration as end:
            result: T = end.value
            return result
        except InputError as error:
            raise type(error)(f"step {t}: {error}") from None

    def _engine(self, t: int, circuit: int) -> Steps[Server]:
        """This circuit's correlated randomness, which no other one will use."""
        recipe = self._recipes.by_circuit[circuit]
        pads = Pads(
            self._ciphers.of(self._memory.pad_key),
            recipe.pad_bytes(first=self._first),
            t=t,
            attempt=ATTEMPT,
            circuit=circuit,
        )
        if self._first:
            return Server(pads)
        if (t, circuit) not in self._corrections:
            yield from self._take_corrections(t + 1 if circuit == LEARN else t)
        return Server(pads, self._corrections.pop((t, circuit)))

    def _take_corrections(self, number: int) -> Steps[None]:
        """The dealer's next message; where it begins a batch the one after that is asked for."""
        recipes, following = self._recipes, number + self._batch
        if (number - 1) % self._batch == 0 and following <= recipes.messages:
            yield Send("dealer", More(place_of(following)))
        message: Corrections = yield Receive("dealer", Corrections)
        check_place(message, place_of(number), "dealer")
        parts = recipes.dealt_together(number)
        sizes = [recipes.by_circuit[circuit].correction_bytes for _, circuit in parts]
        check_size(message.shares, sum(sizes), "dealer", number)
        rest = memoryview(message.shares)
        for part, size in zip(parts, sizes, strict=True):
            self._corrections[part], rest = rest[:size], rest[size:]
