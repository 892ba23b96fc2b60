"""The key authority: makes the keys, hands them out, and takes no further part."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.ckks import SecretKey
from lotor.crypto.sealing import seal
from lotor.crypto.signing import Identity, place
from lotor.protocols.helba.messages import Offer, SealedKey, ServerKeys
from lotor.protocols.helba.setting import Setting
from lotor.protocols.helba.store import Store
from lotor.protocols.helba.wire import SEALING_KEY, SECRET_KEY, check_digest
from lotor.protocols.memory import Memory, restored


class AuthorityMemory(Memory, tag="helba/1/authority"):
    """The name of the secret key in its store."""

    key: str


class Authority:
    """Line 1: to the server the keys that compute, to the user the one that reads."""

    def __init__(
        self, identity: Identity, setting: Setting, store: Store, *, snapshot: bytes | None = None
    ) -> None:
        self._identity = identity
        self._setting = setting
        self._seals = 0
        run = setting.terms.run
        if snapshot is None:
            self._secret = SecretKey.generate(setting.parameters)
            kept = store.keep(self._secret.to_bytes())
            self._memory = AuthorityMemory(party=identity.name, run=run, key=kept)
        else:
            self._memory = restored(AuthorityMemory, snapshot, identity.name, run)
            kept_key = store.fetch(self._memory.key)
            self._secret = SecretKey.from_bytes(kept_key, setting.parameters)

    def operations(self) -> Mapping[str, int]:
        return {
            "hpke_seals": self._seals,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[None]:
        yield Checkpoint(self._memory.dump, durable=True)
        digest, secret = self._setting.terms.digest, self._secret
        offer: Offer = yield Receive("server", Offer)
        check_digest(offer, digest, "server")
        self._identity.verify(
            digest + offer.public,
            offer.signature,
            sender="user",
            run=self._memory.run,
            purpose=SEALING_KEY,
            recipient=self._identity.name,
        )
        evaluation = secret.evaluation_keys(self._setting.comparing.rotations)
        public = secret.public.to_bytes()
        yield Send("server", ServerKeys(digest, secret.fingerprint, public, evaluation))
        yield Send("server", self._sealed(offer.public))

    def _sealed(self, recipient: bytes) -> SealedKey:
        """The secret key for the user alone, although the server carries it."""
        run, digest = self._memory.run, self._setting.terms.digest
        bound = place(run, SECRET_KEY, self._identity.name, "user")
        sealed = seal(self._secret.to_bytes(), recipient, bound + digest)
        self._seals += 1
        signature = self._identity.sign(
            digest + sealed, run=run, purpose=SECRET_KEY, recipient="user"
        )
        return SealedKey(sealed, signature)
