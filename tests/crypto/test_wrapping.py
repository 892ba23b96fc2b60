import hmac
import os
from hashlib import scrypt, sha256

import msgspec
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import example, given
from hypothesis import strategies as st

from lotor.core.errors import CryptoError, InputError, IntegrityError
from lotor.crypto import wrapping
from lotor.crypto.wrapping import ScryptCost, StretchedSecret, WrappedKey, stretch

CHEAP = ScryptCost(log2_n=1, r=1)
KEY = bytes(range(32))
keys = st.binary(min_size=32, max_size=32)


def wrap(key: bytes, secret: bytes, bound: bytes, cost: ScryptCost = CHEAP) -> WrappedKey:
    return StretchedSecret(secret, cost).wrap(key, bound)


def unwrap(wrapped: WrappedKey, secret: bytes, bound: bytes) -> bytes:
    return StretchedSecret(secret, wrapped.cost, wrapped.salt).unwrap(wrapped, bound)


@pytest.mark.parametrize(
    ("secret", "salt", "cost", "expected"),
    [
        # RFC 7914, section 12: the first and the third vector, of which a key is the first half.
        (
            b"",
            b"",
            ScryptCost(4, 1, 1),
            "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442",
        ),
        (
            b"pleaseletmein",
            b"SodiumChloride",
            ScryptCost(14, 8, 1),
            "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2",
        ),
    ],
)
def test_scrypt_is_that_of_its_standard(
    secret: bytes, salt: bytes, cost: ScryptCost, expected: str
) -> None:
    assert stretch(secret, salt, cost).hex() == expected


def test_a_wrapped_key_is_the_same_bytes_in_every_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Computed once more with other tools: a reader of another version depends on each byte."""
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    wrapped = wrap(KEY, b"a secret", b"owner lyon")
    salt, nonce = bytes(range(16)), bytes(range(12))
    key = scrypt(sha256(b"a secret").digest(), salt=salt, n=2, r=1, p=1, dklen=32)
    cost = {"log2_n": 1, "r": 1, "p": 1}
    bound = msgspec.msgpack.encode(["lotor wrapped key 1", cost, salt, b"owner lyon"])
    assert wrapped == WrappedKey(CHEAP, salt, nonce + AESGCM(key).encrypt(nonce, KEY, bound))
    assert wrapped.sealed.hex() == (
        "000102030405060708090a0b"
        "f169ecc5f81312bcb6c0755101214a0d16a72eda4d747a38c9b4eba1bcc98780"
        "0c521e4420d84922ee36c01454096323"
    )


@given(keys, st.binary(), st.binary())
def test_what_is_wrapped_unwraps(key: bytes, secret: bytes, bound: bytes) -> None:
    wrapped = wrap(key, secret, bound)
    again = msgspec.json.decode(msgspec.json.encode(wrapped), type=WrappedKey)
    assert hmac.compare_digest(unwrap(again, secret, bound), key)


@given(st.integers(0, (16 + 60 + 10) * 8 - 1))
def test_every_flipped_bit_is_noticed(bit: int) -> None:
    wrapped = wrap(KEY, b"a secret", b"owner lyon")
    whole = bytearray(wrapped.salt + wrapped.sealed + b"owner lyon")
    whole[bit // 8] ^= 1 << bit % 8
    salt, sealed, bound = bytes(whole[:16]), bytes(whole[16:76]), bytes(whole[76:])
    with pytest.raises(IntegrityError):
        unwrap(WrappedKey(CHEAP, salt, sealed), b"a secret", bound)


@given(st.binary(), st.binary())
@example(b"a secret", b"a secret\0")
def test_only_its_own_secret_opens_it(secret: bytes, other: bytes) -> None:
    wrapped = wrap(KEY, secret, b"")
    if other != secret:
        with pytest.raises(IntegrityError):
            unwrap(wrapped, other, b"")


@pytest.mark.parametrize("cost", [ScryptCost(2, 1, 1), ScryptCost(1, 2, 1), ScryptCost(1, 1, 2)])
def test_another_cost_does_not_open_it(cost: ScryptCost) -> None:
    wrapped = wrap(KEY, b"a secret", b"")
    with pytest.raises(IntegrityError):
        unwrap(msgspec.structs.replace(wrapped, cost=cost), b"a secret", b"")


@pytest.mark.parametrize("sealed", [b"", bytes(59), bytes(61), bytes(120)])
def test_a_cut_key_is_refused(sealed: bytes) -> None:
    with pytest.raises(IntegrityError, match="60 bytes"):
        unwrap(WrappedKey(CHEAP, bytes(16), sealed), b"a secret", b"")


@pytest.mark.parametrize(
    ("log2_n", "r", "p"),
    [
        *((0, 8, 1), (20, 8, 1), (10**18, 1, 1), (17, 0, 1), (17, 10**18, 1), (1, 1, 5), (1, 1, 0)),
        *((16, 1, 1), (20, 1, 1)),
    ],
)
def test_a_file_cannot_ask_for_more_than_a_machine_has(log2_n: int, r: int, p: int) -> None:
    with pytest.raises(InputError, match="512 MiB"):
        ScryptCost(log2_n, r, p)
    hostile = f'{{"log2_n": {log2_n}, "r": {r}, "p": {p}}}'
    with pytest.raises(msgspec.ValidationError, match="512 MiB"):
        msgspec.json.decode(hostile, type=ScryptCost)


def test_every_cost_that_is_accepted_can_be_computed() -> None:
    """scrypt has a bound of its own: log2_n is less than 16 * r."""
    assert len(stretch(b"a secret", bytes(16), ScryptCost(15, 1, 1))) == 32


def test_too_little_memory_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hungry:
        def __init__(self, *_: object) -> None:
            pass

        def derive(self, secret: bytes) -> bytes:
            raise MemoryError

    monkeypatch.setattr(wrapping, "Scrypt", Hungry)
    with pytest.raises(CryptoError, match="no 128 MiB of memory left"):
        StretchedSecret(b"a secret")


def test_only_keys_of_32_bytes_are_wrapped() -> None:
    with pytest.raises(InputError, match="32 bytes"):
        wrap(bytes(16), b"a secret", b"")


def test_the_same_key_and_secret_never_look_the_same() -> None:
    first, second = (wrap(KEY, b"a secret", b"", CHEAP) for _ in range(2))
    assert first.salt != second.salt
    assert first.sealed[12:] != second.sealed[12:]
    assert repr(first) == f"<WrappedKey, {CHEAP}>"
    assert repr(StretchedSecret(b"a secret", CHEAP)) == "<StretchedSecret>"
