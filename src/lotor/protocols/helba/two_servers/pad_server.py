"""The pad server: knows all users' pads, and garbles the choice of an arm."""

from collections.abc import Mapping
from hashlib import sha256

import numpy as np
from msgspec import field

from lotor.core.effects import Checkpoint, Once, Receive, Send, Steps
from lotor.crypto.garbling import HashKeys
from lotor.crypto.ot import ChosenRows, OfferedRows, ProductChooser, ProductSender
from lotor.crypto.prf import new_key
from lotor.crypto.residues import Residues
from lotor.protocols.garbled.evaluator import offer_transfers
from lotor.protocols.garbled.garbler import GarblerState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.showing import CodingSide
from lotor.protocols.garbled.wire import expect, key_from
from lotor.protocols.helba.shared.calls import chosen_rows, offered_rows, received_shares
from lotor.protocols.helba.shared.pads import unpacked
from lotor.protocols.helba.shared.setting import WORD_BYTES, column_total, word_total
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
from lotor.protocols.helba.two_servers.algebra import HelbaModelShare, HiddenModel
from lotor.protocols.helba.two_servers.messages import (
    WIRE,
    ModelWords,
    PaddedEstimate,
    PadServerTerms,
    PadWords,
    RenewalColumns,
    ScoreColumns,
    ScoreDifferences,
    ScoreWords,
    TotalShare,
    UserPadKey,
)
from lotor.protocols.helba.two_servers.pads import OwnPads
from lotor.protocols.helba.two_servers.scores import chosen_numbers, received_scores
from lotor.protocols.helba.two_servers.setting import (
    PAD_SERVER,
    RENEWAL_EPOCH,
    SERVER,
    HelbaTwoServersSetting,
)
from lotor.protocols.helba.two_servers.totals import NOTHING, TOTAL_MODULUS
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party


class HelbaTwoServersPadServerMemory(Memory, tag=WIRE + "pad-server"):
    """The users' keys; `product_key` is for the base transfers of products, whose result is
    `product_pairs`. `pads` are those of all updates before round t; `model` is this server's share
    of the model of the batch that began with round `start`."""

    garbler: GarblerState
    product_key: bytes
    product_pairs: bytes = b""
    user_keys: dict[str, bytes] = field(default_factory=dict)
    pads: bytes = b""
    start: int = 1
    model: bytes = b""


