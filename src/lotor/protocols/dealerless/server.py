"""One of two servers without a dealer: its circuits, the inputs it takes, what it tells the other.

All that a step opens is a function of the server's keys, of inputs and of what the other server
opens, which is the same of its. A protocol must have its own state and a step's inputs announced
(`Once`) before it computes on them, at both servers: then the same values are opened again after a
crash, whatever crashes, or the run ends.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from struct import Struct
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lotor.core.effects import Once, Receive, Send, Steps
from lotor.core.errors import CryptoError, InputError
from lotor.crypto.garbling import (
    Evaluator,
    InputOrder,
    OutputCodes,
    OutputSigns,
    Place,
    Purpose,
    chosen,
    codes_of,
    colours,
    read_labels,
    signs_of,
)
from lotor.crypto.ot import LABEL_BYTES, TRANSFERS, Labels
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    OpeningShare,
    PadCiphers,
    Shared,
    Words,
    joined,
    to_message,
)
from lotor.protocols.dealerless.messages import CommonKeys, Differences
from lotor.protocols.dealerless.messages import Labels as SentLabels
from lotor.protocols.dealerless.preparation import (
    Bits,
    DealerlessKeys,
    Preparation,
    ReadyBatch,
    wires_of,
)
from lotor.protocols.dealerless.schedule import (
    GarbledCircuit,
    PreparationSchedule,
    SharesCircuit,
)
from lotor.protocols.garbled.wire import expect, received_from
from lotor.protocols.garbled.wire import key_from as garbled_key_from
from lotor.protocols.two_server.checks import (
    check_agreed,
    check_place,
    key_from,
    place_of,
    words_from,
)
from lotor.protocols.two_server.masks import MaskOrder, input_mask, reshared
from lotor.protocols.two_server.messages import Agreed, InputKey, Opened, PlacedShares
from lotor.protocols.two_server.schedule import ServerSeats

T = TypeVar("T")
_TURN = Struct(">QB")


class GarbledExchange(list[OpeningShare]):
    """What a circuit yields where it needs more than an opening: it opens nothing, and gets, as its
    only value, what these steps return."""

    def __init__(self, steps: Callable[[], Steps[Any]]) -> None:
        super().__init__()
        self.steps = steps


class GarbledTurn(NamedTuple):
    """A garbled circuit in one step."""

    t: int
    each: GarbledCircuit

    @property
    def place(self) -> bytes:
        return _TURN.pack(self.t, self.each.number)


class DealerlessServer:
    """Server `number` (0 or 1) of a run: a protocol's server role has one.

    `keys` belong to the role's memory, which is written down by the role; `set_up` fills them in.
    """

    def __init__(
        self,
        number: int,
        seats: ServerSeats,
        run: str,
        schedule: PreparationSchedule,
        keys: DealerlessKeys,
    ) -> None:
        self.number, self.first = number, number == 0
        self.schedule = schedule
        self.other, self._run, self._keys = seats[1 - number], run, keys
        self._ciphers = PadCiphers()
        self._evaluators = {each.number: Evaluator(each.circuit) for each in schedule.garbled}
        self._computed, self._inputs = MaskOrder("circuit"), InputOrder()
        self._preparation: Preparation | None = None
        self._ready: ReadyBatch | None = None
        self._rounds = self._opened_bytes = self._evaluated = self._transfers = 0

    def __repr__(self) -> str:
        return f"<DealerlessServer {'first' if self.first else 'second'}>"

    def operations(self) -> Mapping[str, int]:
        made = self._preparation
        return {
            # Rounds are the same at both servers, and are counted once.
            **({"rounds": self._rounds} if self.first else {}),
            "opened_bytes": self._opened_bytes,
            "base_transfers": self._transfers,
            "product_hashes": 0 if made is None else made.hashed,
            "garbled_and_gates": 0 if made is None else made.garbled,
            "evaluated_and_gates": self._evaluated,
        }

    def set_up(
        self, digest: bytes, *, readers: Iterable[str], sources: Iterable[str]
    ) -> Steps[None]:
        """Make sure that everybody keeps the same terms, and take the keys of the run.

        `readers` bring no inputs, and `sources` do.
        """
        keys, other = self._keys, self.other
        if self.first:
            yield Send(other, CommonKeys(digest, keys.hash_key, keys.blind))
            yield from self._hear_agreed(other, digest)
        else:
            common: CommonKeys = yield Receive(other, CommonKeys)
            check_agreed(Agreed(common.digest), digest, other)
            keys.hash_key = garbled_key_from(common.hash_key, other)
            keys.blind = garbled_key_from(common.blind_key, other)
            yield Send(other, Agreed(digest))
        for name in readers:
            yield from self._hear_agreed(name, digest)
        for name in sources:
            if self.first:
                given: InputKey = yield Receive(name, InputKey)
                keys.inputs[name] = key_from(given, digest, name)
            else:
                yield from self._hear_agreed(name, digest)
        yield from keys.transfer_seeds(self.number, other, self._run)
        self._transfers += TRANSFERS

    @staticmethod
    def _hear_agreed(name: str, digest: bytes) -> Steps[None]:
        agreed: Agreed = yield Receive(name, Agreed)
        check_agreed(agreed, digest, name)

    def begin(
        self,
        number: int,
        wires: Callable[[GarbledCircuit, range], Bits],
        *,
        restored: bool,
    ) -> Steps[None]:
        """Prepare the first batch, or make again what a restored server had made for its batch."""
        self._preparation = made = Preparation(
            self.number, self.other, self._run, self._keys, self.schedule, wires
        )
        yield from made.choose(number, restored=restored)
        made.offer(number)
        if not restored:
            yield from made.send(number)

    def open_batch(self, number: int) -> Steps[None]:
        """Take what the other server has made for a batch; right after a checkpoint."""
        self._ready = yield from self._made.take(number)

    # The next batch is prepared within the first step of this one, where nobody waits for it.

    def choose_next(self, t: int) -> Steps[None]:
        """As soon as the arm is known."""
        if t == self._now.batch.steps.start:
            yield from self._made.choose(self._now.batch.number + 1)

    def offer_next(self, t: int) -> None:
        """While the arm is pulled."""
        if t == self._now.batch.steps.start:
            self._made.offer(self._now.batch.number + 1)

    def close_batch(self) -> Steps[None]:
        """Send what was made for the next batch; right before a checkpoint."""
        yield from self._made.send(self._now.batch.number + 1)

    @property
    def _made(self) -> Preparation:
        if self._preparation is None:
            raise CryptoError("nothing is prepared before the first batch begins")
        return self._preparation

    @property
    def _now(self) -> ReadyBatch:
        if self._ready is None:
            raise CryptoError("no batch has been opened: open one before its first step")
        return self._ready

    def take_input(self, name: str, kind: type[PlacedShares], t: int, count: int) -> Steps[Words]:
        """This server's share of so many words that a party brings in step t."""
        if self.first:
            return input_mask(self._ciphers.of(self._keys.inputs[name]), t, count)
        message: PlacedShares = yield Receive(name, kind)
        check_place(message, place_of(t), name)
        return words_from(message.shares, count, name, t)

    def reshared(self, kept: Shared) -> Shared:
        """The same value in shares that are fresh."""
        return reshared(self._ciphers.of(self._keys.blind), kept)

    def computation(self, t: int, circuit: SharesCircuit) -> "Computation":
        """Begin a computation of step t, whose randomness nothing else uses."""
        if t not in self._now.batch.of(circuit):
            raise CryptoError(
                f"circuit {circuit.number} is not due in step {t}, and nothing is made for it: it "
                f"is computed in steps {circuit.first} to {circuit.last}"
            )
        self._computed.take(t, circuit.number)
        return Computation(self, t, circuit, self._made.engine(self._now, circuit, t))

    def exchanged(self, place: bytes, message: bytes) -> Steps[bytes]:
        """Send this server's part of what both open, and take the other's."""
        yield Send(self.other, Opened(place, message))
        reply: Opened = yield Receive(self.other, Opened)
        check_place(reply, place, self.other)
        self._rounds += 1
        self._opened_bytes += len(message)
        return reply.shares

    # A garbled circuit takes two messages. The evaluator has chosen random numbers ahead, and says
    # how far its shares are from these; the garbler adds that to its own, and sends their labels.

    def garbles(self, t: int) -> bool:
        return self.schedule.of(t).evaluator != self.number

    def receive_differences(self, turn: GarbledTurn, count: int) -> Steps[Words]:
        """The garbler: how far the evaluator's shares are from what it chose."""
        told: Differences = yield Receive(self.other, Differences)
        expect(told, turn.place, self.other, words=8 * count)
        self._rounds += 1
        return np.frombuffer(told.words, "<u8").astype(np.uint64)

    def send_labels(self, turn: GarbledTurn, bits: Bits, readable: slice) -> Steps[Labels]:
        """The garbler: labels of its bits, and how to read some outputs.

        Hands back the zero-labels of all outputs.
        """
        offered, at = self._now.offered, self._at(turn)
        number = turn.each.number
        packed = np.packbits(bits).tobytes()
        # The labels of two inputs at one place would give the evaluator delta, and so everything.
        yield Once(turn.place + sha256(packed).digest())
        self._inputs.take(self._place(turn), packed)
        sent = chosen(offered.own_labels[number][:, at], bits, self._made.delta)
        outputs = offered.outputs[number][:, at : at + 1]
        told = np.packbits(colours(outputs[readable]).reshape(-1)).tobytes()
        yield Send(self.other, SentLabels(turn.place, sent.tobytes(), told))
        self._rounds += 1
        return outputs

    def evaluate(
        self, turn: GarbledTurn, differences: Words, readable: int
    ) -> Steps[tuple[Labels, Bits]]:
        """The evaluator: labels of all outputs, (outputs, 1, 2), and so many colours told to it."""
        words = differences.astype("<u8").tobytes()
        yield Send(self.other, Differences(turn.place, words))
        self._opened_bytes += len(words)
        self._rounds += 1
        answer: SentLabels = yield Receive(self.other, SentLabels)
        self._rounds += 1
        sizes = {"labels": LABEL_BYTES * turn.each.own_rows, "colours": -(-readable // 8)}
        expect(answer, turn.place, self.other, **sizes)
        at, number = self._at(turn), turn.each.number
        own = self._now.labels[number][:, at : at + 1]
        theirs = read_labels(answer.labels, (turn.each.own_rows, 1))
        inputs = wires_of(turn.each, np.concatenate([own, theirs]))
        key = self._made.hashes.of(self.number, self._now.batch.number, Purpose.GARBLING)
        with received_from(self.other):
            found = self._evaluators[number].evaluate(
                key, self._place(turn), self._now.tables[number][at], *inputs
            )
        self._evaluated += turn.each.circuit.ands
        told = np.frombuffer(answer.colours, np.uint8)
        return found, np.unpackbits(told, count=readable)

    def codes(self, turn: GarbledTurn, outputs: Labels) -> OutputCodes:
        """The garbler's part of outputs that a third party reads."""
        key = self._made.hashes.of(1 - self.number, self._now.batch.number, Purpose.OUTPUTS)
        return codes_of(key, self._place(turn), outputs, self._made.delta)

    def signs(self, turn: GarbledTurn, outputs: Labels) -> OutputSigns:
        """The evaluator's part of them."""
        key = self._made.hashes.of(self.number, self._now.batch.number, Purpose.OUTPUTS)
        return signs_of(key, self._place(turn), outputs)

    def _at(self, turn: GarbledTurn) -> int:
        return turn.t - self._now.batch.of(turn.each).start

    def _place(self, turn: GarbledTurn) -> Place:
        """The epoch is the evaluator's number, as where its bits were chosen."""
        return Place(self._now.batch.evaluator, turn.each.number, turn.t)


class Computation:
    """A computation of one step, which may be carried out in several parts."""

    def __init__(
        self, server: DealerlessServer, t: int, circuit: SharesCircuit, engine: Engine
    ) -> None:
        self._server, self._t, self._circuit = server, t, circuit
        self.engine = engine
        self._round = 0

    def run(self, circuit: Circuit[T]) -> Steps[T]:
        """Round by round with the other server; a result is this server's share."""
        try:
            asked = next(circuit)
            while True:
                if isinstance(asked, GarbledExchange):
                    asked = circuit.send([(yield from asked.steps())])
                    continue
                place = place_of(self._t, self._circuit.number, self._round)
                reply = yield from self._server.exchanged(place, to_message(asked))
                self._round += 1
                asked = circuit.send(joined(asked, reply, self._server.other))
        except StopIteration as end:
            result: T = end.value
            return result
        except InputError as error:
            raise type(error)(f"step {self._t}: {error}") from None
