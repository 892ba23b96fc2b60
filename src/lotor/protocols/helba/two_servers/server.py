"""The server: holds sums and contexts under pads, and evaluates a choice that it cannot read."""

from collections.abc import Mapping
from hashlib import sha256

from lotor.core.effects import BeginRound, Checkpoint, Once, Receive, Send, Steps
from lotor.crypto.derivation import derive_key
from lotor.crypto.garbling import HashKeys
from lotor.crypto.ot import TRANSFERS, ChosenRows, Delta, ProductChooser, ProductSender
from lotor.crypto.prf import new_key
from lotor.crypto.residues import Residues
from lotor.protocols.garbled.evaluator import EvaluatorState
from lotor.protocols.garbled.garbler import answer_transfers
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.showing import SigningSide
from lotor.protocols.garbled.wire import expect, received_from
from lotor.protocols.helba.shared.calls import chosen_rows, offered_rows, received_shares
from lotor.protocols.helba.shared.pads import first_numbers
from lotor.protocols.helba.shared.setting import column_total, word_total
from lotor.protocols.helba.shared.shares import ChosenShares
from lotor.protocols.helba.shared.wire import (
    check_digest,
    from_words,
    products_of,
    receive_parts,
    round_place,
    send_parts,
    to_words,
)
from lotor.protocols.helba.two_servers.algebra import HelbaModelShare, HidingModel
from lotor.protocols.helba.two_servers.messages import (
    WIRE,
    ModelWords,
    PaddedContexts,
    PaddedEstimate,
    PaddedTotal,
    PaddedUpdate,
    PadServerTerms,
    PadWords,
    RenewalColumns,
    ScoreColumns,
    ScoreDifferences,
    ScoreWords,
    TotalShare,
)
from lotor.protocols.helba.two_servers.scores import sent_scores
from lotor.protocols.helba.two_servers.setting import (
    PAD_SERVER,
    RENEWAL_EPOCH,
    SERVER,
    HelbaTwoServersSetting,
)
from lotor.protocols.helba.two_servers.totals import NOTHING, TOTAL_MODULUS, received_total
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party


class HelbaTwoServersServerMemory(Memory, tag=WIRE + "server"):
    """R and s are derived from `hiding_key`; `product_key` is for the base transfers of products,
    whose result is `product_seeds`. `sums` and `total` are those of all updates and users that are
    done, under pads; `model` is this server's share of the model of the batch from `start`."""

    evaluator: EvaluatorState
    hiding_key: bytes
    product_key: bytes
    product_seeds: bytes = b""
    sums: bytes = b""
    total: bytes = to_words(NOTHING)
    start: int = 1
    model: bytes = b""


