"""Comp in the shared form: garbles argmaxes of scores, and learns nothing of them."""

from collections.abc import Mapping

import numpy as np

from lotor.core.draws import Words
from lotor.core.effects import Checkpoint, Once, Receive, Send, Steps
from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.bfv import ProductKey
from lotor.crypto.garbling import HashKeys, bits_of
from lotor.crypto.ot import TRANSFERS, ProductSender
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.protocols.garbled.garbler import GarblerState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.reading import TellingSide
from lotor.protocols.garbled.schedule import BatchSize
from lotor.protocols.garbled.wire import batch_place, expect, received_from
from lotor.protocols.linucb_ds.messages import LinUCBSetup
from lotor.protocols.linucb_ds.shared.messages import (
    WIRE,
    CoordinatesWanted,
    CoveredRows,
    EncryptedCoordinate,
    ProductBatch,
    ProductPublicKey,
    SumColumns,
    SumWords,
)
from lotor.protocols.linucb_ds.shared.pads import MASK
from lotor.protocols.linucb_ds.shared.schedule import (
    COORDINATES_TOGETHER,
    SCORE_BITS,
    SUM_EPOCH,
    TOTAL_MODULUS,
    RoundSchedule,
    size_of,
)
from lotor.protocols.linucb_ds.shared.terms import LinUCBSharedTerms
from lotor.protocols.linucb_ds.shared.wire import round_place, row_bytes, share_bytes
from lotor.protocols.linucb_ds.terms import accept
from lotor.protocols.linucb_ds.theta.handing_out import ThetaHolding, hold
from lotor.protocols.linucb_ds.theta.total_shares import send_sealed
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.store import Store


class LinUCBSharedCompMemory(Memory, tag=WIRE + "comp", kw_only=True):
    """`product_key` names Comp's BFV key in the store; `products` are the Y of the batch of
    products that is in use."""

    sealing_key: bytes
    product_key: str
    circuits: GarblerState
    terms: LinUCBSharedTerms | None = None
    holding: ThetaHolding | None = None
    size: BatchSize | None = None
    products: bytes = b""


