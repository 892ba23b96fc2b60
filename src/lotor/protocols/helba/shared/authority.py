"""The key authority of the shared form: makes the users' keys, and takes no further part."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.prf import new_key
from lotor.crypto.sealing import seal
from lotor.crypto.signing import Identity, place
from lotor.protocols.helba.shared.messages import WIRE, SealedUsersKeys, UsersKeyOffer
from lotor.protocols.helba.shared.terms import HelbaSharedTerms
from lotor.protocols.helba.shared.wire import SEALING_KEY, USERS_KEYS, check_digest
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party


class HelbaSharedAuthorityMemory(Memory, tag=WIRE + "authority"):
    """It keeps the users' keys only sealed to the user."""

    sealed: bytes = b""
    signature: bytes = b""


class HelbaSharedAuthority(Party):
    """Steps 1 and 2: all users share one key for pads, and one that decides ties."""

    def __init__(
        self,
        identity: Identity,
        terms: HelbaSharedTerms,
        *,
        tie_key: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        """`tie_key` decides between equal scores: from a seed in a simulation, fresh elsewhere."""
        self._identity = identity
        self._digest = terms.digest
        self._tie_key = tie_key
        self._seals = 0
        self._memory = (
            HelbaSharedAuthorityMemory(party=identity.name, run=terms.run)
            if snapshot is None
            else restored(HelbaSharedAuthorityMemory, snapshot, identity.name, terms.run)
        )

    def operations(self) -> Mapping[str, int]:
        return {
            "hpke_seals": self._seals,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        yield Checkpoint(memory.dump)
        if not memory.sealed:
            offer: UsersKeyOffer = yield Receive("server", UsersKeyOffer)  # step 1
            check_digest(offer.digest, self._digest, "server")
            self._identity.verify(
                self._digest + offer.public,
                offer.signature,
                sender="user",
                run=memory.run,
                purpose=SEALING_KEY,
                recipient=self._identity.name,
            )
            self._make(offer.public)
            # Other keys after a restart would not fit what users have covered.
            yield Checkpoint(memory.dump, durable=True)
        yield Send("server", SealedUsersKeys(self._digest, memory.sealed, memory.signature))

    def _make(self, recipient: bytes) -> None:
        """The keys are sealed to the user, since the server carries them."""
        memory, name = self._memory, self._identity.name
        keys = new_key() + (self._tie_key or new_key())
        bound = place(memory.run, USERS_KEYS, name, "user")
        memory.sealed = seal(keys, recipient, bound + self._digest)
        self._seals += 1
        memory.signature = self._identity.sign(
            self._digest + memory.sealed, run=memory.run, purpose=USERS_KEYS, recipient="user"
        )