class HelbaTwoServersServer(Party):
    """Steps 2 to 6, 9, 11 and 14."""

    def __init__(self, setting: HelbaTwoServersSetting, *, snapshot: bytes | None = None) -> None:
        self._setting = setting
        run = setting.terms.run
        self._memory = (
            HelbaTwoServersServerMemory(
                party=SERVER,
                run=run,
                evaluator=EvaluatorState.fresh(),
                hiding_key=new_key(),
                product_key=new_key(),
            )
            if snapshot is None
            else restored(HelbaTwoServersServerMemory, snapshot, SERVER, run)
        )
        self._side: SigningSide | None = None
        self._model: HelbaModelShare | None = None
        self._transfers = 0

    def operations(self) -> Mapping[str, int]:
        return {
            "evaluated_and_gates": 0 if self._side is None else self._side.evaluated,
            "base_transfers": self._transfers,
        }

    def steps(self) -> Steps[None]:
        memory, setting = self._memory, self._setting
        begun = bool(memory.sums)
        if not begun:
            yield Checkpoint(memory.dump)
            yield from self._set_up()
        key = derive_key(memory.evaluator.transfer_key, "chosen shares")
        self._chosen = ChosenShares(key, setting)
        self._side = side = SigningSide(memory.evaluator, setting.schedule, self._chosen.choices)
        hashes, delta = HashKeys(memory.evaluator.hash_key), self._delta
        self._renewals = ProductChooser(memory.evaluator.seed_pairs, hashes, epoch=RENEWAL_EPOCH)
        self._products = ProductSender(memory.product_seeds, delta, hashes)
        yield from side.begin(PAD_SERVER, restored=begun)  # step 3
        for number in range(memory.evaluator.batch, setting.schedule.count):
            batch = setting.schedule.batch(number)
            memory.evaluator.batch, memory.t = number, batch.first + 1
            yield Checkpoint(memory.dump, memory.t)
            yield from side.receive_tables(PAD_SERVER, number)
            for turn in batch.turns:
                yield from self._round(side, turn + 1)
            side.forget(number)
        yield from self._add_total(setting.terms.user_of(setting.terms.budget))
        share = TotalShare(round_place(setting.terms.budget), memory.total)
        yield Send("customer", share)  # step 14

    @property
    def _delta(self) -> Delta:
        return Delta.derive(self._memory.product_key, self._memory.run)

    def _set_up(self) -> Steps[None]:
        """Transfers in both directions, with a pad server that keeps the same terms."""
        memory, terms = self._memory, self._setting.terms
        told: PadServerTerms = yield Receive(PAD_SERVER, PadServerTerms)  # step 1
        check_digest(told.digest, terms.digest, PAD_SERVER)
        yield from memory.evaluator.set_up(PAD_SERVER, memory.run)  # step 2
        memory.product_seeds = yield from answer_transfers(
            PAD_SERVER, memory.product_key, products_of(memory.run), self._delta
        )
        self._transfers += 2 * TRANSFERS
        for user in terms.users:
            if not terms.rounds_of(user):
                yield from self._add_total(user)
        memory.sums = to_words(self._setting.modulus.residues(first_numbers(self._setting)))

    def _round(self, side: SigningSide, t: int) -> Steps[None]:
        memory, setting = self._memory, self._setting
        if setting.starts(t, memory.start):
            memory.start = t
            hiding = HidingModel(memory.hiding_key, setting, t)
            rows = yield from self._choose(t, hiding)
            yield from self._add_update(t - 1)
            yield from self._renew(t, hiding, rows)
        else:
            yield from self._add_update(t - 1)
        calls = setting.score_products(t)
        columns = yield from receive_parts(PAD_SERVER, ScoreColumns, t, column_total(calls))
        user, place = setting.terms.user_of(t), round_place(t)
        yield BeginRound(t)
        contexts = yield from self._contexts(t)
        # Two vectors under the same rows would show the pad server their difference.
        content = sha256(columns + b"".join(map(to_words, contexts)) + memory.model)
        yield Once(place + content.digest())
        offered = offered_rows(self._products, calls, columns)  # step 7
        words, shares = sent_scores(self._products, offered, contexts, self._known_model.weights)
        yield from send_parts(PAD_SERVER, ScoreWords, t, words)  # step 9
        differences = b"".join(map(to_words, self._chosen.differences(t - 1, shares)))
        yield Send(PAD_SERVER, ScoreDifferences(place, differences))
        if memory.t == t:
            yield from side.choose_next(PAD_SERVER, memory.evaluator.batch)  # step 3
        answer: InputLabels = yield Receive(PAD_SERVER, InputLabels)  # step 10
        expect(answer, place, PAD_SERVER, labels=setting.schedule.label_bytes)
        yield Send(user, side.shown(t - 1, answer.labels, place))  # step 11

    def _choose(self, t: int, hiding: HidingModel) -> Steps[list[ChosenRows]]:
        """Step 4, ahead: the bits of all numbers that a new estimate multiplies, as choices."""
        calls = self._setting.renewal_products(t)
        numbers = [hiding.estimate_numbers(), *hiding.model_numbers()]
        columns, rows = chosen_rows(self._renewals, calls, numbers)
        yield from send_parts(PAD_SERVER, RenewalColumns, t, columns)
        return rows

    def _renew(self, t: int, hiding: HidingModel, rows: list[ChosenRows]) -> Steps[None]:
        """Steps 5 and 6: V R and g + V s to the pad server, and a share of the model from it."""
        memory, modulus = self._memory, self._setting.modulus
        estimate, *calls = self._setting.renewal_products(t)
        words = yield from receive_parts(PAD_SERVER, PadWords, t, estimate.word_bytes)
        # R with two different sums would show the pad server what they have in common.
        yield Once(round_place(t) + sha256(memory.sums + words).digest())
        with received_from(PAD_SERVER):
            share = self._renewals.receive(rows[0], words, estimate.length)
        covered = hiding.covered(from_words(memory.sums, modulus, SERVER), share)
        yield Send(PAD_SERVER, PaddedEstimate(round_place(t), to_words(covered)))
        words = yield from receive_parts(PAD_SERVER, ModelWords, t, word_total(calls))
        blocks = received_shares(self._renewals, calls, rows[1:], words, PAD_SERVER)
        self._model = HelbaModelShare(self._setting, t, blocks)
        memory.model = self._model.to_bytes()

    @property
    def _known_model(self) -> HelbaModelShare:
        """That of the batch; after a restart it is read from memory."""
        if self._model is None:
            memory = self._memory
            self._model = HelbaModelShare.from_bytes(self._setting, memory.start, memory.model)
        return self._model

    def _contexts(self, t: int) -> Steps[list[Residues]]:
        """Step 8: the user's features under pads, (arms, features, primes) for each part."""
        setting, user = self._setting, self._setting.terms.user_of(t)
        sizes = setting.context_sizes
        words = yield from receive_parts(user, PaddedContexts, t, sum(sizes))
        found = []
        for modulus, width, size in zip(setting.score_moduli, setting.widths, sizes, strict=True):
            here, words = words[:size], words[size:]
            found.append(from_words(here, modulus, user).reshape(-1, width, modulus.count))
        return found

    def _add_update(self, t: int) -> Steps[None]:
        """Step 12: the update of round t, if there was one; after its last one a user is done."""
        if t == 0:
            return
        memory, modulus, terms = self._memory, self._setting.modulus, self._setting.terms
        user = terms.user_of(t)
        update: PaddedUpdate = yield Receive(user, PaddedUpdate)
        expect(update, round_place(t), user, words=len(memory.sums))
        sums = from_words(memory.sums, modulus, SERVER)
        memory.sums = to_words(modulus.add(sums, from_words(update.words, modulus, user)))
        if t == terms.rounds_of(user)[-1]:
            yield from self._add_total(user)

    def _add_total(self, user: str) -> Steps[None]:
        """Step 13."""
        memory, terms = self._memory, self._setting.terms
        message: PaddedTotal = yield Receive(user, PaddedTotal)
        total = from_words(memory.total, TOTAL_MODULUS, SERVER)
        memory.total = to_words(TOTAL_MODULUS.add(total, received_total(message, terms, user)))
