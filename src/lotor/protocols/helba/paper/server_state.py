"""What the server has: sums of all rounds, keys, and what it writes down of them.

In the store are sums, and the updates that came since, as they came. Adding ciphertexts is exact,
so that after a restart they add up to the very same sums.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from lotor.core.effects import Checkpoint
from lotor.core.errors import CryptoError, ProtocolError
from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import (
    Ciphertext,
    Encrypted,
    EvaluationKeys,
    Evaluator,
    PublicKey,
    flood,
)
from lotor.protocols.helba.paper.bounds import PublicBounds
from lotor.protocols.helba.paper.index_circuit import Numbers, Spot, plus
from lotor.protocols.helba.paper.messages import ServerKeys
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.paper.wire import ciphertexts_from
from lotor.protocols.helba.terms import KEY_AUTHORITY
from lotor.protocols.memory import Memory, restored
from lotor.protocols.store import Store

REWRITE_ROUNDS = 32
"""After so many rounds sums are written down anew."""

Loader = Callable[[Sequence[bytes]], list[Encrypted]]


class StoredSums(msgspec.Struct):
    """Names in the store. `log` has an entry for each round from `first` on.

    `base` has the rounds before the batch, or fewer: the estimate is computed from these. Where
    `later` is not empty, it has all rounds before `first`, and `base` those before the batch.
    """

    base: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    log: tuple[tuple[str, ...], ...] = ()
    first: int = 1

    def names(self) -> Iterator[str]:
        yield from self.base
        yield from self.later
        for update in self.log:
            yield from update


class ServerSums:
    """The sums in memory; `before` has those from which the batch's estimate is yet to come."""

    def __init__(self, sums: Sequence[Encrypted]) -> None:
        self.sums: Numbers[Encrypted] = tuple(sums)
        self.before: Numbers[Encrypted] | None = self.sums
        self._fresh: list[bytes] = []

    @classmethod
    def restored(cls, stored: StoredSums, start: int, store: Store, load: Loader) -> "ServerSums":
        """As of a snapshot in a batch that began with round `start`."""

        def fetched(names: tuple[str, ...]) -> list[Encrypted]:
            return load([store.fetch(name) for name in names])

        sums = cls(fetched(stored.base))
        if stored.later:
            sums.sums = tuple(fetched(stored.later))
        for t, update in enumerate(stored.log, stored.first):
            sums.sums = plus(sums.sums, fetched(update))
            if t < start:
                sums.before = sums.sums
        return sums

    def add(self, update: Sequence[bytes], loaded: Sequence[Encrypted]) -> None:
        """Learn from one more round: its ciphertexts, as they came and loaded."""
        self.sums = plus(self.sums, loaded)
        self._fresh = list(update)

    @property
    def batch_start(self) -> Numbers[Encrypted]:
        """Of all rounds before the batch, where they are still kept."""
        if self.before is None:
            raise CryptoError("this server has dropped the sums before its batch: restart it")
        return self.before

    def begin_batch(self) -> None:
        """The next estimate is computed from all rounds so far."""
        self.before = self.sums

    def write(
        self, stored: StoredSums, store: Store, bounds: PublicBounds, *, t: int, start: int
    ) -> None:
        """Put what is missing into the store, before round t is over."""
        if self._fresh:
            stored.log = (*stored.log, tuple(store.keep(data) for data in self._fresh))
            self._fresh = []
        if not stored.base:
            stored.base = self._kept(store)
        elif start == t and self._base_is_due(stored, bounds, t):
            stored.base, stored.later, stored.log, stored.first = self._kept(store), (), (), t
        elif len(stored.log) >= REWRITE_ROUNDS and (stored.later or stored.first == start):
            stored.later, stored.log, stored.first = self._kept(store), (), t

    def _base_is_due(self, stored: StoredSums, bounds: PublicBounds, t: int) -> bool:
        """Before a long batch, too: in the middle of one it is too late."""
        if stored.later:  # which may be of this very round, written before it began a batch
            return True
        batch_is_long = bounds.start(t + REWRITE_ROUNDS, t) == t
        return stored.first < t and (len(stored.log) >= REWRITE_ROUNDS or batch_is_long)

    def _kept(self, store: Store) -> tuple[str, ...]:
        return tuple(store.keep(entry.ciphertext.to_bytes()) for entry in self.sums)

    def written_down(self) -> None:
        """A durable checkpoint has everything that came before it: nothing is left to write."""
        self._fresh = []


