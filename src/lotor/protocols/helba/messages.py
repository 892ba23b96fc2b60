"""HELBA's messages, with the lines of Algorithm 4 that they carry out.

`place` is the round that a message belongs to, in a fixed width. Ciphertexts have one length for a
given run up to what SEAL's compression saves on random numbers, which tells nothing.
"""

from lotor.core.effects import Message

WIRE = "helba/1/"


class Covered(Message, frozen=True):
    """Carries keys or ciphertexts, and shows neither."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Offer(Message, frozen=True, tag=WIRE + "offer"):
    """User to server, passed on to the authority: to which key the secret key may be sealed.

    It is signed for the authority together with the digest of the terms.
    """

    digest: bytes
    public: bytes
    signature: bytes


class ServerKeys(Covered, frozen=True, tag=WIRE + "server-keys"):
    """Authority to server: what encrypts and what computes on ciphertexts, and reads nothing."""

    digest: bytes
    fingerprint: str
    public: bytes
    evaluation: bytes


class SealedKey(Covered, frozen=True, tag=WIRE + "sealed-key"):
    """Authority to server, passed on to the user: the secret key, sealed to the user and signed."""

    sealed: bytes
    signature: bytes


class Contexts(Covered, frozen=True, tag=WIRE + "contexts"):
    """Line 5, user to server: all contexts of a round, as differences of pairs, encrypted."""

    place: bytes
    ciphertexts: list[bytes]


class Choice(Covered, frozen=True, tag=WIRE + "choice"):
    """Line 10, server to user: which arm has the largest index, encrypted and with noise."""

    place: bytes
    ciphertext: bytes


class Update(Covered, frozen=True, tag=WIRE + "update"):
    """Line 12, user to server: x x^T and r x of the arm that was pulled, encrypted."""

    place: bytes
    ciphertexts: list[bytes]
