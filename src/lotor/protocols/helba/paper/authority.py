"""The key authority: makes the keys, hands them out, and takes no further part."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.ckks import SecretKey
from lotor.crypto.sealing import seal
from lotor.crypto.signing import Identity, place
from lotor.protocols.helba.paper.messages import SealedSecretKey, SealingKeyOffer, ServerKeys
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.paper.wire import (
    SEALING_KEY,
    SECRET_KEY,
    check_digest,
    cut,
    keys_shape,
    sealed_shape,
    upload,
)
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.store import Store


class HelbaAuthorityMemory(Memory, tag="helba/2/authority"):
    """The names of what it hands out; it keeps the secret key only sealed to the user."""

    fingerprint: str = ""
    public: int = 0
    keys: str = ""
    sealed: str = ""
    signature: bytes = b""


@dataclass(frozen=True, slots=True)
class _Made:
    """Both keys of the server in one string, whose first `public` bytes are the public key."""

    fingerprint: str
    public: int
    keys: bytes = field(repr=False)
    sealed: bytes = field(repr=False)
    signature: bytes


class HelbaAuthority(Party):
    """Line 1: gives the server the keys that compute, and the user the key that decrypts."""

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
        self._seals = 0
        self._made: _Made | None = None
        run = setting.terms.run
        self._memory = (
            HelbaAuthorityMemory(party=identity.name, run=run)
            if snapshot is None
            else restored(HelbaAuthorityMemory, snapshot, identity.name, run)
        )

    def operations(self) -> Mapping[str, int]:
        return {
            "hpke_seals": self._seals,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[None]:
        memory, digest = self._memory, self._setting.terms.digest
        if memory.fingerprint:
            self._made = self._fetched()
        yield Checkpoint(self._snapshot)
        if self._made is None:
            offer: SealingKeyOffer = yield Receive("server", SealingKeyOffer)
            check_digest(offer, digest, "server")
            self._identity.verify(
                digest + offer.public,
                offer.signature,
                sender="user",
                run=memory.run,
                purpose=SEALING_KEY,
                recipient=self._identity.name,
            )
            self._made = self._make(offer.public)
            # Other keys after a restart would not fit the parts that have left.
            yield Checkpoint(self._snapshot, durable=True)
        made = self._made
        keys = ServerKeys(digest, made.fingerprint, made.public, len(made.keys) - made.public)
        yield Send("server", keys)
        yield from upload("server", keys_shape(self._setting, keys), cut(made.keys))
        sealed = SealedSecretKey(len(made.sealed), made.signature)
        yield Send("server", sealed)
        yield from upload("server", sealed_shape(sealed, self._identity.name), cut(made.sealed))

    def _make(self, recipient: bytes) -> _Made:
        """The keys of a run; the secret one is sealed to the user, since the server carries it."""
        run, digest = self._memory.run, self._setting.terms.digest
        secret = SecretKey.generate(self._setting.parameters)
        public = secret.public.to_bytes()
        evaluation = secret.evaluation_keys(self._setting.circuit.rotations)
        bound = place(run, SECRET_KEY, self._identity.name, "user")
        sealed = seal(secret.to_bytes(), recipient, bound + digest)
        self._seals += 1
        signature = self._identity.sign(
            digest + sealed, run=run, purpose=SECRET_KEY, recipient="user"
        )
        return _Made(secret.fingerprint, len(public), public + evaluation, sealed, signature)

    def _fetched(self) -> _Made:
        memory, fetch = self._memory, self._store.fetch
        return _Made(
            memory.fingerprint,
            memory.public,
            fetch(memory.keys),
            fetch(memory.sealed),
            memory.signature,
        )

    def _snapshot(self) -> bytes:
        memory, made = self._memory, self._made
        if made is not None and not memory.fingerprint:
            memory.keys = self._store.keep(made.keys)
            memory.sealed = self._store.keep(made.sealed)
            memory.fingerprint, memory.public = made.fingerprint, made.public
            memory.signature = made.signature
        return memory.dump()
