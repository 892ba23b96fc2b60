"""Signatures on what a party hands out (Ed25519), bound to a run, a purpose and a recipient."""

from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from lotor.core.errors import IntegrityError


def place(*parts: str) -> bytes:
    """An unambiguous encoding of strings: each is preceded by its length."""
    encoded = [part.encode() for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


class Identity:
    """A party's signing key and the verifying keys of its peers."""

    def __init__(
        self, name: str, key: Ed25519PrivateKey, peers: Mapping[str, Ed25519PublicKey]
    ) -> None:
        self.name = name
        self._key = key
        self._peers = dict(peers)
        self.signatures = 0
        self.verifications = 0

    def __repr__(self) -> str:
        return f"<Identity of {self.name}>"

    def sign(self, data: bytes, *, run: str, purpose: str, recipient: str) -> bytes:
        self.signatures += 1
        return self._key.sign(place("lotor/1", run, purpose, self.name, recipient) + data)

    def verify(
        self, data: bytes, signature: bytes, *, sender: str, run: str, purpose: str, recipient: str
    ) -> None:
        """Raise IntegrityError unless `sender` signed exactly this, for this recipient and run."""
        self.verifications += 1
        key = self._peers.get(sender)
        if key is None:
            raise IntegrityError(
                f"{self.name} has no verifying key of {sender}, which is not among the parties "
                "that it was set up with"
            )
        try:
            key.verify(signature, place("lotor/1", run, purpose, sender, recipient) + data)
        except InvalidSignature:
            raise IntegrityError(
                f"the signature on the {purpose} of {sender} is not valid for {recipient} "
                f"in run {run}: it was altered, or signed by somebody else or for another run"
            ) from None


def trusting_identities(names: list[str]) -> dict[str, Identity]:
    """Fresh identities that know each other: a federation within one process."""
    keys = {name: Ed25519PrivateKey.generate() for name in names}
    public = {name: key.public_key() for name, key in keys.items()}
    return {name: Identity(name, key, public) for name, key in keys.items()}
