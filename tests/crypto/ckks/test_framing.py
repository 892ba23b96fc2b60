"""Whatever is altered, cut, foreign or of another kind is refused before SEAL reads it."""

import hmac
import os
import struct
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.ckks.small import parameters, small
from lotor.core.errors import (
    FormatError,
    InputError,
    IntegrityError,
    KeyMismatchError,
    LotorError,
    ProtocolError,
    VersionError,
)
from lotor.crypto.ckks import Ciphertext, EvaluationKeys, PublicKey, SecretKey
from lotor.crypto.ckks.context import context_of
from lotor.crypto.ckks.framing import CKKSFrame
from lotor.crypto.seal import binding
from lotor.crypto.seal.framing import FrameKind
from lotor.protocols.helba.paper.wire import ciphertext_from

KIT = small(2, (1,))
P = KIT.parameters
PRINT = KIT.secret.fingerprint
MAC_KEY = bytes(range(32))
HEADER_BYTES = 4 + 3 + 32 + 2 + 8 + 1


def load(kind: FrameKind, data: bytes, mac_key: bytes | None = None) -> object:
    if kind is FrameKind.SECRET_KEY:
        return SecretKey.from_bytes(data, P, fingerprint=PRINT, mac_key=mac_key)
    if kind is FrameKind.PUBLIC_KEY:
        return PublicKey.from_bytes(data, P, fingerprint=PRINT, mac_key=mac_key)
    if kind is FrameKind.EVALUATION_KEYS:
        return EvaluationKeys.from_bytes(data, P, PRINT, mac_key=mac_key)
    return Ciphertext.from_bytes(data, P, PRINT, mac_key=mac_key)


def made(kind: FrameKind, mac_key: bytes | None = None) -> bytes:
    if kind is FrameKind.SECRET_KEY:
        return KIT.secret.to_bytes(mac_key=mac_key)
    if kind is FrameKind.PUBLIC_KEY:
        return KIT.secret.public.to_bytes(mac_key=mac_key)
    if kind is FrameKind.EVALUATION_KEYS:
        return KIT.secret.evaluation_keys([1], mac_key=mac_key)
    return KIT.secret.encrypt_to_bytes([1.0, 2.0], mac_key=mac_key)


FRAMES = {(kind, key): made(kind, key) for kind in FrameKind for key in (None, MAC_KEY)}
ALL = pytest.mark.parametrize(("kind", "mac_key"), list(FRAMES))


def never(*_: object) -> None:
    raise AssertionError("SEAL was asked to read it")


