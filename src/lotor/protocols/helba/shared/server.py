"""The server of the shared form: sums what it cannot read, and garbles the choice of an arm."""

from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from lotor.core.effects import Checkpoint, Once, Receive, Send, Steps
from lotor.crypto.garbling import HashKeys
from lotor.crypto.ot import TRANSFERS, ChosenRows, ProductChooser
from lotor.crypto.prf import new_key
from lotor.crypto.residues import Residues
from lotor.protocols.garbled.evaluator import offer_transfers
from lotor.protocols.garbled.garbler import GarblerState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.reading import TellingSide
from lotor.protocols.garbled.wire import expect, received_from
from lotor.protocols.helba.shared.algebra import HidingMatrix
from lotor.protocols.helba.shared.calls import chosen_rows, received_shares
from lotor.protocols.helba.shared.messages import (
    WIRE,
    ContextWords,
    CoveredEstimate,
    CoveredShares,
    CoveredUpdate,
    EstimateWords,
    ProductColumns,
    SealedUsersKeys,
    UsersKeyOffer,
)
from lotor.protocols.helba.shared.setting import (
    WORD_BYTES,
    HelbaSharedSetting,
    ProductCall,
    word_total,
)
from lotor.protocols.helba.shared.shares import garbler_bits
from lotor.protocols.helba.shared.wire import (
    check_digest,
    from_words,
    products_of,
    receive_parts,
    round_place,
    send_parts,
    to_words,
)
from lotor.protocols.helba.terms import KEY_AUTHORITY
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party


class HelbaSharedServerMemory(Memory, tag=WIRE + "server"):
    """R and s are derived from `hiding_key`; `product_key` is for the base transfers of products,
    whose result is `product_pairs`. `sums` are the covered sums before round t."""

    garbler: GarblerState
    hiding_key: bytes
    product_key: bytes
    product_pairs: bytes = b""
    sums: bytes = b""
    start: int = 1


