"""The user: alone sees contexts, arms and rewards; what leaves it is encrypted."""

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import ClassVar

import numpy as np

from lotor.core.effects import (
    HIDDEN,
    BeginRound,
    Checkpoint,
    Decision,
    Observe,
    Pull,
    Receive,
    Send,
    Steps,
)
from lotor.core.errors import CryptoError, InputError, ProtocolError
from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import SecretKey, encrypt_again
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity, place
from lotor.protocols.helba.paper.bounds import check_reward, check_squares
from lotor.protocols.helba.paper.index_circuit import Spot
from lotor.protocols.helba.paper.messages import (
    BatchDecision,
    CoveredSign,
    EncryptedChoice,
    MaskedEntry,
    RefreshedEntry,
    SealedSecretKey,
    SealingKeyOffer,
    SignBit,
)
from lotor.protocols.helba.paper.root import RootCircuit
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.paper.wire import (
    SEALING_KEY,
    SECRET_KEY,
    check_part,
    check_place,
    ciphertext_from,
    ciphertexts_from,
    contexts_shape,
    download,
    masked_shape,
    place_of,
    sealed_shape,
    taken,
    update_shape,
    upload,
)
from lotor.protocols.helba.terms import KEY_AUTHORITY
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.store import Store

# An answer lies between 0 and 1, and noise and the comparison's own error are far smaller.
FURTHEST = 1.0


class HelbaUserMemory(Memory, tag="helba/2/user"):
    """The key that opens the secret key, the secret key's name in the store, the batch, sums."""

    sealing_key: bytes
    key: str = ""
    start: int = 1
    total: int = 0
    squares: float = 0.0