class LinUCBSharedComp(Party):
    """Steps 2, 4, 6 and 8."""

    def __init__(
        self,
        identity: Identity,
        run: str,
        store: Store,
        *,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._identity = identity
        self._order = order
        self._side: TellingSide | None = None
        self._transfers = 0
        if snapshot is None:
            self._key = ProductKey.generate()
            self._memory = LinUCBSharedCompMemory(
                party=identity.name,
                run=run,
                sealing_key=SealingKey().private_bytes(),
                product_key=store.keep(self._key.to_bytes()),
                circuits=GarblerState.fresh(),
            )
        else:
            self._memory = restored(LinUCBSharedCompMemory, snapshot, identity.name, run)
            self._key = ProductKey.from_bytes(store.fetch(self._memory.product_key))

    def operations(self) -> Mapping[str, int]:
        return {
            "garbled_and_gates": self._side.garbled if self._side else 0,
            "base_transfers": self._transfers,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        begun = memory.holding is not None
        if not begun:
            yield Checkpoint(memory.dump)
            yield from self._set_up()
        terms, holding, schedule = agreed(memory)
        self._side = side = TellingSide(memory.circuits, memory.run, schedule)
        if begun:
            side.restore()
        else:
            yield from side.begin("principal")
        yield from self._rounds(terms, holding, side, schedule)
        yield from self._total(terms, holding)

    def _set_up(self) -> Steps[None]:
        memory = self._memory
        setup: LinUCBSetup = yield Receive("principal", LinUCBSetup)  # step 1
        terms = accept(LinUCBSharedTerms, setup, self._identity, memory.run, self._order)
        holding = yield from hold(terms, self._identity, SealingKey(memory.sealing_key))
        memory.size = size_of(holding.k, holding.d)
        yield Send("principal", ProductPublicKey(self._key.public))  # step 2
        theta = _share(terms, holding)
        for j in range(0, holding.d, COORDINATES_TOGETHER):
            wanted: CoordinatesWanted = yield Receive("principal", CoordinatesWanted)
            expect(wanted, batch_place(j), "principal")
            some = self._key.encrypted(theta[j : j + COORDINATES_TOGETHER])
            for number, coordinate in enumerate(some, start=j):
                yield Send("principal", EncryptedCoordinate(batch_place(number), coordinate))
        yield from memory.circuits.set_up("principal", memory.run)
        self._transfers += TRANSFERS
        memory.terms, memory.holding, memory.sealing_key = terms, holding, b""

    def _rounds(
        self,
        terms: LinUCBSharedTerms,
        holding: ThetaHolding,
        side: TellingSide,
        schedule: RoundSchedule,
    ) -> Steps[None]:
        memory, k, d = self._memory, holding.k, holding.d
        theta = _share(terms, holding)
        sizes = {"rows": row_bytes(k, d), "shares": share_bytes(k)}
        for number in range(memory.circuits.batch, schedule.count):
            turns = schedule.batch(number).turns
            memory.circuits.batch, memory.t = number, turns[0] + 1
            yield Checkpoint(memory.dump, memory.t)
            if schedule.begins_products(number):
                memory.products = yield from self._products(schedule.product_batch(number))
            products = np.frombuffer(memory.products, "<u8")
            for turn in turns:
                given: CoveredRows = yield Receive("principal", CoveredRows)  # step 5
                expect(given, round_place(turn + 1), "principal", **sizes)
                # The labels of two inputs at one place would give P delta, and so theta.
                yield Once(given.place + given.rows + given.shares)
                rows = np.frombuffer(given.rows, "<u8").reshape(k, d)
                share = rows @ theta + products[schedule.product_place(turn).slots]
                share += np.frombuffer(given.shares, "<u8")
                labels = side.labels(turn, bits_of(share & MASK, SCORE_BITS))
                yield Send("principal", InputLabels(given.place, labels))  # step 6
                # While P evaluates: the next batch.
                if turn == turns[0]:
                    yield from side.garble_next("principal", number + 1)
                if turn == turns[-1]:
                    yield from side.send_tables("principal", number + 1)
        memory.circuits.batch, memory.t = schedule.count, terms.places

    def _products(self, batch: int) -> Steps[bytes]:
        """Y = U·b + V of the rounds of a batch."""
        message: ProductBatch = yield Receive("principal", ProductBatch)  # step 4
        expect(message, batch_place(batch), "principal")
        with received_from("principal"):
            return self._key.read(message.products).astype("<u8").tobytes()

    def _total(self, terms: LinUCBSharedTerms, holding: ThetaHolding) -> Steps[None]:
        memory, state = self._memory, self._memory.circuits
        yield Checkpoint(memory.dump, memory.t)
        message: SumColumns = yield Receive("principal", SumColumns)  # step 7
        expect(message, round_place(terms.places), "principal")
        # Words for two sets of choices would give theta's share away.
        yield Once(message.columns)
        sender = ProductSender(
            state.seeds, state.delta(memory.run), HashKeys(state.hash_key), epoch=SUM_EPOCH
        )
        with received_from("principal"):
            rows = sender.rows(0, TOTAL_MODULUS, message.columns, (1, holding.d))
        vectors = TOTAL_MODULUS.residues(holding.in_total(terms))[np.newaxis, :, np.newaxis]
        words, share = sender.send(rows, vectors)
        yield Send("principal", SumWords(message.place, words))  # step 8
        total = int(TOTAL_MODULUS.whole(share)[0, 0])
        yield from send_sealed(terms, self._identity, terms.customer_key, total)


def _share(terms: LinUCBSharedTerms, holding: ThetaHolding) -> Words:
    """Comp's share of theta in scores."""
    return np.array(holding.in_scores(terms), np.uint64)


def agreed(
    memory: LinUCBSharedCompMemory,
) -> tuple[LinUCBSharedTerms, ThetaHolding, RoundSchedule]:
    """What Comp has agreed to in the set-up, and the rounds that follow from it."""
    terms, holding, size = memory.terms, memory.holding, memory.size
    if terms is None or holding is None or size is None:
        raise InputError("Comp has no share of theta yet: set it up first")
    try:
        return terms, holding, RoundSchedule(holding.k, holding.d, terms.places, size)
    except InputError as error:
        raise ProtocolError(f"customer ordered too much: {error}") from None
