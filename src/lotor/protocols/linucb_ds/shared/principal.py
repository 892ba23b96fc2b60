"""P in the shared form: evaluates garbled argmaxes of scores of which it knows one share only."""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from lotor.core.draws import Words
from lotor.core.effects import BeginRound, Checkpoint, Once, Receive, Send, Steps
from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.bfv import NUMBER_BYTES, ProductMaker
from lotor.crypto.garbling import HashKeys
from lotor.crypto.one_use import OneUse
from lotor.crypto.ot import ProductChooser
from lotor.protocols.garbled.evaluator import EvaluatorState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.reading import ReadingSide
from lotor.protocols.garbled.schedule import BatchSize
from lotor.protocols.garbled.wire import batch_place, expect, received_from
from lotor.protocols.linucb_ds.game import LinearGame, LinearPrincipalMemory, ScoreRows
from lotor.protocols.linucb_ds.principal import LinearPrincipal
from lotor.protocols.linucb_ds.relay import hand_out_terms, take_order
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
from lotor.protocols.linucb_ds.shared.pads import MASK, CircuitShares, ProductPads
from lotor.protocols.linucb_ds.shared.schedule import (
    COORDINATES_TOGETHER,
    SUM_EPOCH,
    TOTAL_MODULUS,
    RoundSchedule,
    size_of,
)
from lotor.protocols.linucb_ds.shared.terms import LinUCBSharedTerms
from lotor.protocols.linucb_ds.shared.wire import round_place
from lotor.protocols.linucb_ds.theta.handing_out import in_scores, in_total, relay_model
from lotor.protocols.linucb_ds.theta.messages import ModelShare
from lotor.protocols.linucb_ds.theta.shares import to_bytes
from lotor.protocols.linucb_ds.theta.total_shares import SealedTotalShare, TotalShares
from lotor.protocols.store import Store

PRODUCTS, CIRCUITS = "pads of products", "shares in circuits"


class LinUCBSharedPrincipalMemory(LinearPrincipalMemory, tag=WIRE + "principal", kw_only=True):
    """`received` names Comp's BFV key and its encrypted share of theta in the store.

    `products` is the message of the batch of products that begins: a second one with other noise
    must never leave.
    """

    terms: LinUCBSharedTerms | None = None
    model: ModelShare | None = None
    circuits: EvaluatorState = msgspec.field(default_factory=EvaluatorState.fresh)
    size: BatchSize | None = None
    received: tuple[str, ...] = ()
    products: bytes = b""


