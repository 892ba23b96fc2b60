"""What one of two servers makes ahead of time: masks, shares of products, garbled circuits.

All of it is a function of its keys and of the columns that the other server has sent, so that a
server that is built again after a crash makes the same.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from lotor.core.effects import Receive, Send, Steps
from lotor.crypto.derivation import derive_key
from lotor.crypto.garbling import Garbled, Garbler, HashKeys, LabelSource, Place, Purpose
from lotor.crypto.ot import (
    ChosenBits,
    Delta,
    Labels,
    OfferedLabels,
    VectorChooser,
    VectorSender,
)
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import PadCipher, Pads, PreparedEngine, Values, Words
from lotor.protocols.dealerless.messages import Choices, OfferedWords, PreparedTables
from lotor.protocols.dealerless.schedule import (
    GarbledCircuit,
    PreparationSchedule,
    SharesCircuit,
    StepBatch,
    parts_of,
)
from lotor.protocols.garbled.evaluator import offer_transfers
from lotor.protocols.garbled.garbler import answer_transfers
from lotor.protocols.garbled.messages import PlacedGarbledMessage
from lotor.protocols.garbled.wire import batch_place, expect, received_from

Bits = NDArray[np.uint8]


class DealerlessKeys(msgspec.Struct):
    """The keys of one server, as its memory holds them.

    Masks, labels, delta and exponents of base transfers are derived from `own`. Both servers have
    `hash_key`, which is public, and `blind`; whoever brings inputs has their key, which the first
    server has, too. `pairs` and `seeds` come from base transfers: of those in which this server
    will choose, and of the others. `columns` are the other server's of the batch that was prepared
    last, which at a checkpoint is the one that begins.
    """

    own: bytes
    hash_key: bytes = b""
    blind: bytes = b""
    inputs: dict[str, bytes] = msgspec.field(default_factory=dict)
    pairs: bytes = b""
    seeds: bytes = b""
    columns: bytes = b""

    def __repr__(self) -> str:
        return "<DealerlessKeys>"

    @classmethod
    def fresh(cls, number: int) -> "DealerlessKeys":
        """What a server has before the run begins; the first one draws what both have."""
        if number == 0:
            return cls(new_key(), hash_key=new_key(), blind=new_key())
        return cls(new_key())

    def delta(self, run: str) -> Delta:
        """The difference between the two labels of a wire where this server garbles or offers."""
        return Delta.derive(derive_key(self.own, "transfers"), run)

    def transfer_seeds(self, number: int, other: str, run: str) -> Steps[None]:
        """Base transfers with the other server in both directions, the first server's first."""
        key = derive_key(self.own, "transfers")
        for chooser in (0, 1):
            name = f"{run} server {chooser} chooses"
            if chooser == number:
                self.pairs = yield from offer_transfers(other, key, name)
            else:
                self.seeds = yield from answer_transfers(other, key, name, self.delta(run))


class OwnBatch(NamedTuple):
    """What this server has drawn and chosen for a batch."""

    values: dict[int, Values]
    """Of each computation on shares, its masks."""
    chosen: ChosenBits

    def __repr__(self) -> str:
        return f"<OwnBatch {self.chosen.batch}>"


class OfferedBatch(NamedTuple):
    """What this server has made of the other's choices for a batch."""

    words: list[bytes]
    tables: list[bytes]
    shares: list[Words]
    own_labels: dict[int, Labels]
    """Of each garbled circuit, zero-labels of this server's bits, (rows, steps, 2)."""
    outputs: dict[int, Labels]
    """Of each garbled circuit, zero-labels of outputs, (..., steps, 2)."""

    def __repr__(self) -> str:
        return "<OfferedBatch>"


class ReadyBatch(NamedTuple):
    """All that the steps of a batch need."""

    batch: StepBatch
    shares: dict[int, list[Words]]
    """Of each computation, this server's shares of what it asks for, (steps, ...)."""
    offered: OfferedBatch
    labels: dict[int, Labels]
    """Of each garbled circuit that this server evaluates, labels of its bits, (rows, steps, 2)."""
    tables: dict[int, list[bytes]]
    """Of each of these, the garbled circuit of each step."""

    def __repr__(self) -> str:
        return f"<ReadyBatch {self.batch.number}>"