class HelbaTwoServersPadServer(Party):
    """Steps 1 to 7, 10 and 14."""

    def __init__(self, setting: HelbaTwoServersSetting, *, snapshot: bytes | None = None) -> None:
        self._setting = setting
        run = setting.terms.run
        self._memory = (
            HelbaTwoServersPadServerMemory(
                party=PAD_SERVER, run=run, garbler=GarblerState.fresh(), product_key=new_key()
            )
            if snapshot is None
            else restored(HelbaTwoServersPadServerMemory, snapshot, PAD_SERVER, run)
        )
        self._side: CodingSide | None = None
        self._model: HelbaModelShare | None = None
        self._words = 0

    def operations(self) -> Mapping[str, int]:
        return {
            "garbled_and_gates": 0 if self._side is None else self._side.garbled,
            "product_words": self._words,
        }

    def steps(self) -> Steps[None]:
        memory, setting = self._memory, self._setting
        begun = bool(memory.product_pairs)
        if not begun:
            yield Checkpoint(memory.dump)
            yield from self._set_up()
        self._pads = {user: OwnPads(key, setting) for user, key in memory.user_keys.items()}
        self._side = side = CodingSide(memory.garbler, memory.run, setting.schedule)
        if begun:
            side.restore()
        else:
            yield from side.begin(SERVER)  # step 3
        state, hashes = memory.garbler, HashKeys(memory.garbler.hash_key)
        delta = state.delta(memory.run)
        self._renewals = ProductSender(state.seeds, delta, hashes, epoch=RENEWAL_EPOCH)
        self._products = ProductChooser(memory.product_pairs, hashes)
        for number in range(state.batch, setting.schedule.count):
            batch = setting.schedule.batch(number)
            state.batch, memory.t = number, batch.first + 1
            yield Checkpoint(memory.dump, memory.t)
            for turn in batch.turns:
                yield from self._round(side, turn + 1)
                if turn == batch.first:
                    # While the world answers: the next batch.
                    yield from side.garble_next(SERVER, number + 1)
            yield from side.send_tables(SERVER, number + 1)
        yield from self._tell_total()

    def _set_up(self) -> Steps[None]:
        """All users' keys; transfers in both directions."""
        memory, digest = self._memory, self._setting.terms.digest
        for user in self._setting.terms.users:
            told: UserPadKey = yield Receive(user, UserPadKey)  # step 1
            check_digest(told.digest, digest, user)
            memory.user_keys[user] = key_from(told.key, user)
        yield Send(SERVER, PadServerTerms(digest))
        yield from memory.garbler.set_up(SERVER, memory.run)  # step 2
        memory.product_pairs = yield from offer_transfers(
            SERVER, memory.product_key, products_of(memory.run)
        )
        nothing = np.zeros((self._setting.sums, self._setting.modulus.count), np.uint64)
        memory.pads = to_words(nothing)

    def _round(self, side: CodingSide, t: int) -> Steps[None]:
        memory, setting = self._memory, self._setting
        if setting.starts(t, memory.start):
            memory.start = t
            yield from self._renew(t)
        user, place = setting.terms.user_of(t), round_place(t)
        contexts, model = self._contexts(t), self._known_model.weights
        rows = yield from self._choose(t, contexts, model)
        calls = setting.score_products(t)
        words = yield from receive_parts(SERVER, ScoreWords, t, word_total(calls))  # step 9
        told: ScoreDifferences = yield Receive(SERVER, ScoreDifferences)
        expect(told, place, SERVER, words=setting.share_bytes)
        # The labels of two inputs at one place would give the server delta, and so every score.
        yield Once(place + sha256(words + told.words).digest())
        products = received_shares(self._products, calls, rows, words, SERVER)
        shares = received_scores(setting.score_moduli, products, contexts, model)
        labels = side.labels(t - 1, *garbler_bits(setting, shares, told.words, SERVER))
        yield Send(SERVER, InputLabels(place, labels))  # step 10
        yield Send(user, side.table(t - 1, place))
        self._add_pads(t)

    def _contexts(self, t: int) -> list[Residues]:
        """This server's share of the contexts of round t: minus the user's pads."""
        moduli, pads = self._setting.score_moduli, self._pads[self._setting.terms.user_of(t)]
        return [
            modulus.negate(modulus.residues(each))
            for modulus, each in zip(moduli, pads.contexts(t), strict=True)
        ]

    def _choose(
        self, t: int, contexts: list[Residues], model: list[Residues]
    ) -> Steps[list[ChosenRows]]:
        """Step 7: the bits of this server's shares as choices."""
        calls = self._setting.score_products(t)
        columns, rows = chosen_rows(self._products, calls, chosen_numbers(contexts, model))
        self._words += sum(call.words for call in calls)
        yield from send_parts(SERVER, ScoreColumns, t, columns)
        return rows

    def _renew(self, t: int) -> Steps[None]:
        """Steps 4 to 6: a share of the model of the batch that begins with round t."""
        memory, setting, modulus = self._memory, self._setting, self._setting.modulus
        d = setting.terms.d
        calls = setting.renewal_products(t)
        columns = yield from receive_parts(SERVER, RenewalColumns, t, column_total(calls))
        estimate, *rows = offered_rows(self._renewals, calls, columns)
        self._words += sum(call.words for call in calls)
        pads = unpacked(modulus.whole(from_words(memory.pads, modulus, PAD_SERVER)), setting)
        vectors = np.broadcast_to(modulus.residues(pads[0]), (d + 1, d, d, modulus.count))
        words, share = self._renewals.send(estimate, vectors)
        yield from send_parts(SERVER, PadWords, t, words)  # step 4
        answer: PaddedEstimate = yield Receive(SERVER, PaddedEstimate)  # step 5
        size = WORD_BYTES * (d * (d + 1) + 1) * modulus.count
        expect(answer, round_place(t), SERVER, words=size)
        # Two vectors under the same rows would show the server their difference.
        yield Once(round_place(t) + sha256(columns + answer.words).digest())
        covered = from_words(answer.words, modulus, SERVER)
        hidden, _ = HiddenModel.opened(setting, t, covered, pads, share)
        yield from self._share_model(t, rows, hidden)

    def _share_model(self, t: int, rows: list[OfferedRows], hidden: HiddenModel) -> Steps[None]:
        sent, blocks = [], []
        for offered, vectors in zip(rows, hidden.model_vectors(), strict=True):
            groups = offered.labels.shape[1]
            words, share = self._renewals.send(
                offered, np.broadcast_to(vectors, (groups, *vectors.shape))
            )
            sent.append(words)
            blocks.append(share)
        self._model = HelbaModelShare(self._setting, t, blocks)
        self._memory.model = self._model.to_bytes()
        yield from send_parts(SERVER, ModelWords, t, b"".join(sent))  # step 6

    @property
    def _known_model(self) -> HelbaModelShare:
        """That of the batch; after a restart it is read from memory."""
        if self._model is None:
            memory = self._memory
            self._model = HelbaModelShare.from_bytes(self._setting, memory.start, memory.model)
        return self._model

    def _add_pads(self, t: int) -> None:
        """The update of round t will be under these."""
        memory, modulus = self._memory, self._setting.modulus
        pad = modulus.residues(self._pads[self._setting.terms.user_of(t)].update(t))
        memory.pads = to_words(modulus.add(from_words(memory.pads, modulus, PAD_SERVER), pad))

    def _tell_total(self) -> Steps[None]:
        """Step 14: minus the pads of all users' sums."""
        total = NOTHING
        for pads in self._pads.values():
            total = TOTAL_MODULUS.subtract(total, TOTAL_MODULUS.residues(pads.total()))
        yield Send("customer", TotalShare(round_place(self._setting.terms.budget), to_words(total)))
