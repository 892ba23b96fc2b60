"""The server: learns and chooses on ciphertexts, and never has the key that reads them."""

from collections import Counter
from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.ckks import (
    Ciphertext,
    Encrypted,
    EvaluationKeys,
    Evaluator,
    PublicKey,
    flood,
)
from lotor.protocols.helba.circuit import Estimate, Sums, choose, estimate
from lotor.protocols.helba.messages import (
    Choice,
    Contexts,
    Offer,
    SealedKey,
    ServerKeys,
    Update,
)
from lotor.protocols.helba.setting import Setting
from lotor.protocols.helba.store import Store
from lotor.protocols.helba.wire import check_digest, check_place, ciphertexts_from, place_of
from lotor.protocols.memory import Memory, restored


class ServerMemory(Memory, tag="helba/1/server"):
    """Ciphertexts, and the names of public keys in its store; nothing here reads them.

    `estimate` is empty where a new one is due first of all.
    """

    fingerprint: str = ""
    public: str = ""
    evaluation: str = ""
    start: int = 1
    sums: tuple[bytes, ...] = ()
    estimate: tuple[bytes, ...] = ()


class Server:
    """Lines 6 to 10 and 13 to 15 of Algorithm 4."""

    def __init__(self, setting: Setting, store: Store, *, snapshot: bytes | None = None) -> None:
        self._setting = setting
        self._store = store
        self._keys: _Keys | None = None
        self._sums: Sums[Encrypted] | None = None
        self._estimate: Estimate[Encrypted] | None = None
        self._floods = 0
        run = setting.terms.run
        if snapshot is None:
            self._memory = ServerMemory(party="server", run=run)
        else:
            self._memory = restored(ServerMemory, snapshot, "server", run)
            if self._memory.t:
                self._restore()

    def operations(self) -> Mapping[str, int]:
        counted: Counter[str] = Counter({"ckks_floods": self._floods})
        if self._keys is not None:
            counted.update({f"ckks_{n}": c for n, c in self._keys.evaluator.totals().items()})
        return dict(counted)

    def steps(self) -> Steps[None]:
        memory, setting = self._memory, self._setting
        terms = setting.terms
        if memory.t == 0:
            yield Checkpoint(self._snapshot)
            yield from self._set_up()
            memory.t = 1
        for t in range(memory.t, terms.budget + 1):
            memory.t = t
            yield Checkpoint(self._snapshot, t)
            self._renew(t)
            contexts: Contexts = yield Receive("user", Contexts)
            check_place(contexts, t, "user")
            answer = self._answer(contexts, t)
            yield Send("user", Choice(place_of(t), answer.to_bytes()))  # line 10
            if t < terms.budget:
                update: Update = yield Receive("user", Update)
                check_place(update, t, "user")
                self._learn(update, t)

    def _set_up(self) -> Steps[None]:
        """Pass the user's offer on, and the sealed key back; keep what computes."""
        memory, setting, digest = self._memory, self._setting, self._setting.terms.digest
        offer: Offer = yield Receive("user", Offer)
        check_digest(offer, digest, "user")
        yield Send("authority", offer)
        keys: ServerKeys = yield Receive("authority", ServerKeys)
        check_digest(keys, digest, "authority")
        try:
            self._keys = _Keys(setting, keys.fingerprint, keys.public, keys.evaluation)
        except CryptoError as error:
            raise ProtocolError(f"authority sent unusable CKKS keys: {error}") from None
        sealed: SealedKey = yield Receive("authority", SealedKey)
        yield Send("user", sealed)
        memory.fingerprint = keys.fingerprint
        memory.public = self._store.keep(keys.public)
        memory.evaluation = self._store.keep(keys.evaluation)
        first = [self._keys.encrypted(value) for value in setting.packing.ridge()]
        self._sums = Sums.of(first, setting.terms.d)

    def _renew(self, t: int) -> None:
        """A new estimate, where the public schedule has one before round t."""
        memory, bounds = self._memory, self._setting.bounds
        memory.start = bounds.start(t, memory.start)
        if memory.start == t or self._estimate is None:
            self._estimate = estimate(self._known_sums, bounds, memory.start)

    def _answer(self, contexts: Contexts, t: int) -> Ciphertext:
        setting, keys = self._setting, self._known_keys
        levels = setting.levels
        tables = self._loaded(
            contexts.ciphertexts, levels.contexts, levels.scales(setting.terms.d), t
        )
        if self._estimate is None:
            raise CryptoError("this server has no estimate yet: let it run from its first step")
        b = choose(self._estimate, tables, setting.comparing)
        self._floods += 1
        return flood(b.ciphertext, keys.public, setting.terms.noise)

    def _learn(self, update: Update, t: int) -> None:
        sums = self._known_sums
        scale = self._setting.parameters.scales[0]
        listed = self._loaded(update.ciphertexts, 0, [scale] * len(sums.listed()), t)
        self._sums = sums.plus(listed)

    def _loaded(
        self, listed: list[bytes], level: int, scales: list[float], t: int
    ) -> list[Encrypted]:
        keys = self._known_keys
        loaded = ciphertexts_from(
            listed,
            self._setting.parameters,
            keys.public.fingerprint,
            level=level,
            scales=scales,
            t=t,
        )
        return [Encrypted(keys.evaluator, ciphertext) for ciphertext in loaded]

    @property
    def _known_keys(self) -> "_Keys":
        if self._keys is None:
            raise CryptoError("this server has no keys yet: let it run from its first step")
        return self._keys

    @property
    def _known_sums(self) -> Sums[Encrypted]:
        if self._sums is None:
            raise CryptoError("this server has no sums yet: let it run from its first step")
        return self._sums

    def _snapshot(self) -> bytes:
        memory = self._memory
        if self._sums is not None:
            memory.sums = tuple(entry.ciphertext.to_bytes() for entry in self._sums.listed())
            # A due estimate is computed from the sums again.
            due = self._setting.bounds.start(memory.t, memory.start) == memory.t
            kept = [] if due or self._estimate is None else self._estimate.listed()
            memory.estimate = tuple(entry.ciphertext.to_bytes() for entry in kept)
        return memory.dump()

    def _restore(self) -> None:
        memory, setting, store = self._memory, self._setting, self._store
        public, evaluation = store.fetch(memory.public), store.fetch(memory.evaluation)
        keys = self._keys = _Keys(setting, memory.fingerprint, public, evaluation)

        def loaded(listed: tuple[bytes, ...]) -> list[Encrypted]:
            frames = (
                Ciphertext.from_bytes(data, setting.parameters, memory.fingerprint)
                for data in listed
            )
            return [Encrypted(keys.evaluator, ciphertext) for ciphertext in frames]

        self._sums = Sums.of(loaded(memory.sums), setting.terms.d)
        if memory.estimate:
            self._estimate = Estimate.of(loaded(memory.estimate), setting.terms.d)


class _Keys:
    """What the server computes with."""

    def __init__(self, setting: Setting, key: str, public: bytes, evaluation: bytes) -> None:
        parameters = setting.parameters
        self.public = PublicKey.from_bytes(public, parameters, fingerprint=key)
        loaded = EvaluationKeys.from_bytes(evaluation, parameters, key)
        for step in setting.comparing.rotations:
            loaded.check_rotation(step)
        self.evaluator = Evaluator(loaded)

    def encrypted(self, value: float) -> Encrypted:
        return Encrypted(self.evaluator, self.public.encrypt(value))