class UserHelp(msgspec.Struct):
    """What the user helps with: condition (8) and a new estimate, with the paper's index.

    Nothing here is ever chosen twice: what covers a value is on the disk before the value leaves.
    `decided` is the last round of which it is known whether a batch starts with it; `doubt` is the
    covered sign that the user is asked about before that, and `coin` what its answer is to be
    multiplied by. `masked` names a new estimate on its way to the user and `refreshed` what came
    back; `masks` are their keys.
    """

    decided: int = 1
    coin: int = 0
    doubt: bytes = b""
    masks: tuple[bytes, ...] = ()
    masked: tuple[str, ...] = ()
    refreshed: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} until round {self.decided}>"

    def names(self) -> Iterator[str]:
        yield from self.masked
        yield from self.refreshed

    def begin_batch(self) -> None:
        self.masks = self.masked = self.refreshed = ()


class HelbaServerMemory(Memory, tag="helba/2/server"):
    """Names of ciphertexts and public keys in its store, and an answer; nothing here reads them.

    `announced` are the keys that the authority has, `received` parts of what is on its way;
    `choice` is the answer of round t once it was computed.
    """

    announced: ServerKeys | None = None
    keys: tuple[str, ...] = ()
    received: tuple[str, ...] = ()
    written: StoredSums = msgspec.field(default_factory=StoredSums)
    start: int = 1
    choice: bytes = b""
    help: UserHelp = msgspec.field(default_factory=UserHelp)

    def names(self) -> Iterator[str]:
        yield from self.keys
        yield from self.received
        yield from self.written.names()
        yield from self.help.names()


class ComputingKeys:
    """The keys that the server encrypts and computes with; none of them decrypts."""

    def __init__(
        self, setting: HelbaSetting, key: str, public: bytes, evaluation: bytes, *, trial: bool
    ) -> None:
        parameters = setting.parameters
        self.public = PublicKey.from_bytes(public, parameters, fingerprint=key)
        loaded = EvaluationKeys.from_bytes(evaluation, parameters, key, trial=trial)
        for step in setting.circuit.rotations:
            loaded.check_rotation(step)
        self.evaluator = Evaluator(loaded)

    def encrypted(self, value: float | Floats, level: int = 0) -> Encrypted:
        return Encrypted(self.evaluator, self.public.encrypt(value, level))


