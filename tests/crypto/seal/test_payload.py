"""What SEAL wrote is unpacked without SEAL, and what could end its process never reaches it."""

import zlib

import pytest

from crypto.ckks.small import small
from lotor.core.errors import FormatError
from lotor.crypto.ckks import Ciphertext
from lotor.crypto.ckks.framing import CKKSFrame
from lotor.crypto.seal import binding
from lotor.crypto.seal.framing import FrameKind
from lotor.crypto.seal.payload import (
    CIPHERTEXT,
    PLAINTEXT,
    SEAL_HEADER,
    SEAL_MAGIC,
    Packing,
    unpacked,
)

KIT = small(2, (1,))
P, SECRET = KIT.parameters, KIT.secret
MOST = 1 << 20
PACKING = 5  # the place of this byte

seeded = SECRET.encrypt_to_bytes([1.0])
PARTS = {
    "ciphertext": (binding.saved(SECRET.public.encrypt(1.0).seal), CIPHERTEXT),
    "ciphertext with a seed": (
        bytes(CKKSFrame.read(FrameKind.CIPHERTEXT, seeded, P).parts[0]),
        CIPHERTEXT,
    ),
    "public key": (bytes(SECRET.public._payload), CIPHERTEXT),
    "secret key": (binding.saved(SECRET._key), PLAINTEXT),
}


def plain(name: str) -> bytes:
    payload, fields = PARTS[name]
    whole = unpacked(payload, MOST, fields)
    assert whole is not None
    return whole


def packed(whole: bytes, packing: Packing, body: bytes | None = None) -> bytes:
    magic, size, major, minor, *_ = SEAL_HEADER.unpack_from(whole)
    body = whole[SEAL_HEADER.size :] if body is None else body
    header = SEAL_HEADER.pack(magic, size, major, minor, packing, 0, SEAL_HEADER.size + len(body))
    return header + body


@pytest.mark.parametrize("name", PARTS)
def test_what_seal_wrote_is_unpacked(name: str) -> None:
    payload, fields = PARTS[name]
    assert payload[PACKING] == Packing.ZSTD
    whole = plain(name)
    assert len(whole) > len(payload)
    assert whole[PACKING] == Packing.NONE
    assert unpacked(whole, len(whole), fields) == whole
    by_zlib = packed(whole, Packing.ZLIB, zlib.compress(whole[SEAL_HEADER.size :]))
    assert unpacked(by_zlib, MOST, fields) == whole


def test_seal_reads_what_was_unpacked() -> None:
    honest = CKKSFrame.read(FrameKind.CIPHERTEXT, seeded, P)
    for part in (bytes(honest.parts[0]), plain("ciphertext with a seed")):
        frame = CKKSFrame(
            FrameKind.CIPHERTEXT, P.fingerprint, SECRET.fingerprint, (part,), 0, honest.scale
        )
        found = Ciphertext.from_bytes(frame.to_bytes(), P, SECRET.fingerprint)
        assert SECRET.decrypt(found)[0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("name", PARTS)
def test_what_is_packed_within_is_refused(name: str) -> None:
    """SEAL's process would end at some of them."""
    whole, fields = plain(name), PARTS[name][1]
    place = SEAL_HEADER.size + fields.size
    assert SEAL_HEADER.unpack_from(whole, place)[0] == SEAL_MAGIC
    for packing in (Packing.ZLIB, Packing.ZSTD, 3, 255):
        within = bytearray(whole)
        within[place + PACKING] = packing
        assert unpacked(bytes(within), MOST, fields) is None
        assert unpacked(packed(bytes(within), Packing.ZLIB), MOST, fields) is None


@pytest.mark.parametrize("name", PARTS)
def test_objects_within_that_do_not_add_up_are_refused(name: str) -> None:
    whole, fields = plain(name), PARTS[name][1]
    body = whole[SEAL_HEADER.size :]
    length = fields.size + 8  # where the length of the first object within stands
    for changed in (
        body[: fields.size],
        body[:-1],
        body + b"\0",
        body + bytes(SEAL_HEADER.size),
        body[:length] + (0).to_bytes(8, "little") + body[length + 8 :],
        body[:length] + (2**63).to_bytes(8, "little") + body[length + 8 :],
    ):
        assert unpacked(packed(whole, Packing.NONE, changed), MOST, fields) is None


def test_content_that_would_fill_the_memory_is_refused() -> None:
    huge = zlib.compress(bytes(1 << 24))
    whole = plain("ciphertext")
    assert unpacked(packed(whole, Packing.ZLIB, huge), MOST, CIPHERTEXT) is None


@pytest.mark.parametrize("packing", [3, 255])
def test_an_unknown_packing_is_refused(packing: int) -> None:
    whole = plain("ciphertext")
    unknown = whole[:PACKING] + bytes([packing]) + whole[PACKING + 1 :]
    with pytest.raises(FormatError, match="is not what SEAL writes"):
        CKKSFrame.check_payload(FrameKind.CIPHERTEXT, unknown, MOST)
