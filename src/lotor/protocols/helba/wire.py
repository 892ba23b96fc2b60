"""What the messages carry, checked by who receives them."""

from collections.abc import Sequence
from struct import Struct
from typing import Final

from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.ckks import Ciphertext, Parameters
from lotor.protocols.helba.index_circuit import Spot
from lotor.protocols.helba.messages import (
    Bit,
    Choice,
    Contexts,
    Doubt,
    KeyPart,
    Masked,
    Offer,
    Refreshed,
    SealedKey,
    SealedKeyPart,
    ServerKeys,
    Update,
    Verdict,
)
from lotor.protocols.helba.root import RootCircuit
from lotor.protocols.helba.setting import HelbaSetting
from lotor.protocols.helba.uploads import WINDOW_BYTES, Shape, cut_shape

_PLACE = Struct(">Q")
# What a frame, and SEAL's own, add to the numbers of a ciphertext.
_FRAME_BYTES: Final = 4096

KEY_AUTHORITY: Final = "key-authority"
"""Not the authority of the federation, which signs certificates."""

SEALING_KEY: Final = "sealing key"
SECRET_KEY: Final = "CKKS secret key"  # a purpose, not a secret  # noqa: S105


def place_of(t: int) -> bytes:
    return _PLACE.pack(t)


def check_place(message: Choice | Doubt | Bit | Verdict, t: int, sender: str) -> None:
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


def contexts_shape(setting: HelbaSetting, t: int) -> Shape:
    return _ciphertexts(setting, Contexts, t, min(spot.level for spot in setting.circuit.spots))


def update_shape(setting: HelbaSetting, t: int) -> Shape:
    return _ciphertexts(setting, Update, t, 0)


def _ciphertexts(setting: HelbaSetting, kind: type[Contexts | Update], t: int, level: int) -> Shape:
    longest = setting.parameters.ciphertext_bytes(level, seeded=True) + _FRAME_BYTES
    return Shape(kind, place_of(t), len(setting.circuit.spots), longest)


def masked_shape(circuit: RootCircuit, t: int) -> Shape:
    return _parts_of(circuit, Masked, t, circuit.mask_level)


def refreshed_shape(circuit: RootCircuit, t: int) -> Shape:
    return _parts_of(circuit, Refreshed, t, circuit.x_spot.level)


def _parts_of(circuit: RootCircuit, kind: type[Masked | Refreshed], t: int, level: int) -> Shape:
    longest = circuit.parameters.ciphertext_bytes(level) + _FRAME_BYTES
    return Shape(kind, place_of(t), len(circuit.spots), longest)


def keys_shape(setting: HelbaSetting, keys: ServerKeys) -> Shape:
    """Of both keys one after the other; refuses what no keys of this run can be."""
    parameters = setting.parameters
    switching = 1 + len(setting.circuit.rotations)
    most = switching * parameters.switching_key_bytes() + 32 * parameters.degree + _FRAME_BYTES
    for name, size, largest in (
        ("public key", keys.public, parameters.ciphertext_bytes(-1) + _FRAME_BYTES),
        ("evaluation keys", keys.evaluation, most),
    ):
        _check_size(f"{KEY_AUTHORITY} announced {name}", size, largest)
    return cut_shape(KeyPart, place_of(0), keys.public + keys.evaluation)


def sealed_shape(key: SealedKey, sender: str) -> Shape:
    """Refuses what is more than one window, so that nobody needs to wait in between."""
    _check_size(f"{sender} announced a sealed key", key.size, WINDOW_BYTES)
    return cut_shape(SealedKeyPart, place_of(0), key.size)


def _check_size(what: str, size: int, largest: int) -> None:
    if not 0 < size <= largest:
        raise ProtocolError(
            f"{what} of {size} bytes, which is nothing or more than the {largest} that there can "
            "be: let all parties run the same version"
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
    spots: Sequence[Spot],
    t: int,
    sender: str = "user",
) -> list[Ciphertext]:
    """Ciphertexts of round t, each at the level and scale where it is needed."""
    loaded = [ciphertext_from(data, parameters, key, sender, t) for data in listed]
    if any((c.level, c.scale) != spot for c, spot in zip(loaded, spots, strict=True)):
        raise ProtocolError(
            f"{sender} sent ciphertexts of another level or scale than round {t} needs: it "
            "computes another circuit; let all parties run the same version"
        )
    return loaded
