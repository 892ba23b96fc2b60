"""The user of the shared form: alone sees contexts, arms and rewards; what leaves it is covered."""

from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from lotor.core.effects import BeginRound, Checkpoint, Decision, Once, Pull, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.derivation import derive_key
from lotor.crypto.ot import Delta, OfferedRows, ProductSender
from lotor.crypto.prf import KEY_BYTES, new_key
from lotor.crypto.residues import Residues
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity, place
from lotor.protocols.garbled.evaluator import EvaluatorState
from lotor.protocols.garbled.garbler import answer_transfers
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.reading import ReadingSide
from lotor.protocols.garbled.wire import expect
from lotor.protocols.helba.shared.algebra import HiddenEstimate
from lotor.protocols.helba.shared.asking import observed_contexts
from lotor.protocols.helba.shared.calls import offered_rows
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
from lotor.protocols.helba.shared.pads import UserPads
from lotor.protocols.helba.shared.setting import WORD_BYTES, HelbaSharedSetting, column_total
from lotor.protocols.helba.shared.shares import ChosenShares
from lotor.protocols.helba.shared.wire import (
    SEALING_KEY,
    USERS_KEYS,
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
from lotor.protocols.plain.optimistic import TieDraws


class HelbaSharedUserMemory(Memory, tag=WIRE + "user"):
    """The users' keys, once they are opened; what garbling and products need; A and e of the batch
    that began with round `start`."""

    sealing_key: bytes
    evaluator: EvaluatorState
    product_key: bytes
    product_seeds: bytes = b""
    pad_key: bytes = b""
    tie_key: bytes = b""
    start: int = 1
    estimate: bytes = b""
    total: int = 0


class HelbaSharedUser(Party):
    """Steps 1 to 4, 6, 7, 9 and 11, for the rounds of one user after another."""

    def __init__(
        self,
        identity: Identity,
        setting: HelbaSharedSetting,
        *,
        snapshot: bytes | None = None,
    ) -> None:
        self._identity = identity
        self._setting = setting
        run = setting.terms.run
        self._memory = (
            HelbaSharedUserMemory(
                party=identity.name,
                run=run,
                sealing_key=SealingKey().private_bytes(),
                evaluator=EvaluatorState.fresh(),
                product_key=new_key(),
            )
            if snapshot is None
            else restored(HelbaSharedUserMemory, snapshot, identity.name, run)
        )
        self._estimate: HiddenEstimate | None = None
        self._side: ReadingSide | None = None

    def operations(self) -> Mapping[str, int]:
        return {
            "evaluated_and_gates": 0 if self._side is None else self._side.evaluated,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[float]:
        memory, setting = self._memory, self._setting
        begun = bool(memory.pad_key)
        if not begun:
            yield Checkpoint(memory.dump)
            yield from self._set_up()
        key = derive_key(memory.evaluator.transfer_key, "chosen shares")
        self._chosen = ChosenShares(key, setting)
        self._side = side = ReadingSide(memory.evaluator, setting.schedule, self._chosen.choices)
        delta = Delta.derive(memory.product_key, memory.run)
        self._products = ProductSender(memory.product_seeds, delta, side.hashes)
        self._pads = UserPads(memory.pad_key, setting)
        self._ties = TieDraws(memory.tie_key, setting.terms.arms)
        yield from side.begin("server", restored=begun)  # step 4
        if not begun:
            yield from self._send_update(0, self._pads.first())
        for number in range(memory.evaluator.batch, setting.schedule.count):
            batch = setting.schedule.batch(number)
            memory.evaluator.batch, memory.t = number, batch.first + 1
            yield Checkpoint(memory.dump, memory.t)
            yield from side.receive_tables("server", number)
            for turn in batch.turns:
                yield from self._round(side, turn + 1)
            side.forget(number)
        return setting.terms.scale.total(memory.total, setting.terms.budget)

    def _set_up(self) -> Steps[None]:
        """Ask for the users' keys; transfers in both directions."""
        memory = self._memory
        yield Send("server", self._offer())  # step 1
        sealed: SealedUsersKeys = yield Receive("server", SealedUsersKeys)  # step 2
        check_digest(sealed.digest, self._setting.terms.digest, "server")
        keys = self._opened(sealed)
        yield from memory.evaluator.set_up("server", memory.run)  # step 3
        memory.product_seeds = yield from answer_transfers(
            "server",
            memory.product_key,
            products_of(memory.run),
            Delta.derive(memory.product_key, memory.run),
        )
        memory.pad_key, memory.tie_key = keys[:KEY_BYTES], keys[KEY_BYTES:]
        memory.sealing_key = b""

    def _offer(self) -> UsersKeyOffer:
        public = SealingKey(self._memory.sealing_key).public
        digest = self._setting.terms.digest
        signature = self._identity.sign(
            digest + public, run=self._memory.run, purpose=SEALING_KEY, recipient=KEY_AUTHORITY
        )
        return UsersKeyOffer(digest, public, signature)

    def _opened(self, message: SealedUsersKeys) -> bytes:
        """The keys, which the authority must have sealed to this user under these terms."""
        memory, digest, name = self._memory, self._setting.terms.digest, self._identity.name
        self._identity.verify(
            digest + message.sealed,
            message.signature,
            sender=KEY_AUTHORITY,
            run=memory.run,
            purpose=USERS_KEYS,
            recipient=name,
        )
        bound = place(memory.run, USERS_KEYS, KEY_AUTHORITY, name)
        keys = SealingKey(memory.sealing_key).open(message.sealed, bound + digest)
        if len(keys) != 2 * KEY_BYTES:
            raise ProtocolError(
                f"{KEY_AUTHORITY} sealed {len(keys)} bytes instead of two keys: it runs another "
                "version; start a new run"
            )
        return keys

    def _round(self, side: ReadingSide, t: int) -> Steps[None]:
        memory, setting = self._memory, self._setting
        terms, scale = setting.terms, setting.terms.scale
        rows = yield from self._offered(t)
        if memory.start == t:
            yield from self._renew(t, rows.pop(0))
        yield BeginRound(t)
        x = yield from observed_contexts(setting, t)
        contexts, order = terms.grid.contexts(x), self._ties.order(t)
        vectors = self._known_estimate.vectors(t, [contexts[arm] for arm in order])
        # Two vectors under the same rows would show the server their difference.
        content = sha256(b"".join(each.tobytes() for each in vectors))
        yield Once(round_place(t) + content.digest())
        yield from self._ask(t, rows, vectors)  # step 9
        if memory.t == t:
            yield from side.choose_next("server", memory.evaluator.batch)  # step 4
        answer: InputLabels = yield Receive("server", InputLabels)  # step 10
        expect(answer, round_place(t), "server", labels=setting.schedule.label_bytes)
        arm = order[side.position(t - 1, answer.labels, "server")]
        decision = Decision.of_step(terms.run, t, arm)
        reward = scale.to_fixed((yield Pull(decision, masked=True)))  # step 11
        memory.total += reward
        if t < terms.budget:
            # In the user's unit: a shifted reward would not be linear in the context.
            paid = terms.grid.reward(scale.total(reward, 1))
            yield from self._send_update(t, self._pads.update(t, contexts[arm], paid))  # step 6

    def _offered(self, t: int) -> Steps[list[OfferedRows]]:
        """Step 5: the rows of this round's products, from the server's choices."""
        memory, setting = self._memory, self._setting
        batches = setting.score_products(t)
        if setting.starts(t, memory.start):
            memory.start = t
            batches = [setting.estimate_products(t), *batches]
        columns = yield from receive_parts("server", ProductColumns, t, column_total(batches))
        return offered_rows(self._products, batches, columns)

    def _renew(self, t: int, rows: OfferedRows) -> Steps[None]:
        """Steps 7 and 8: A and e of the batch that begins with round t."""
        setting = self._setting
        modulus, d = setting.modulus, setting.terms.d
        pads = self._pads.after(t - 1)
        vectors = np.broadcast_to(modulus.residues(pads[0]), (d + 1, d, d, modulus.count))
        words, share = self._products.send(rows, vectors)
        yield from send_parts("server", EstimateWords, t, words)
        answer: CoveredEstimate = yield Receive("server", CoveredEstimate)
        size = WORD_BYTES * (d * (d + 1) + 1) * modulus.count
        expect(answer, round_place(t), "server", words=size)
        covered = from_words(answer.words, modulus, "server")
        self._estimate, kept = HiddenEstimate.opened(setting, t, covered, pads, share)
        self._memory.estimate = to_words(kept)

    @property
    def _known_estimate(self) -> HiddenEstimate:
        """That of the batch; after a restart it is read from memory."""
        if self._estimate is None:
            memory, setting = self._memory, self._setting
            d = setting.terms.d
            both = from_words(memory.estimate, setting.modulus, "user").reshape(d, d + 1, -1)
            self._estimate = HiddenEstimate(setting, memory.start, both)
        return self._estimate

    def _ask(self, t: int, rows: list[OfferedRows], vectors: list[Residues]) -> Steps[None]:
        """Contexts for the server's products, and the user's shares of their results."""
        words, shares = [], []
        for offered, each in zip(rows, vectors, strict=True):
            sent, share = self._products.send(offered, each)
            words.append(sent)
            shares.append(share[0])
        yield from send_parts("server", ContextWords, t, b"".join(words))
        covered = b"".join(map(to_words, self._chosen.differences(t - 1, shares)))
        yield Send("server", CoveredShares(round_place(t), covered))

    def _send_update(self, t: int, update: Residues) -> Steps[None]:
        yield Send("server", CoveredUpdate(round_place(t), to_words(update)))
