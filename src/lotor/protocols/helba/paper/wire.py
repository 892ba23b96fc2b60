"""How messages carry keys and ciphertexts, and how a receiver checks them.

Long values travel in parts, of which only so many are on their way at one time. A party keeps what
it has sent until the receiver has it on its disk, and sends it again on every new connection. So
that this stays small, the receiver writes down what it has after every window of parts and says so;
only then do the next ones follow. After the last window the receiver sends no `Taken`: its next
message shows that it has the whole.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Final

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.ckks import Ciphertext, Parameters
from lotor.protocols.helba.paper.index_circuit import Spot
from lotor.protocols.helba.paper.messages import (
    BatchDecision,
    Contexts,
    CoveredSign,
    EncryptedChoice,
    KeyPart,
    MaskedEntry,
    RefreshedEntry,
    SealedKeyPart,
    SealedSecretKey,
    SealingKeyOffer,
    ServerKeys,
    SignBit,
    Taken,
    Update,
    UploadPart,
)
from lotor.protocols.helba.paper.root import RootCircuit
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.terms import KEY_AUTHORITY

PART_BYTES: Final = 8 << 20
WINDOW_BYTES: Final = 32 << 20

_PLACE = Struct(">Q")
# What a frame, and SEAL's own, add to the numbers of a ciphertext.
_FRAME_BYTES: Final = 4096

SEALING_KEY: Final = "sealing key"
SECRET_KEY: Final = "CKKS secret key"  # a purpose, not a secret  # noqa: S105


@dataclass(frozen=True, slots=True)
class UploadShape:
    """What both sides know of an upload: `count` parts of at most `longest` bytes each."""

    kind: type[UploadPart]
    place: bytes
    count: int
    longest: int

    @property
    def window(self) -> int:
        return max(1, WINDOW_BYTES // self.longest)

    def pauses(self, done: int) -> bool:
        """Whether the sender waits after so many parts."""
        return 0 < done < self.count and done % self.window == 0


def cut_shape(kind: type[UploadPart], place: bytes, size: int) -> UploadShape:
    """Of so many bytes that were `cut`."""
    return UploadShape(kind, place, -(-size // PART_BYTES), PART_BYTES)


def cut(data: bytes) -> Iterable[bytes]:
    return (data[start : start + PART_BYTES] for start in range(0, len(data), PART_BYTES))


def upload(to: str, shape: UploadShape, parts: Iterable[bytes]) -> Steps[None]:
    """Send all parts, and wait after each window of them."""
    for index, data in enumerate(parts):
        yield Send(to, shape.kind(shape.place, index, data))
        if shape.pauses(index + 1):
            yield from taken(to, shape, index + 1)


def taken(sender: str, shape: UploadShape, count: int) -> Steps[None]:
    """Wait until the receiver has so many parts on its disk."""
    message: Taken = yield Receive(sender, Taken)
    if (message.place, message.count) != (shape.place, count):
        raise ProtocolError(
            f"{sender} took other parts of {shape.kind.__name__} than the first {count}: it is "
            "out of step, or runs another version"
        )


def download(
    sender: str, shape: UploadShape, parts: list[bytes], checkpoint: Checkpoint
) -> Steps[None]:
    """Add the missing parts to `parts`, which the durable `checkpoint` writes down."""
    if shape.pauses(len(parts)):
        # Restored from that very checkpoint.
        yield Send(sender, Taken(shape.place, len(parts)))
    while len(parts) < shape.count:
        part: UploadPart = yield Receive(sender, shape.kind)
        check_part(part, shape, len(parts), sender)
        parts.append(part.data)
        if shape.pauses(len(parts)):
            yield checkpoint
            yield Send(sender, Taken(shape.place, len(parts)))


def pass_on(sender: str, to: str, shape: UploadShape) -> Steps[None]:
    """Hand over an upload that fits into one window."""
    for index in range(shape.count):
        part: UploadPart = yield Receive(sender, shape.kind)
        check_part(part, shape, index, sender)
        yield Send(to, part)


def check_part(part: UploadPart, shape: UploadShape, index: int, sender: str) -> None:
    """Refuse a part of something else, out of order, or too long."""
    what = f"{sender} sent {shape.kind.__name__}"
    if part.place != shape.place:
        raise ProtocolError(f"{what} of another round: it is out of step, or runs another version")
    if part.index != index:
        raise ProtocolError(
            f"{what} number {part.index} where number {index} of {shape.count} is due: it is out "
            "of step, or runs another version"
        )
    if len(part.data) > shape.longest:
        raise ProtocolError(
            f"{what} number {index} with {len(part.data)} bytes where {shape.longest} are the "
            "most: it computes another circuit; let all parties run the same version"
        )


def place_of(t: int) -> bytes:
    return _PLACE.pack(t)


def check_place(
    message: EncryptedChoice | CoveredSign | SignBit | BatchDecision, t: int, sender: str
) -> None:
    """Refuse a message of another round."""
    if message.place != place_of(t):
        raise ProtocolError(
            f"{sender} sent {type(message).__name__} of another round than {t}: it is out of step, "
            "or runs another version"
        )


def check_digest(message: SealingKeyOffer | ServerKeys, digest: bytes, sender: str) -> None:
    """Refuse a party that keeps other terms, before it is given anything."""
    if message.digest != digest:
        raise ProtocolError(
            f"{sender} keeps other terms than this party: they were told different things; start "
            "a new run"
        )


def contexts_shape(setting: HelbaSetting, t: int) -> UploadShape:
    return _ciphertexts(setting, Contexts, t, min(spot.level for spot in setting.circuit.spots))


def update_shape(setting: HelbaSetting, t: int) -> UploadShape:
    return _ciphertexts(setting, Update, t, 0)


def _ciphertexts(
    setting: HelbaSetting, kind: type[Contexts | Update], t: int, level: int
) -> UploadShape:
    longest = setting.parameters.ciphertext_bytes(level, seeded=True) + _FRAME_BYTES
    return UploadShape(kind, place_of(t), len(setting.circuit.spots), longest)


def masked_shape(circuit: RootCircuit, t: int) -> UploadShape:
    return _parts_of(circuit, MaskedEntry, t, circuit.mask_level)


def refreshed_shape(circuit: RootCircuit, t: int) -> UploadShape:
    return _parts_of(circuit, RefreshedEntry, t, circuit.x_spot.level)


def _parts_of(
    circuit: RootCircuit, kind: type[MaskedEntry | RefreshedEntry], t: int, level: int
) -> UploadShape:
    longest = circuit.parameters.ciphertext_bytes(level) + _FRAME_BYTES
    return UploadShape(kind, place_of(t), len(circuit.spots), longest)


def keys_shape(setting: HelbaSetting, keys: ServerKeys) -> UploadShape:
    """Of both keys one after the other; refuses lengths that no keys of this run have."""
    parameters = setting.parameters
    switching = 1 + len(setting.circuit.rotations)
    most = switching * parameters.switching_key_bytes() + 32 * parameters.degree + _FRAME_BYTES
    for name, size, largest in (
        ("public key", keys.public, parameters.ciphertext_bytes(-1) + _FRAME_BYTES),
        ("evaluation keys", keys.evaluation, most),
    ):
        _check_size(f"{KEY_AUTHORITY} announced {name}", size, largest)
    return cut_shape(KeyPart, place_of(0), keys.public + keys.evaluation)


def sealed_shape(key: SealedSecretKey, sender: str) -> UploadShape:
    """Refuses more than one window, so that nobody needs to wait in between."""
    _check_size(f"{sender} announced a sealed key", key.size, WINDOW_BYTES)
    return cut_shape(SealedKeyPart, place_of(0), key.size)


def _check_size(what: str, size: int, largest: int) -> None:
    if not 0 < size <= largest:
        raise ProtocolError(
            f"{what} of {size} bytes, where between 1 and {largest} are possible: let all parties "
            "run the same version"
        )


def ciphertext_from(
    data: bytes, parameters: Parameters, key: str, sender: str, t: int
) -> Ciphertext:
    """A ciphertext under the run's key, or an error that names the sender."""
    try:
        return Ciphertext.from_bytes(data, parameters, key)
    except CryptoError as error:
        raise ProtocolError(
            f"{sender} sent something else than a ciphertext of this run in round {t}: {error}"
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