class HelbaSharedServer(Party):
    """Steps 3 to 5, 8 and 10."""

    def __init__(self, setting: HelbaSharedSetting, *, snapshot: bytes | None = None) -> None:
        self._setting = setting
        run = setting.terms.run
        self._memory = (
            HelbaSharedServerMemory(
                party="server",
                run=run,
                garbler=GarblerState.fresh(),
                hiding_key=new_key(),
                product_key=new_key(),
            )
            if snapshot is None
            else restored(HelbaSharedServerMemory, snapshot, "server", run)
        )
        self._hidden: HidingMatrix | None = None
        self._words = self._transfers = 0
        self._side: TellingSide | None = None

    def operations(self) -> Mapping[str, int]:
        return {
            "garbled_and_gates": 0 if self._side is None else self._side.garbled,
            "product_words": self._words,
            "base_transfers": self._transfers,
        }

    def steps(self) -> Steps[None]:
        memory, setting = self._memory, self._setting
        begun = bool(memory.product_pairs)
        if not begun:
            yield Checkpoint(memory.dump)
            yield from self._set_up()
        self._side = side = TellingSide(memory.garbler, memory.run, setting.schedule)
        if begun:
            side.restore()
        else:
            yield from side.begin("user")
        products = ProductChooser(memory.product_pairs, HashKeys(memory.garbler.hash_key))
        for number in range(memory.garbler.batch, setting.schedule.count):
            batch = setting.schedule.batch(number)
            memory.garbler.batch, memory.t = number, batch.first + 1
            yield Checkpoint(memory.dump, memory.t)
            for turn in batch.turns:
                rows = yield from self._choose(products, turn + 1)
                yield from self._round(products, side, turn + 1, rows)
                if turn == batch.first:
                    # While the world answers: the next batch.
                    yield from side.garble_next("user", number + 1)
            yield from side.send_tables("user", number + 1)

    def _set_up(self) -> Steps[None]:
        """Pass the user's offer on, and the sealed keys back; transfers in both directions."""
        memory, digest = self._memory, self._setting.terms.digest
        offer: UsersKeyOffer = yield Receive("user", UsersKeyOffer)  # step 1
        check_digest(offer.digest, digest, "user")
        yield Send(KEY_AUTHORITY, offer)
        sealed: SealedUsersKeys = yield Receive(KEY_AUTHORITY, SealedUsersKeys)  # step 2
        check_digest(sealed.digest, digest, KEY_AUTHORITY)
        yield Send("user", sealed)
        yield from memory.garbler.set_up("user", memory.run)  # step 3
        memory.product_pairs = yield from offer_transfers(
            "user", memory.product_key, products_of(memory.run)
        )
        self._transfers += 2 * TRANSFERS
        nothing = np.zeros((self._setting.sums, self._setting.modulus.count), np.uint64)
        memory.sums = to_words(nothing)

    def _choose(self, products: ProductChooser, t: int) -> Steps[list[ChosenRows]]:
        """Step 5, ahead: the bits of all numbers that this round multiplies, as choices."""
        memory, setting = self._memory, self._setting
        numbers: list[Residues] = []
        batches: list[ProductCall] = []
        if setting.starts(t, memory.start):
            memory.start = t
            batches.append(setting.estimate_products(t))
            numbers.append(self._hiding.estimate_numbers())
        batches += setting.score_products(t)
        numbers += self._hiding.score_numbers()
        columns, rows = chosen_rows(products, batches, numbers)
        self._words += sum(batch.words for batch in batches)
        yield from send_parts("user", ProductColumns, t, columns)
        return rows

    @property
    def _hiding(self) -> HidingMatrix:
        """R and s of the batch, drawn again where it is another one or after a restart."""
        if self._hidden is None or self._hidden.start != self._memory.start:
            memory = self._memory
            self._hidden = HidingMatrix(memory.hiding_key, self._setting, memory.start)
        return self._hidden

    def _round(
        self, products: ProductChooser, side: TellingSide, t: int, rows: list[ChosenRows]
    ) -> Steps[None]:
        memory, setting = self._memory, self._setting
        yield from self._add_update(t - 1)
        if memory.start == t:
            yield from self._answer_estimate(products, t, rows.pop(0))
        calls = setting.score_products(t)
        words = yield from receive_parts("user", ContextWords, t, word_total(calls))  # step 9
        covered: CoveredShares = yield Receive("user", CoveredShares)
        place = round_place(t)
        expect(covered, place, "user", words=setting.share_bytes)
        # The labels of two inputs at one place would give the user delta, and so every score.
        yield Once(place + sha256(words + covered.words).digest())
        shares = [each[0] for each in received_shares(products, calls, rows, words, "user")]
        bits = garbler_bits(setting, shares, covered.words, "user")
        labels = side.labels(t - 1, *bits)
        yield Send("user", InputLabels(place, labels))  # step 10

    def _add_update(self, t: int) -> Steps[None]:
        """Step 6: the update of round t; that of round 0 brings the ridge."""
        memory, modulus = self._memory, self._setting.modulus
        update: CoveredUpdate = yield Receive("user", CoveredUpdate)
        size = WORD_BYTES * self._setting.sums * modulus.count
        expect(update, round_place(t), "user", words=size)
        sums = from_words(memory.sums, modulus, "server")
        memory.sums = to_words(modulus.add(sums, from_words(update.words, modulus, "user")))

    def _answer_estimate(self, products: ProductChooser, t: int, rows: ChosenRows) -> Steps[None]:
        """Steps 7 and 8: V R and g + V s to the user, without knowing V or g."""
        memory, batch = self._memory, self._setting.estimate_products(t)
        words = yield from receive_parts("user", EstimateWords, t, batch.word_bytes)
        # R with two different sums would show the user what they have in common.
        yield Once(round_place(t) + sha256(memory.sums + words).digest())
        with received_from("user"):
            share = products.receive(rows, words, batch.length)
        sums = from_words(memory.sums, self._setting.modulus, "server")
        covered = self._hiding.covered(sums, share)
        yield Send("user", CoveredEstimate(round_place(t), to_words(covered)))