class HelbaUser(Party):
    """Lines 5, 11 and 12 of Algorithm 4, for the rounds of one user after another.

    With the paper's index it also helps the server with line 15: see `ServerHelp`.
    """

    slow: ClassVar[bool] = True

    def __init__(
        self,
        identity: Identity,
        setting: HelbaSetting,
        store: Store,
        *,
        snapshot: bytes | None = None,
    ) -> None:
        self._identity = identity
        self._setting = setting
        self._store = store
        circuit = setting.circuit
        self._help = ServerHelp(circuit) if isinstance(circuit, RootCircuit) else None
        self._secret: SecretKey | None = None
        self._encryptions = self._decryptions = 0
        run = setting.terms.run
        if snapshot is None:
            sealing_key = SealingKey().private_bytes()
            self._memory = HelbaUserMemory(party=identity.name, run=run, sealing_key=sealing_key)
        else:
            self._memory = restored(HelbaUserMemory, snapshot, identity.name, run)

    def operations(self) -> Mapping[str, int]:
        help_ = self._help
        return {
            "ckks_encryptions": self._encryptions + (help_.encryptions if help_ else 0),
            "ckks_decryptions": self._decryptions + (help_.decryptions if help_ else 0),
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[float]:
        memory, setting = self._memory, self._setting
        terms, scale = setting.terms, setting.terms.scale
        if memory.key:
            self._secret = self._loaded(self._store.fetch(memory.key))
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            yield from self._set_up()
            memory.t = 1
        for t in range(memory.t, terms.budget + 1):
            memory.t = t
            yield Checkpoint(memory.dump, t)
            memory.start = yield from self._batch(t)
            yield BeginRound(t)
            x = self._checked((yield self._question(t)), t)
            shape = contexts_shape(setting, t)
            yield from upload("server", shape, self._encrypted_contexts(x, t))  # line 5
            choice: EncryptedChoice = yield Receive("server", EncryptedChoice)
            check_place(choice, t, "server")
            arm = self._arm(choice, t)
            reward = scale.to_fixed((yield Pull(Decision.of_step(terms.run, t, arm))))  # line 11
            memory.total += reward
            if t < terms.budget:
                shape = update_shape(setting, t)
                # In the user's unit: a shifted reward would not be linear in the context.
                parts = self._encrypted_update(x[arm], scale.total(reward, 1), t)
                yield from upload("server", shape, parts)  # line 12
                yield from taken("server", shape, shape.count)
        return scale.total(memory.total, terms.budget)

    def _batch(self, t: int) -> Steps[int]:
        """The first round of the batch that round t belongs to."""
        start = self._setting.bounds.start(t, self._memory.start)
        if self._help is not None and t > 1:
            begins = yield from self._help.begins(t, self._key, due=start == t)
            return t if begins else start
        return start

    def _set_up(self) -> Steps[None]:
        """Ask for the secret key, and open it."""
        yield Send("server", self._offer())
        sealed: SealedSecretKey = yield Receive("server", SealedSecretKey)
        parts: list[bytes] = []
        written = Checkpoint(self._memory.dump, durable=True)
        yield from download("server", sealed_shape(sealed, "server"), parts, written)
        self._secret = self._opened(b"".join(parts), sealed.signature)

    def _offer(self) -> SealingKeyOffer:
        public = SealingKey(self._memory.sealing_key).public
        digest = self._setting.terms.digest
        signature = self._identity.sign(
            digest + public, run=self._memory.run, purpose=SEALING_KEY, recipient=KEY_AUTHORITY
        )
        return SealingKeyOffer(digest, public, signature)

    def _opened(self, sealed: bytes, signature: bytes) -> SecretKey:
        """The secret key, which the authority must have sealed to this user under these terms."""
        memory, digest = self._memory, self._setting.terms.digest
        self._identity.verify(
            digest + sealed,
            signature,
            sender=KEY_AUTHORITY,
            run=memory.run,
            purpose=SECRET_KEY,
            recipient=self._identity.name,
        )
        bound = place(memory.run, SECRET_KEY, KEY_AUTHORITY, self._identity.name)
        opened = SealingKey(memory.sealing_key).open(sealed, bound + digest)
        try:
            secret = self._loaded(opened)
        except CryptoError as error:
            raise ProtocolError(f"{KEY_AUTHORITY} sealed an unusable CKKS key: {error}") from None
        memory.key, memory.sealing_key = self._store.keep(opened), b""
        return secret

    def _loaded(self, data: bytes) -> SecretKey:
        return SecretKey.from_bytes(data, self._setting.parameters)

    @property
    def _key(self) -> SecretKey:
        if self._secret is None:
            raise CryptoError("this user has no secret key yet: let it run from its first step")
        return self._secret

    def _question(self, t: int) -> Observe:
        """Ask for all arms' contexts of round t, one after the other."""
        terms = self._setting.terms
        longest = sqrt(terms.arms) * terms.learner.L
        # The pull has another name, so that an operator can tell which of the two is in doubt.
        decision = Decision(terms.run, t, HIDDEN, f"{terms.run}/contexts/{t}")
        return Observe(decision, (0, terms.arms * terms.d), longest)

    def _checked(self, numbers: tuple[float, ...], t: int) -> Floats:
        terms = self._setting.terms
        if len(numbers) != terms.arms * terms.d:
            raise InputError(
                f"there are {len(numbers)} numbers for the contexts of round {t}, not "
                f"{terms.arms * terms.d}: give one context of {terms.d} numbers for each of "
                f"{terms.arms} arms, one after the other"
            )
        x: Floats = np.array(numbers).reshape(terms.arms, terms.d)
        terms.learner.check_contexts(x)
        return x

    def _encrypted_contexts(self, x: Floats, t: int) -> Iterator[bytes]:
        setting = self._setting
        slots = setting.packing.contexts(x[np.newaxis], t, self._memory.start)
        for values, spot in zip(slots, setting.circuit.spots, strict=True):
            self._encryptions += 1
            yield self._key.encrypt_to_bytes(values, spot.level, spot.scale)

    def _encrypted_update(self, x: Floats, reward: float, t: int) -> Iterator[bytes]:
        check_reward(reward, self._setting.bounds, t)
        self._memory.squares += float(x @ x)
        check_squares(self._memory.squares, self._setting.bounds, t)
        for values in self._setting.packing.update(x[np.newaxis], np.array([reward])):
            self._encryptions += 1
            yield self._key.encrypt_to_bytes(values)

    def _arm(self, choice: EncryptedChoice, t: int) -> int:
        """The arm of the largest b; with a gap above the resolution it is the best one."""
        parameters, key = self._setting.parameters, self._key.fingerprint
        answer = ciphertext_from(choice.ciphertext, parameters, key, "server", t)
        self._decryptions += 1
        b = self._setting.packing.read(self._key.decrypt(answer), 1)[0]
        if not np.all(np.abs(b - 0.5) < 0.5 + FURTHEST):
            raise ProtocolError(
                f"the answer of round {t} names no arm: an index went beyond its public bound, or "
                "the server computed something else; check L, S, sigma and mean_bound"
            )
        return int(b.argmax())


class ServerHelp:
    """What the paper's index asks of a user: one bit on condition (8), and fresh estimates.

    The user sees a fair coin in place of condition (8), and estimates under masks only.
    """

    def __init__(self, circuit: RootCircuit) -> None:
        self._circuit = circuit
        self.encryptions = self.decryptions = 0

    def begins(self, t: int, key: SecretKey, *, due: bool) -> Steps[bool]:
        """Whether a batch begins with round t: by the public schedule, or by condition (8)."""
        begins = due
        if not due and self._circuit.bounds.policy.C is not None:
            begins = yield from self._asked(t, key)
        if begins:
            yield from self._refresh(t, key)
        return begins

    def _asked(self, t: int, key: SecretKey) -> Steps[bool]:
        """Tell the server one bit that is a fair coin here, and hear what it was for."""
        sign: CoveredSign = yield Receive("server", CoveredSign)
        check_place(sign, t, "server")
        yield Send("server", SignBit(place_of(t), self._above(sign, t, key)))
        decision: BatchDecision = yield Receive("server", BatchDecision)
        check_place(decision, t, "server")
        return decision.new

    def _above(self, sign: CoveredSign, t: int, key: SecretKey) -> bool:
        parameters = self._circuit.parameters
        answer = ciphertext_from(sign.ciphertext, parameters, key.fingerprint, "server", t)
        self.decryptions += 1
        value = key.decrypt(answer).item(0)
        if not abs(value) < 0.5 + FURTHEST:
            raise ProtocolError(
                f"the covered sign of round {t} is neither above nor below 0: a sum went beyond "
                "its public bound, or the server computed something else; check L and ridge"
            )
        return value > 0

    def _refresh(self, t: int, key: SecretKey) -> Steps[None]:
        shape = masked_shape(self._circuit, t)
        for index, spot in enumerate(self._circuit.spots):
            part: MaskedEntry = yield Receive("server", MaskedEntry)
            check_part(part, shape, index, "server")
            again = self._encrypted_again(part.data, spot, t, key)
            yield Send("server", RefreshedEntry(shape.place, index, again))

    def _encrypted_again(self, masked: bytes, spot: Spot, t: int, key: SecretKey) -> bytes:
        """The same number, which stays under its mask, at the level where it is needed."""
        parameters, at = self._circuit.parameters, Spot(self._circuit.mask_level, spot.scale)
        (ciphertext,) = ciphertexts_from(
            [masked], parameters, key.fingerprint, [at], t, sender="server"
        )
        # It is read in two parts, because a double does not hold it.
        self.decryptions += 2
        self.encryptions += 1
        return encrypt_again(key, ciphertext, spot.level).to_bytes()