class Preparation:
    """Makes batch after batch with the other server: `choose`, `offer`, `send` and `take` each.

    `wires` gives the bits that this server brings as the evaluator of a garbled circuit in some
    steps, (rows, steps): they are functions of its keys.
    """

    def __init__(
        self,
        number: int,
        other: str,
        run: str,
        keys: DealerlessKeys,
        schedule: PreparationSchedule,
        wires: Callable[[GarbledCircuit, range], Bits],
    ) -> None:
        self._number, self._other, self._keys, self._schedule = number, other, keys, schedule
        self._wires = wires
        self.delta = keys.delta(run)
        self.hashes = HashKeys(keys.hash_key)
        # Transfers in which a server chooses are of the epoch that has its number.
        self._chooser = VectorChooser(keys.pairs, self.hashes, epoch=number)
        self._sender = VectorSender(keys.seeds, self.delta, self.hashes, epoch=1 - number)
        self._masks = PadCipher(derive_key(keys.own, "masks"))
        self._label_source = LabelSource(derive_key(keys.own, "labels"))
        self._garblers = {
            each.number: Garbler(each.circuit, self.delta, schedule.size)
            for each in schedule.garbled
        }
        self._own: dict[int, OwnBatch] = {}
        self._offered: dict[int, OfferedBatch] = {}
        self.garbled = self.hashed = 0

    def __repr__(self) -> str:
        return f"<Preparation of server {self._number}>"

    def choose(self, number: int, *, restored: bool = False) -> Steps[None]:
        """Draw the masks of a batch and exchange them as choices, if there is such a batch.

        A restored server has done that already, and draws the same again.
        """
        if number >= self._schedule.count:
            return
        batch, values = self._schedule.batch(number), dict[int, Values]()
        bits = []
        evaluates = batch.evaluator == self._number
        for circuit in self._schedule.shares:
            steps = batch.of(circuit)
            if steps:
                drawn = circuit.supply.drawn([self._pads(circuit, t) for t in steps])
                values[circuit.number] = drawn
                bits.append(circuit.supply.choices(drawn, evaluator=evaluates))
        for each, steps in self._schedule.layout(batch, self._number).garbled:
            bits.append(self._wires(each, steps).reshape(-1))
        columns, chosen = self._chooser.choose(number, np.concatenate(bits))
        self._own[number] = OwnBatch(values, chosen)
        if not restored:
            yield from self._send(Choices, number, _cut(columns))
            theirs = parts_of(self._schedule.layout(batch, 1 - self._number).column_bytes)
            self._keys.columns = b"".join((yield from self._receive(Choices, number, theirs)))

    def offer(self, number: int) -> None:
        """Answer the other server's choices: vectors under masks, and if it evaluates, circuits."""
        if number >= self._schedule.count:
            return
        batch = self._schedule.batch(number)
        layout = self._schedule.layout(batch, 1 - self._number)
        with received_from(self._other):
            rows = self._sender.rows(number, self._keys.columns, layout.rows)
        values, vectors = self._own[number].values, list[Words]()
        for circuit in self._schedule.shares:
            if circuit.number in values:
                vectors += circuit.supply.vectors(
                    values[circuit.number], evaluator=batch.evaluator != self._number
                )
        words, shares = self._sender.send(rows, layout.transfers, vectors)
        own_labels: dict[int, Labels] = {}
        outputs: dict[int, Labels] = {}
        tables: list[bytes] = []
        theirs = _wire_labels(layout.garbled, rows, layout.shares)
        for (each, steps), labels in zip(layout.garbled, theirs, strict=True):
            own = self._own_labels(each, number, len(steps))
            made = self._garble(each, steps, number, np.concatenate([labels, own]))
            tables += [part for table in made.tables for part in _cut(table.tobytes())]
            own_labels[each.number], outputs[each.number] = own, made.outputs
        self._offered[number] = OfferedBatch(words, tables, shares, own_labels, outputs)
        self.hashed += layout.hashes

    def send(self, number: int) -> Steps[None]:
        """Right before the checkpoint behind which the other server takes it."""
        if number < self._schedule.count:
            offered = self._offered[number]
            yield from self._send(OfferedWords, number, offered.words)
            yield from self._send(PreparedTables, number, offered.tables)

    def take(self, number: int) -> Steps[ReadyBatch]:
        """What the other server has offered for a batch, which makes it complete."""
        batch = self._schedule.batch(number)
        layout = self._schedule.layout(batch, self._number)
        own, offered = self._own.pop(number), self._offered.pop(number)
        words = yield from self._receive(OfferedWords, number, layout.word_parts)
        with received_from(self._other):
            chosen = self._chooser.receive(own.chosen, layout.transfers, words)
        shares: dict[int, list[Words]] = {}
        at = [0, 0]
        evaluates = batch.evaluator == self._number
        for circuit in self._schedule.shares:
            steps = batch.of(circuit)
            if steps:
                found = []
                for place, role in ((0, evaluates), (1, not evaluates)):
                    count = len(circuit.supply.transfers(len(steps), 0, evaluator=role))
                    found.append(slice(at[place], at[place] + count))
                    at[place] += count
                shares[circuit.number] = circuit.supply.shares(
                    own.values[circuit.number],
                    chosen[found[0]],
                    offered.shares[found[1]],
                    evaluator=evaluates,
                )
        labels = dict(
            zip(
                (each.number for each, _ in layout.garbled),
                _wire_labels(layout.garbled, own.chosen, layout.shares),
                strict=True,
            )
        )
        received = iter((yield from self._receive(PreparedTables, number, layout.table_parts)))
        tables = {
            each.number: [
                b"".join(islice(received, len(parts_of(each.circuit.table_bytes)))) for _ in steps
            ]
            for each, steps in layout.garbled
        }
        return ReadyBatch(batch, shares, offered, labels, tables)

    def engine(self, ready: ReadyBatch, circuit: SharesCircuit, t: int) -> PreparedEngine:
        """What a computation of step t uses up."""
        at = t - ready.batch.of(circuit).start
        shares = [each[at] for each in ready.shares[circuit.number]]
        return PreparedEngine(self._pads(circuit, t), shares, first=self._number == 0)

    def _pads(self, circuit: SharesCircuit, t: int) -> Pads:
        size = circuit.recipe.uniform_bytes
        return Pads(self._masks, size, t=t, attempt=0, circuit=circuit.number)

    def _own_labels(self, each: GarbledCircuit, number: int, count: int) -> Labels:
        """Zero-labels of this server's bits where it garbles, (rows, steps, 2)."""
        shape = each.own_rows, count
        return self._label_source.zeros(1 - self._number, each.number, number, shape)

    def _garble(self, each: GarbledCircuit, steps: range, number: int, zeros: Labels) -> Garbled:
        epoch = 1 - self._number
        key = self.hashes.of(epoch, number, Purpose.GARBLING)
        place = Place(epoch, each.number, steps.start)
        self.garbled += len(steps) * each.circuit.ands
        return self._garblers[each.number].garble(key, place, *wires_of(each, zeros))

    def _send(
        self,
        kind: Callable[[bytes, bytes], PlacedGarbledMessage],
        number: int,
        parts: Sequence[bytes],
    ) -> Steps[None]:
        for place, part in enumerate(parts):
            yield Send(self._other, kind(batch_place(number, place), part))

    def _receive(
        self, kind: type[PlacedGarbledMessage], number: int, sizes: Sequence[int]
    ) -> Steps[list[bytes]]:
        (_, field), found = kind.__struct_fields__, []
        for place, size in enumerate(sizes):
            message = yield Receive(self._other, kind)
            expect(message, batch_place(number, place), self._other, **{field: size})
            found.append(getattr(message, field))
        return found


def _cut(data: bytes) -> list[bytes]:
    ends = list(accumulate(parts_of(len(data))))
    return [data[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def wires_of(each: GarbledCircuit, labels: Labels) -> list[Labels]:
    """The labels of each input, (bits, places, steps, 2), from those of all rows."""
    found, at = [], 0
    for bits, places in each.circuit.inputs:
        rows = labels[at : at + bits * places]
        found.append(rows.reshape(bits, places, *labels.shape[1:]))
        at += bits * places
    return found


def _wire_labels(
    garbled: Sequence[tuple[GarbledCircuit, range]], rows: ChosenBits | OfferedLabels, first: int
) -> Iterator[Labels]:
    """The evaluator's wires of each circuit, (rows, steps, 2); they follow all other rows."""
    for each, steps in garbled:
        size = each.chosen_rows * len(steps)
        yield rows.labels[first : first + size].reshape(each.chosen_rows, len(steps), 2)
        first += size