@pytest.fixture
def _no_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may reach SEAL."""
    for module in ("keys", "ciphertext"):
        monkeypatch.setattr(f"lotor.crypto.ckks.{module}.load", never)


@ALL
def test_what_was_written_can_be_read(kind: FrameKind, mac_key: bytes | None) -> None:
    load(kind, FRAMES[kind, mac_key], mac_key)


@ALL
@pytest.mark.usefixtures("_no_seal")
def test_every_byte_of_the_header_and_samples_of_the_rest(
    kind: FrameKind, mac_key: bytes | None
) -> None:
    whole = FRAMES[kind, mac_key]
    inner = range(HEADER_BYTES, len(whole), max(1, len(whole) // 40))
    for place in (*range(HEADER_BYTES + 24), *inner, *range(len(whole) - 32, len(whole))):
        altered = bytearray(whole)
        altered[place] ^= 0x10
        with pytest.raises((IntegrityError, FormatError, VersionError)):
            load(kind, bytes(altered), mac_key)


@ALL
@pytest.mark.usefixtures("_no_seal")
def test_cut_and_extended(kind: FrameKind, mac_key: bytes | None) -> None:
    whole = FRAMES[kind, mac_key]
    lengths = (0, 3, HEADER_BYTES, HEADER_BYTES + 31, 200, len(whole) // 2, len(whole) - 1)
    for data in (*(whole[:length] for length in lengths), whole + b"\0", whole[1:]):
        with pytest.raises((IntegrityError, FormatError)):
            load(kind, data, mac_key)


@pytest.mark.usefixtures("_no_seal")
@pytest.mark.parametrize("kind", list(FrameKind))
def test_the_two_checks_do_not_stand_in_for_each_other(kind: FrameKind) -> None:
    with pytest.raises(IntegrityError):
        load(kind, FRAMES[kind, None], MAC_KEY)
    with pytest.raises(IntegrityError):
        load(kind, FRAMES[kind, MAC_KEY], None)
    with pytest.raises(IntegrityError):
        load(kind, FRAMES[kind, MAC_KEY], os.urandom(32))
    with pytest.raises(InputError, match="guessed"):
        load(kind, FRAMES[kind, MAC_KEY], b"short")


@pytest.mark.usefixtures("_no_seal")
@pytest.mark.parametrize("kind", list(FrameKind))
def test_another_kind(kind: FrameKind) -> None:
    for other in set(FrameKind) - {kind}:
        with pytest.raises(FormatError, match="pass the right object"):
            load(kind, FRAMES[other, None])


@pytest.mark.usefixtures("_no_seal")
@pytest.mark.parametrize("kind", list(FrameKind))
def test_foreign_keys_and_parameters(kind: FrameKind) -> None:
    data = FRAMES[kind, None]
    with pytest.raises(KeyMismatchError, match="is needed"):
        CKKSFrame.read(kind, data, P, key="00" * 16)
    with pytest.raises(KeyMismatchError, match="same parameter set"):
        CKKSFrame.read(kind, data, parameters(3), key=PRINT)


def test_another_keys_ciphertext_is_not_decrypted() -> None:
    other = SecretKey.generate(P)
    with pytest.raises(KeyMismatchError):
        KIT.secret.decrypt(other.public.encrypt(1.0))
    with pytest.raises(KeyMismatchError):
        KIT.server.multiply(other.public.encrypt(1.0), KIT.secret.public.encrypt(1.0))


@pytest.mark.usefixtures("_no_seal")
def test_a_public_key_cannot_be_passed_off_as_another() -> None:
    """Even with a check that fits: the fingerprint is that of the key itself."""
    stranger = SecretKey.generate(P).public
    frame = CKKSFrame(FrameKind.PUBLIC_KEY, P.fingerprint, PRINT, (stranger._payload,))
    with pytest.raises(FormatError, match="exchanged"):
        PublicKey.from_bytes(frame.to_bytes(), P, fingerprint=PRINT)


@pytest.mark.parametrize("change", [{"level": 1}, {"scale": 2.0**39}, {"level": 9}])
def test_a_header_that_contradicts_its_content(change: dict[str, float]) -> None:
    frame = CKKSFrame.read(FrameKind.CIPHERTEXT, FRAMES[FrameKind.CIPHERTEXT, None], P, key=PRINT)
    values = {"level": frame.level, "scale": frame.scale, **change}
    forged = CKKSFrame(
        FrameKind.CIPHERTEXT,
        P.fingerprint,
        PRINT,
        frame.parts,
        int(values["level"]),
        values["scale"],
    )
    with pytest.raises(FormatError):
        Ciphertext.from_bytes(forged.to_bytes(), P, PRINT)


@pytest.mark.usefixtures("_no_seal")
@pytest.mark.parametrize("kind", list(FrameKind))
def test_content_that_seal_did_not_write(kind: FrameKind) -> None:
    for parts in ((), (b"",), (b"x" * 100,) * 2, (b"\x90", b"x" * 100), (b"\x91\x00", b"")):
        with pytest.raises(FormatError):
            load(kind, CKKSFrame(kind, P.fingerprint, PRINT, parts).to_bytes())


def test_content_of_seal_that_is_too_long_or_damaged() -> None:
    payload = binding.saved(KIT.secret.public.encrypt(1.0).seal)
    most = len(CKKSFrame.check_payload(FrameKind.CIPHERTEXT, payload, 2 * len(payload)))
    assert len(payload) < most
    CKKSFrame.check_payload(FrameKind.CIPHERTEXT, payload, most)
    for too_few in (len(payload) - 1, len(payload), most - 1000):
        with pytest.raises(FormatError):
            CKKSFrame.check_payload(FrameKind.CIPHERTEXT, payload, too_few)
    damaged = payload[:30] + os.urandom(len(payload) - 30)
    with pytest.raises(LotorError):
        Ciphertext.from_bytes(
            CKKSFrame(FrameKind.CIPHERTEXT, P.fingerprint, PRINT, (damaged,)).to_bytes(), P, PRINT
        )


def of_seal(content: bytes) -> bytes:
    """Content as SEAL writes it when it does not compress."""
    return struct.pack("<HBBBBHQ", 0xA15E, 16, 4, 3, 0, 0, 16 + len(content)) + content


@pytest.mark.parametrize(("polynomials", "numbers"), [(0, 3072), (0, 1 << 47)])
def test_a_ciphertext_without_content_or_larger_than_all_memory(
    polynomials: int, numbers: int
) -> None:
    """SEAL takes it at its word, and then looks beyond its end."""
    context = context_of(P)
    scale = P.scales[0]
    head = struct.pack("<4Q?QQQdQ", *context.ids[0], True, polynomials, 1024, 3, scale, 1)
    seed = of_seal(b"\x01" + bytes(64))
    content = head + of_seal(struct.pack("<Q", numbers) + bytes(8 * 3072)) + seed
    data = CKKSFrame(FrameKind.CIPHERTEXT, P.fingerprint, PRINT, (of_seal(content),), 0, scale)
    with pytest.raises(FormatError, match="SEAL cannot read these bytes"):
        Ciphertext.from_bytes(data.to_bytes(), P, PRINT)
    with pytest.raises(ProtocolError, match="user sent something else than a ciphertext"):
        ciphertext_from(data.to_bytes(), P, PRINT, "user", 1)


def test_lengths_that_do_not_add_up_although_the_check_fits() -> None:
    whole = bytearray(
        CKKSFrame(FrameKind.CIPHERTEXT, P.fingerprint, PRINT, (b"abc",)).to_bytes()[:-32]
    )
    whole[HEADER_BYTES : HEADER_BYTES + 8] = struct.pack(">Q", 2**63)
    whole += sha256(b"lotor ckks frame v1\0" + whole).digest()
    with pytest.raises(FormatError, match="add up"):
        CKKSFrame.read(FrameKind.CIPHERTEXT, bytes(whole), P)


@given(
    st.sampled_from(list(FrameKind)),
    st.lists(st.binary(max_size=40), max_size=3),
    st.integers(0, 2),
    st.floats(0, 1e30),
    st.sampled_from([None, MAC_KEY]),
)
def test_frames_round_trip(
    kind: FrameKind, parts: list[bytes], level: int, scale: float, mac_key: bytes | None
) -> None:
    frame = CKKSFrame(kind, P.fingerprint, PRINT, tuple(parts), level, scale)
    read = CKKSFrame.read(kind, frame.to_bytes(mac_key), P, key=PRINT, mac_key=mac_key)
    assert [bytes(part) for part in read.parts] == parts
    assert (read.level, read.scale) == (level, scale)


def test_the_check_is_an_hmac() -> None:
    data = CKKSFrame(FrameKind.CIPHERTEXT, P.fingerprint, PRINT, (b"abc",)).to_bytes(MAC_KEY)
    expected = hmac.new(MAC_KEY, b"lotor ckks frame v1\0" + data[:-32], sha256).digest()
    assert data[-32:] == expected
