"""Whatever is altered, cut, foreign or of another kind is refused."""

import struct

import numpy as np
import pytest

from crypto.bfv.keys import key, maker_of, uniform
from crypto.ckks.small import small
from lotor.core.errors import (
    FormatError,
    IntegrityError,
    KeyMismatchError,
    VersionError,
)
from lotor.crypto.bfv import SLOTS, ProductKey, ProductMaker
from lotor.crypto.bfv.context import BFVFrame, product_context
from lotor.crypto.seal.binding import SealCiphertext, result_of, saved
from lotor.crypto.seal.framing import FrameKind
from lotor.crypto.seal.payload import CIPHERTEXT, unpacked
from lotor.crypto.seal.uncompressed import ciphertext

PUBLIC, SECRET = key().public, key().to_bytes()
(FACTOR,) = key().encrypted(uniform(1))
MESSAGE = ProductMaker(PUBLIC, [FACTOR]).message(uniform(1, SLOTS), uniform(SLOTS))
STRANGER = ProductKey.generate()
HEADER_BYTES = 4 + 3 + 32 + 2 + 8 + 1

OBJECTS = {"public": PUBLIC, "secret": SECRET, "factor": FACTOR, "message": MESSAGE}
KINDS = {
    "public": FrameKind.PUBLIC_KEY,
    "secret": FrameKind.SECRET_KEY,
    "factor": FrameKind.CIPHERTEXT,
    "message": FrameKind.CIPHERTEXT,
}
ALL = pytest.mark.parametrize("name", list(OBJECTS))


def load(name: str, data: bytes) -> object:
    if name == "public":
        return ProductMaker(data, [FACTOR])
    if name == "secret":
        return ProductKey.from_bytes(data)
    if name == "factor":
        return ProductMaker(PUBLIC, [FACTOR, data])
    return key().read(data)


def framed(name: str, *parts: bytes, level: int | None = None, owner: str | None = None) -> bytes:
    """Parts in a frame whose check is right."""
    parameters = product_context().fingerprint
    usual = 2 if name == "message" else 0
    frame = BFVFrame(
        KINDS[name],
        parameters,
        key().fingerprint if owner is None else owner,
        parts,
        usual if level is None else level,
    )
    return frame.to_bytes()


def parts_of(name: str) -> list[bytes]:
    frame = BFVFrame.read(KINDS[name], OBJECTS[name], product_context())
    return [bytes(part) for part in frame.parts]


def never(*_: object) -> None:
    raise AssertionError("SEAL was asked to read it")


@ALL
def test_what_was_written_can_be_read(name: str) -> None:
    load(name, OBJECTS[name])
    load(name, framed(name, *parts_of(name)))


@ALL
def test_altered_and_cut_bytes_never_reach_seal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = OBJECTS[name]
    if name != "factor":
        # A first factor, which is right, is loaded by SEAL; a second one is altered here.
        for module in ("products", "context"):
            monkeypatch.setattr(f"lotor.crypto.bfv.{module}.load", never)
    inner = range(HEADER_BYTES, len(whole), len(whole) // 10)
    for place in (*range(0, HEADER_BYTES + 8, 3), *inner, len(whole) - 1):
        altered = bytearray(whole)
        altered[place] ^= 0x10
        with pytest.raises((IntegrityError, FormatError, VersionError)):
            load(name, bytes(altered))
    for data in (b"", whole[:HEADER_BYTES], whole[: len(whole) // 2], whole + b"\0", whole[1:]):
        with pytest.raises((IntegrityError, FormatError)):
            load(name, data)


@ALL
def test_another_kind_of_object(name: str) -> None:
    for other, data in OBJECTS.items():
        if other != name:
            with pytest.raises(FormatError, match="pass the right object"):
                load(name, data)


@ALL
def test_another_scheme_and_other_parameters(name: str) -> None:
    with pytest.raises(FormatError, match="do not begin like a BFV"):
        load(name, small(2, (1,)).secret.public.to_bytes())
    frame = BFVFrame(KINDS[name], "00" * 16, key().fingerprint, tuple(parts_of(name)))
    with pytest.raises(KeyMismatchError, match="same parameter set"):
        load(name, frame.to_bytes())


def test_foreign_keys() -> None:
    with pytest.raises(KeyMismatchError, match="is needed"):
        STRANGER.read(MESSAGE)
    with pytest.raises(KeyMismatchError, match="is needed"):
        ProductMaker(STRANGER.public, [FACTOR])
    with pytest.raises(KeyMismatchError, match="is needed"):
        load("factor", *STRANGER.encrypted(uniform(1)))


@pytest.mark.parametrize("name", ["public", "secret"])
def test_a_public_key_cannot_be_passed_off_as_another(name: str) -> None:
    parts = parts_of(name)
    with pytest.raises(FormatError, match="exchanged"):
        load(name, framed(name, *parts, owner=STRANGER.fingerprint))


@ALL
def test_content_that_seal_did_not_write(name: str) -> None:
    parts = parts_of(name)
    for wrong in ((), (b"",), (*parts, b""), (b"x" * len(parts[0]), *parts[1:]), (b"",) * 2):
        with pytest.raises(FormatError):
            load(name, framed(name, *wrong))


def test_a_header_that_names_another_level() -> None:
    for name, level in (("factor", 1), ("message", 0), ("message", 3), ("message", 9)):
        with pytest.raises(FormatError, match="level"):
            load(name, framed(name, *parts_of(name), level=level))


def of_seal(item: SealCiphertext, name: str) -> bytes:
    payload = unpacked(saved(item), 1 << 24, CIPHERTEXT)
    assert payload is not None
    return framed(name, payload)


@pytest.mark.parametrize("name", ["factor", "message"])
def test_ciphertexts_of_another_level_or_form(name: str) -> None:
    """SEAL reads them all; products need one level and one form."""
    context = product_context()
    level = 2 if name == "message" else 0
    maker = maker_of(uniform(1))
    primes = len(context.primes) - level
    made = maker._products(uniform(1, SLOTS))
    assert made is not None
    right, between = (
        result_of(context.evaluator.mod_switch_to, made, context.ids[one]) for one in (level, 1)
    )
    load(name, of_seal(right, name))
    transformed = result_of(context.evaluator.add, right, right)
    context.evaluator.transform_to_ntt_inplace(transformed)
    transparent = np.zeros((2, primes, SLOTS), dtype=np.uint64)
    three = np.ones((3, primes, SLOTS), dtype=np.uint64)
    raw = [ciphertext(context.seal, context.ids[level], one) for one in (transparent, three)]
    for wrong in (between, transformed, *raw):
        with pytest.raises(FormatError, match=r"another level or form|always has"):
            load(name, of_seal(wrong, name))


def test_a_message_is_of_one_length() -> None:
    (part,) = parts_of("message")
    for wrong in (part[:-1], part + b"\0"):
        with pytest.raises(FormatError, match="always has"):
            load("message", framed("message", wrong))
    for length in (0, 15, 2**40):
        changed = part[:8] + struct.pack("<Q", length) + part[16:]
        with pytest.raises(FormatError):
            load("message", framed("message", changed))
