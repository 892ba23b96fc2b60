"""The server: learns and chooses on ciphertexts, and never has the key that reads them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import msgspec

from lotor.core.effects import Checkpoint, Receive, Send, Steps
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
from lotor.protocols.helba.help import Help
from lotor.protocols.helba.index_circuit import Numbers, Spot
from lotor.protocols.helba.learning import Learning, Written
from lotor.protocols.helba.messages import Choice, Offer, SealedKey, ServerKeys, Taken
from lotor.protocols.helba.setting import HelbaSetting
from lotor.protocols.helba.uploads import Shape, download, pass_on
from lotor.protocols.helba.wire import (
    KEY_AUTHORITY,
    check_digest,
    ciphertexts_from,
    contexts_shape,
    keys_shape,
    place_of,
    sealed_shape,
    update_shape,
)
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.store import Store


class ServerMemory(Memory, tag="helba/2/server"):
    """Names of ciphertexts and public keys in its store, and an answer; nothing here reads them.

    `announced` are the keys that the authority has, `received` parts of what is on its way;
    `choice` is the answer of round t once it was computed, `help` what the user helps with.
    """

    announced: ServerKeys | None = None
    keys: tuple[str, ...] = ()
    received: tuple[str, ...] = ()
    written: Written = msgspec.field(default_factory=Written)
    start: int = 1
    choice: bytes = b""
    help: Help = msgspec.field(default_factory=Help)

    def names(self) -> Iterator[str]:
        yield from self.keys
        yield from self.received
        yield from self.written.names()
        yield from self.help.names()


class Server(Party):
    """Lines 6 to 10 and 13 to 15 of Algorithm 4."""

    slow: ClassVar[bool] = True

    def __init__(
        self, setting: HelbaSetting, store: Store, *, snapshot: bytes | None = None
    ) -> None:
        self._setting = setting
        self._store = store
        self._keys: Keys | None = None
        self._learning: Learning | None = None
        self._estimate: Numbers[Encrypted] | None = None
        # What is on its way to this server, so far.
        self._parts: list[bytes] = []
        self._floods = 0
        run = setting.terms.run
        self._memory = (
            ServerMemory(party="server", run=run)
            if snapshot is None
            else restored(ServerMemory, snapshot, "server", run)
        )

    def operations(self) -> Mapping[str, int]:
        counted: Counter[str] = Counter({"ckks_floods": self._floods})
        if self._keys is not None:
            counted.update({f"ckks_{n}": c for n, c in self._keys.evaluator.totals().items()})
        return dict(counted)

    def steps(self) -> Steps[None]:
        memory = self._memory
        self._restore()
        if memory.t == 0:
            yield Checkpoint(self._snapshot)
            yield from self._set_up()
            memory.t = 1
        while memory.t <= self._setting.terms.budget:
            self._begin(memory.t)
            yield self._written()
            self._let_go()
            yield from self._round(memory.t)
            memory.choice = b""
            memory.t += 1

    def _set_up(self) -> Steps[None]:
        """Pass the user's offer on, and the sealed key back; keep what computes."""
        memory, setting, digest = self._memory, self._setting, self._setting.terms.digest
        if memory.announced is None:
            offer: Offer = yield Receive("user", Offer)
            check_digest(offer, digest, "user")
            yield Send(KEY_AUTHORITY, offer)
            keys: ServerKeys = yield Receive(KEY_AUTHORITY, ServerKeys)
            check_digest(keys, digest, KEY_AUTHORITY)
            memory.announced = keys
        shape = keys_shape(setting, memory.announced)
        if len(self._parts) < shape.count:
            yield from download(KEY_AUTHORITY, shape, self._parts, self._written())
            yield self._written()
        memory.keys, memory.received = memory.received, ()
        self._keys = self._loaded_keys(memory.announced, self._parts)
        sealed: SealedKey = yield Receive(KEY_AUTHORITY, SealedKey)
        shape = sealed_shape(sealed, KEY_AUTHORITY)
        yield Send("user", sealed)
        yield from pass_on(KEY_AUTHORITY, "user", shape)
        first = [self._keys.encrypted(value) for value in setting.packing.ridge()]
        self._learning = Learning(first)

    def _begin(self, t: int) -> None:
        """A new batch, where the public schedule has one before round t."""
        memory, bounds = self._memory, self._setting.bounds
        memory.start = bounds.start(t, memory.start)
        if memory.start == t and not self._begun:
            self._known.begin_batch()

    @property
    def _begun(self) -> bool:
        """Whether something of this round came before the snapshot that it goes on from."""
        return bool(self._parts or self._memory.choice)

    def _round(self, t: int) -> Steps[None]:
        memory, setting, parts = self._memory, self._setting, self._parts
        if t > 1 and not self._begun:
            yield Send("user", Taken(place_of(t - 1), update_shape(setting, t - 1).count))
        if not memory.choice:
            yield from self._renew(t)
            yield from self._download(contexts_shape(setting, t))
            memory.choice = self._answer(t).to_bytes()
            self._clear()
            # The same answer with other noise would let the user average the noise away.
            yield self._written()
            self._let_go()
        if not parts:
            yield Send("user", Choice(place_of(t), memory.choice))  # line 10
        if t < setting.terms.budget:
            yield from self._download(update_shape(setting, t))
            self._learn(t)
            self._clear()

    def _download(self, shape: Shape) -> Steps[None]:
        yield from download("user", shape, self._parts, self._written())

    def _written(self) -> Checkpoint:
        return Checkpoint(self._snapshot, self._memory.t, durable=True)

    def _let_go(self) -> None:
        """Of what the checkpoint that is on the disk now does not name."""
        self._known.written_down()
        self._store.retain(set(self._memory.names()))

    def _clear(self) -> None:
        self._parts.clear()
        self._memory.received = ()

    def _renew(self, t: int) -> Steps[None]:  # noqa: ARG002
        """The estimate of round t's batch, computed when it is first needed (line 15)."""
        yield from ()
        learning = self._known
        if learning.before is not None:
            self._estimate = self._setting.circuit.estimate(learning.before, self._memory.start)
            learning.before = None

    def _current(self) -> Numbers[Encrypted]:
        """The estimate of the batch."""
        if self._estimate is None:
            raise CryptoError("this server has no estimate yet: let it run from its first step")
        return self._estimate

    def _answer(self, t: int) -> Ciphertext:
        """Lines 6 to 10, with noise."""
        b = self._setting.circuit.winners(self._differences(t))
        self._floods += 1
        return flood(b.ciphertext, self._known_keys.public, self._setting.circuit.noise)

    def _differences(self, t: int) -> Encrypted:
        """Lines 6 and 7."""
        circuit = self._setting.circuit
        return circuit.differences(self._current(), self._tables(t), t, self._memory.start)

    def _tables(self, t: int) -> list[Encrypted]:
        """Round t's contexts."""
        return self._loaded(self._parts, self._setting.circuit.spots, t)

    def _learn(self, t: int) -> None:
        """Lines 13 and 14."""
        top = Spot(0, self._setting.parameters.scales[0])
        loaded = self._loaded(self._parts, [top] * len(self._parts), t)
        self._known.add(self._parts, loaded)

    def _loaded(self, listed: Sequence[bytes], spots: Sequence[Spot], t: int) -> list[Encrypted]:
        keys, parameters = self._known_keys, self._setting.parameters
        loaded = ciphertexts_from(listed, parameters, keys.public.fingerprint, spots, t)
        return [Encrypted(keys.evaluator, ciphertext) for ciphertext in loaded]

    @property
    def _known_keys(self) -> "Keys":
        if self._keys is None:
            raise CryptoError("this server has no keys yet: let it run from its first step")
        return self._keys

    @property
    def _known(self) -> Learning:
        if self._learning is None:
            raise CryptoError("this server has no sums yet: let it run from its first step")
        return self._learning

    def _snapshot(self) -> bytes:
        """Puts into the store what it names, so that nothing is written where nobody asks."""
        memory, store = self._memory, self._store
        missing = self._parts[len(memory.received) :]
        memory.received = (*memory.received, *(store.keep(data) for data in missing))
        if self._learning is not None:
            bounds = self._setting.bounds
            self._learning.write(memory.written, store, bounds, t=memory.t, start=memory.start)
        return memory.dump()

    def _restore(self) -> None:
        memory, store = self._memory, self._store
        self._parts = [store.fetch(name) for name in memory.received]
        if memory.t == 0 or memory.announced is None:
            return
        keys = [store.fetch(name) for name in memory.keys]
        loaded = self._keys = self._loaded_keys(memory.announced, keys)
        parameters, key = self._setting.parameters, memory.announced.fingerprint

        def load(listed: Sequence[bytes]) -> list[Encrypted]:
            frames = (Ciphertext.from_bytes(data, parameters, key) for data in listed)
            return [Encrypted(loaded.evaluator, ciphertext) for ciphertext in frames]

        self._learning = Learning.restored(memory.written, memory.start, store, load)

    def _loaded_keys(self, announced: ServerKeys, parts: list[bytes]) -> "Keys":
        """The keys in these parts, which are given up: no long copies stay around."""
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
            return Keys(self._setting, announced.fingerprint, public, evaluation)
        except CryptoError as error:
            raise ProtocolError(f"{KEY_AUTHORITY} sent unusable CKKS keys: {error}") from None


class Keys:
    """What the server computes with."""

    def __init__(self, setting: HelbaSetting, key: str, public: bytes, evaluation: bytes) -> None:
        parameters = setting.parameters
        self.public = PublicKey.from_bytes(public, parameters, fingerprint=key)
        loaded = EvaluationKeys.from_bytes(evaluation, parameters, key)
        for step in setting.circuit.rotations:
            loaded.check_rotation(step)
        self.evaluator = Evaluator(loaded)

    def encrypted(self, value: float | Floats) -> Encrypted:
        return Encrypted(self.evaluator, self.public.encrypt(value))