class ServerState:
    """Memory, store, keys and sums of a server, which it shares with its estimator."""

    def __init__(self, setting: HelbaSetting, store: Store, snapshot: bytes | None) -> None:
        self.setting = setting
        self.store = store
        # What is on its way to this server, so far.
        self.parts: list[bytes] = []
        self.floods = 0
        self._keys: ComputingKeys | None = None
        self._sums: ServerSums | None = None
        run = setting.terms.run
        self.memory = (
            HelbaServerMemory(party="server", run=run)
            if snapshot is None
            else restored(HelbaServerMemory, snapshot, "server", run)
        )

    @property
    def keys(self) -> ComputingKeys:
        if self._keys is None:
            raise CryptoError("this server has no keys yet: let it run from its first step")
        return self._keys

    @property
    def sums(self) -> ServerSums:
        if self._sums is None:
            raise CryptoError("this server has no sums yet: let it run from its first step")
        return self._sums

    @property
    def begun(self) -> bool:
        """Whether something of this round came before the snapshot that it goes on from."""
        return bool(self.parts or self.memory.choice)

    def operations(self) -> Mapping[str, int]:
        totals = {} if self._keys is None else self._keys.evaluator.totals()
        return {"ckks_floods": self.floods, **{f"ckks_{n}": c for n, c in totals.items()}}

    def loaded(self, listed: Sequence[bytes], spots: Sequence[Spot], t: int) -> list[Encrypted]:
        """Ciphertexts from the user, checked."""
        keys, parameters = self.keys, self.setting.parameters
        loaded = ciphertexts_from(listed, parameters, keys.public.fingerprint, spots, t)
        return [Encrypted(keys.evaluator, ciphertext) for ciphertext in loaded]

    def contexts(self, t: int) -> list[Encrypted]:
        """Round t's contexts, from the parts that came."""
        return self.loaded(self.parts, self.setting.circuit.spots, t)

    def learn(self, t: int) -> None:
        """Add the parts that came to the sums (lines 13 and 14)."""
        top = Spot(0, self.setting.parameters.scales[0])
        loaded = self.loaded(self.parts, [top] * len(self.parts), t)
        self.sums.add(self.parts, loaded)

    def flooded(self, number: Encrypted) -> bytes:
        """A ciphertext for the user, with noise on it."""
        self.floods += 1
        noise = self.setting.circuit.noise
        return flood(number.ciphertext, self.keys.public, noise).to_bytes()

    def written(self) -> Checkpoint:
        return Checkpoint(self.snapshot, self.memory.t, durable=True)

    def let_go(self) -> None:
        """Drop what the checkpoint that is on the disk now does not name."""
        self.sums.written_down()
        self.store.retain(set(self.memory.names()))

    def clear(self) -> None:
        """Drop the parts that came: they have been used."""
        self.parts.clear()
        self.memory.received = ()

    def snapshot(self) -> bytes:
        """Puts what it names into the store only now, so that no checkpoint costs if unused."""
        memory, store = self.memory, self.store
        missing = self.parts[len(memory.received) :]
        memory.received = (*memory.received, *(store.keep(data) for data in missing))
        if self._sums is not None:
            bounds = self.setting.bounds
            self._sums.write(memory.written, store, bounds, t=memory.t, start=memory.start)
        return memory.dump()

    def first_sums(self) -> None:
        """V and g before the first round."""
        ridge = self.setting.packing.ridge()
        self._sums = ServerSums([self.keys.encrypted(value) for value in ridge])

    def restore_sums(self) -> None:
        memory, parameters, keys = self.memory, self.setting.parameters, self.keys

        def load(listed: Sequence[bytes]) -> list[Encrypted]:
            key = keys.public.fingerprint
            frames = (Ciphertext.from_bytes(data, parameters, key) for data in listed)
            return [Encrypted(keys.evaluator, ciphertext) for ciphertext in frames]

        self._sums = ServerSums.restored(memory.written, memory.start, self.store, load)

    def load_keys(self, announced: ServerKeys, parts: list[bytes], *, trial: bool = False) -> bytes:
        """Loads the keys in these parts, which it empties: no long copies stay around.

        Returns the evaluation keys as they came, for helpers. `trial`: see `EvaluationKeys`.
        """
        joined = b"".join(parts)
        parts.clear()
        if len(joined) != announced.public + announced.evaluation:
            raise ProtocolError(
                f"{KEY_AUTHORITY} sent keys of another length than it announced: it is out of "
                "step, or runs another version"
            )
        public, evaluation = joined[: announced.public], joined[announced.public :]
        del joined
        try:
            self._keys = ComputingKeys(
                self.setting, announced.fingerprint, public, evaluation, trial=trial
            )
        except CryptoError as error:
            raise ProtocolError(f"{KEY_AUTHORITY} sent unusable CKKS keys: {error}") from None
        return evaluation
