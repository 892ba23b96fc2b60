import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import CryptoError, InputError, IntegrityError
from lotor.crypto.aead import MESSAGE_LIMIT, NONCE_BYTES, OVERHEAD, Aead

WYCHEPROOF = Path(__file__).parents[3] / "shared" / "data" / "wycheproof" / "aes_gcm_test.json"
KEY = bytes(range(32))


def wycheproof_cases() -> list[Any]:
    if not WYCHEPROOF.exists():
        return [pytest.param(None, marks=pytest.mark.skip(f"{WYCHEPROOF.name} is absent"))]
    groups = json.loads(WYCHEPROOF.read_text())["testGroups"]
    return [
        pytest.param((group, case), id=f"tc{case['tcId']}")
        for group in groups
        for case in group["tests"]
    ]


@pytest.mark.parametrize("vector", wycheproof_cases())
def test_wycheproof(
    vector: tuple[dict[str, Any], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases of our key and nonce length come out as they should; other lengths are refused."""
    group, case = vector
    key, nonce = bytes.fromhex(case["key"]), bytes.fromhex(case["iv"])
    sealed = nonce + bytes.fromhex(case["ct"]) + bytes.fromhex(case["tag"])
    message, bound = bytes.fromhex(case["msg"]), bytes.fromhex(case["aad"])
    if group["keySize"] != 256:
        with pytest.raises(InputError, match="32 bytes"):
            Aead(key)
    elif group["ivSize"] != 96 or case["result"] != "valid":
        with pytest.raises(IntegrityError):
            Aead(key).open(sealed, max(0, len(sealed) - OVERHEAD), bound)
    else:
        assert Aead(key).open(sealed, len(message), bound) == [message]
        monkeypatch.setattr(os, "urandom", lambda _: nonce)
        assert Aead(key).seal([message], bound) == sealed


@given(st.lists(st.binary(min_size=5, max_size=5), max_size=20), st.binary())
def test_what_is_sealed_opens(plaintexts: list[bytes], bound: bytes) -> None:
    cipher = Aead(KEY)
    sealed = cipher.seal(plaintexts, bound)
    assert len(sealed) == len(plaintexts) * (5 + OVERHEAD)
    assert cipher.open(sealed, 5, bound) == plaintexts
    counts = {"aes_gcm_encryptions": len(plaintexts), "aes_gcm_decryptions": len(plaintexts)}
    assert cipher.operations() == counts


@given(st.integers(0, 2 * (1 + OVERHEAD) * 8 - 1))
def test_every_flipped_bit_is_noticed(bit: int) -> None:
    sealed = bytearray(Aead(KEY).seal([b"a", b"b"], b"here"))
    sealed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(IntegrityError, match="does not open"):
        Aead(KEY).open(bytes(sealed), 1, b"here")


def test_other_place_other_key_and_cut_messages_are_refused() -> None:
    sealed = Aead(KEY).seal([b"a"], b"round 1")
    with pytest.raises(IntegrityError):
        Aead(KEY).open(sealed, 1, b"round 2")
    with pytest.raises(IntegrityError):
        Aead(bytes(32)).open(sealed, 1, b"round 1")
    with pytest.raises(IntegrityError, match="cut"):
        Aead(KEY).open(sealed[:-1], 1, b"round 1")


def test_nonces_are_fresh() -> None:
    cipher = Aead(KEY)
    sealed = cipher.seal([b"same"] * 1000, b"") + cipher.seal([b"same"] * 1000, b"")
    step = 4 + OVERHEAD
    nonces = {sealed[i : i + NONCE_BYTES] for i in range(0, len(sealed), step)}
    assert len(nonces) == 2000


def test_a_worn_out_key_seals_no_more() -> None:
    cipher = Aead(KEY, sealed=MESSAGE_LIMIT - 1)
    cipher.seal([b"last"], b"")
    with pytest.raises(CryptoError, match="2\\^32"):
        cipher.seal([b"one too many"], b"")


def test_the_key_is_not_shown() -> None:
    assert KEY.hex() not in repr(Aead(KEY))
    assert repr(Aead(KEY)) == "<Aead: 0 sealed, 0 opened>"
