"""What the messages carry, checked by who receives them."""

from collections.abc import Sequence
from struct import Struct
from typing import Final

from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.ckks import Ciphertext, Parameters
from lotor.protocols.helba.messages import Choice, Contexts, Offer, ServerKeys, Update

_PLACE = Struct(">Q")

SEALING_KEY: Final = "sealing key"
SECRET_KEY: Final = "CKKS secret key"  # a purpose, not a secret  # noqa: S105


def place_of(t: int) -> bytes:
    return _PLACE.pack(t)


def check_place(message: Contexts | Choice | Update, t: int, sender: str) -> None:
    """Refuse what belongs to another round."""
    if message.place != place_of(t):
        raise ProtocolError(
            f"{sender} sent {type(message).__name__} of another round than {t}: it is out of step, "
            "or runs another version"
        )


def check_digest(message: Offer | ServerKeys, digest: bytes, sender: str) -> None:
    """Refuse a party that keeps other terms, before it is given anything."""
    if message.digest != digest:
        raise ProtocolError(
            f"{sender} keeps other terms than this party: they were told different things; start "
            "a new run"
        )


def ciphertext_from(
    data: bytes, parameters: Parameters, key: str, sender: str, t: int
) -> Ciphertext:
    """A ciphertext under the run's key, or an error that names who sent something else."""
    try:
        return Ciphertext.from_bytes(data, parameters, key)
    except CryptoError as error:
        raise ProtocolError(
            f"{sender} sent no ciphertext of this run in round {t}: {error}"
        ) from None


def ciphertexts_from(
    listed: Sequence[bytes],
    parameters: Parameters,
    key: str,
    *,
    level: int,
    scales: Sequence[float],
    t: int,
) -> list[Ciphertext]:
    """The user's ciphertexts of round t, each at the level and scale where it is needed."""
    if len(listed) != len(scales):
        raise ProtocolError(
            f"user sent {len(listed)} ciphertexts in round {t} where {len(scales)} are due: it "
            "computes another form; let all parties run the same version"
        )
    loaded = [ciphertext_from(data, parameters, key, "user", t) for data in listed]
    if any(c.level != level or c.scale != s for c, s in zip(loaded, scales, strict=True)):
        raise ProtocolError(
            f"user sent ciphertexts of another level or scale than round {t} needs: it computes "
            "another form; let all parties run the same version"
        )
    return loaded