class LinUCBSharedPrincipal(LinearPrincipal[LinUCBSharedPrincipalMemory]):
    """Steps 1 to 5, 7 and 9."""

    memory_kind = LinUCBSharedPrincipalMemory
    own_keys = (PRODUCTS, CIRCUITS)

    def __init__(
        self,
        run: str,
        store: Store,
        **given: Any,
    ) -> None:
        super().__init__(run, **given)
        self._store = store
        self._side: ReadingSide | None = None
        self._batches = 0

    def operations(self) -> Mapping[str, int]:
        return {
            "evaluated_and_gates": self._side.evaluated if self._side else 0,
            "bfv_messages": self._batches,
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        begun = bool(memory.circuits.seed_pairs)
        if memory.model is None:
            yield Checkpoint(memory.dump)
            yield from self._take_model()
        if not begun:
            yield from self._receive_coordinates(_model(memory).d)
            yield from memory.circuits.set_up("comp", memory.run)
        self.game = game = LinearGame(memory, self._noise, self._first)
        schedule = _schedule(memory, game)
        chosen = CircuitShares(memory.keys[CIRCUITS], schedule.k)
        self._side = side = ReadingSide(memory.circuits, schedule, chosen.choices)
        if memory.t == 0:
            yield from game.begin()  # step 3
        yield from side.begin("comp", restored=begun)
        yield from self._rounds(game, side, schedule, _Shares(memory, game, chosen, self._store))
        yield from self._total(game)
        self._keep(game)

    def _take_model(self) -> Steps[None]:
        memory = self._memory
        terms, order = yield from take_order(  # step 1
            LinUCBSharedTerms, memory.run, self._order, (*LinUCBSharedTerms.holders, "owner")
        )
        yield from hand_out_terms(order, terms.parties)
        model = yield from relay_model(terms)
        key: ProductPublicKey = yield Receive("comp", ProductPublicKey)  # step 2
        memory.received = (self._store.keep(key.public),)
        memory.size = size_of(model.k, model.d)
        memory.terms, memory.model = terms, model

    def _receive_coordinates(self, d: int) -> Steps[None]:
        """Comp's share of theta, encrypted, in windows: all of it is more than a connection holds.

        Each window is on the disk, and was tried, before the next one is asked for.
        """
        memory = self._memory
        while True:
            yield Checkpoint(memory.dump, durable=True)
            public, *before = memory.received
            if len(before) == d:
                return
            some = []
            yield Send("comp", CoordinatesWanted(batch_place(len(before))))
            for j in range(len(before), min(len(before) + COORDINATES_TOGETHER, d)):
                message: EncryptedCoordinate = yield Receive("comp", EncryptedCoordinate)
                expect(message, batch_place(j), "comp")
                if len(message.coordinate) != NUMBER_BYTES:
                    raise ProtocolError(
                        f"comp sent {len(message.coordinate)} bytes as an encrypted number, which "
                        f"always has {NUMBER_BYTES}: it runs another version; start a new run"
                    )
                some.append(message.coordinate)
            with received_from("comp"):
                ProductMaker(self._store.fetch(public), some)
            memory.received += tuple(self._store.keep(data) for data in some)

    def _rounds(
        self, game: LinearGame, side: ReadingSide, schedule: RoundSchedule, shares: "_Shares"
    ) -> Steps[None]:
        memory = self._memory
        for number in range(memory.circuits.batch, schedule.count):
            memory.circuits.batch = number
            begins, batch = schedule.begins_products(number), schedule.product_batch(number)
            if begins and not memory.products:
                memory.products = shares.message(batch)
                self._batches += 1
            # The same U and V in other noise would tell Comp more of them.
            yield Checkpoint(game.snapshot, game.round(memory.t), durable=begins)
            if begins:
                yield Send("comp", ProductBatch(batch_place(batch), memory.products))  # step 4
            memory.products = b""
            yield from side.receive_tables("comp", number)
            turns = schedule.batch(number).turns
            for turn in turns:
                yield BeginRound(game.round(turn + 2))
                rows = game.rows(turn + 1)
                covered = shares.covered(turn, rows, schedule)
                yield Once(covered.place + covered.rows + covered.shares)
                yield Send("comp", covered)  # step 5
                if turn == turns[0]:
                    yield from side.choose_next("comp", number)
                    if schedule.begins_products(number + 1) and number + 1 < schedule.count:
                        shares.prepare(batch + 1)
                answer: InputLabels = yield Receive("comp", InputLabels)  # step 6
                expect(answer, covered.place, "comp", labels=schedule.label_bytes)
                position = side.position(turn, answer.labels, "comp")
                yield from game.pull(turn + 2, int(rows.sigma[position]))
            side.forget(number)
        memory.circuits.batch = schedule.count

    def _total(self, game: LinearGame) -> Steps[None]:
        """s = <theta, A> + noise for the sum A of the pulled arms: P's share, and Comp's sealed."""
        memory, terms = self._memory, _terms(self._memory)
        yield Checkpoint(game.snapshot, game.round(memory.t))
        arms, state = game.rewards.arms, memory.circuits
        chooser = ProductChooser(state.seed_pairs, HashKeys(state.hash_key), epoch=SUM_EPOCH)
        columns, chosen = chooser.choose(0, TOTAL_MODULUS, TOTAL_MODULUS.residues([arms]))
        # Other choices under the same streams would tell Comp their difference.
        yield Once(columns)
        place = round_place(terms.places)
        yield Send("comp", SumColumns(place, columns))  # step 7
        words: SumWords = yield Receive("comp", SumWords)  # step 8
        expect(words, place, "comp")
        with received_from("comp"):
            product = int(TOTAL_MODULUS.whole(chooser.receive(chosen, words.words, 1))[0, 0])
        own = sum(a * b for a, b in zip(arms, in_total(_model(memory), terms), strict=True))
        share = (product + own + game.rewards.noise) % terms.total_modulus
        theirs: SealedTotalShare = yield Receive("comp", SealedTotalShare)
        layout = game.layout
        data = to_bytes([share], terms.total_modulus)
        yield Send("customer", TotalShares(data, theirs, layout.L, layout.k, layout.d))  # step 9


class _Shares:
    """P's share of theta, and what it draws for each batch of products."""

    def __init__(
        self,
        memory: LinUCBSharedPrincipalMemory,
        game: LinearGame,
        chosen: CircuitShares,
        store: Store,
    ) -> None:
        self._theta: Words = np.array(in_scores(_model(memory), _terms(memory)), np.uint64)
        self._chosen = chosen
        self._pads = ProductPads(memory.keys[PRODUCTS], game.layout.d)
        self._names, self._store = memory.received, store
        self._maker: ProductMaker | None = None
        self._drawn: dict[int, tuple[Words, Words]] = {}
        self._prepared: dict[int, bytes] = {}
        self._uses = OneUse("the rows of round", "the difference of two rows")

    def message(self, batch: int) -> bytes:
        """U·b + V for Comp, which is made once for each batch."""
        self.prepare(batch)
        return self._prepared.pop(batch)

    def prepare(self, batch: int) -> None:
        """Make the message of a batch while nothing else is to be done."""
        if batch not in self._prepared:
            if self._maker is None:
                public, *coordinates = (self._store.fetch(name) for name in self._names)
                self._maker = ProductMaker(public, coordinates)
            self._prepared[batch] = self._maker.message(*self._pads.of(batch))

    def covered(self, turn: int, rows: ScoreRows, schedule: RoundSchedule) -> CoveredRows:
        """u - U, and P's share <u, a> + c - V of each score less the one in the circuit."""
        batch, slots = schedule.product_place(turn)
        if batch not in self._drawn:
            self._drawn = {batch: self._pads.of(batch)}
        pads, v = self._drawn[batch]
        u = np.ascontiguousarray(rows.u).view(np.uint64)
        covered = ((u - pads[:, slots].T) & MASK).tobytes()
        share = u @ self._theta + np.array(rows.addends, np.uint64) - v[slots]
        moved = ((share - self._chosen.of(turn)) & MASK).tobytes()
        self._uses.take((turn,), covered + moved)
        return CoveredRows(round_place(turn + 1), covered, moved)


def _schedule(memory: LinUCBSharedPrincipalMemory, game: LinearGame) -> RoundSchedule:
    size = memory.size
    if size is None:
        raise InputError("P has no model yet: set it up first")
    try:
        return RoundSchedule(game.layout.k, game.layout.d, game.terms.places, size)
    except InputError as error:
        raise ProtocolError(f"customer ordered too much: {error}") from None


def _terms(memory: LinUCBSharedPrincipalMemory) -> LinUCBSharedTerms:
    if memory.terms is None:
        raise InputError("P has no terms yet: set it up first")
    return memory.terms


def _model(memory: LinUCBSharedPrincipalMemory) -> ModelShare:
    if memory.model is None:
        raise InputError("P has no model yet: set it up first")
    return memory.model
