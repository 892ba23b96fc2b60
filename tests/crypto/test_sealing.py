import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import FormatError, IntegrityError
from lotor.crypto.sealing import OVERHEAD, SealingKey, seal


def extract(salt: bytes, material: bytes) -> bytes:
    mac = HMAC(salt or bytes(32), SHA256())
    mac.update(material)
    return mac.finalize()


def labelled_extract(salt: bytes, suite: bytes, label: bytes, material: bytes) -> bytes:
    return extract(salt, b"HPKE-v1" + suite + label + material)


def labelled_expand(key: bytes, suite: bytes, label: bytes, info: bytes, length: int) -> bytes:
    whole = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return HKDFExpand(SHA256(), length, whole).derive(key)


def open_by_the_rfc(private: bytes, sealed: bytes, info: bytes) -> bytes:
    """RFC 9180, sections 4.1 and 5.1, in base mode with DHKEM(X25519), HKDF-SHA256, AES-256-GCM."""
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x02"
    key = X25519PrivateKey.from_private_bytes(private)
    encapsulated, ciphertext = sealed[:32], sealed[32:]
    shared = key.exchange(X25519PublicKey.from_public_bytes(encapsulated))
    context = encapsulated + key.public_key().public_bytes_raw()
    prk = labelled_extract(b"", kem, b"eae_prk", shared)
    secret = labelled_expand(prk, kem, b"shared_secret", context, 32)
    schedule = (
        b"\x00"
        + labelled_extract(b"", suite, b"psk_id_hash", b"")
        + labelled_extract(b"", suite, b"info_hash", info)
    )
    root = labelled_extract(secret, suite, b"secret", b"")
    aes = AESGCM(labelled_expand(root, suite, b"key", schedule, 32))
    return aes.decrypt(labelled_expand(root, suite, b"base_nonce", schedule, 12), ciphertext, b"")


@settings(max_examples=20)
@given(st.binary(max_size=80), st.binary(max_size=40))
def test_sealed_keys_are_hpke(plaintext: bytes, bound: bytes) -> None:
    key = SealingKey()
    sealed = seal(plaintext, key.public, bound)
    assert len(sealed) == len(plaintext) + OVERHEAD
    assert key.open(sealed, bound) == plaintext
    assert open_by_the_rfc(key.private_bytes(), sealed, bound) == plaintext


def test_a_restored_key_opens() -> None:
    key = SealingKey()
    again = SealingKey(key.private_bytes())
    assert again.open(seal(b"x", key.public, b""), b"") == b"x"


@pytest.mark.parametrize("position", [0, 31, 32, -1])
def test_altered_bytes_other_keys_and_places_are_refused(position: int) -> None:
    key = SealingKey()
    sealed = bytearray(seal(b"secret", key.public, b"here"))
    with pytest.raises(IntegrityError):
        key.open(bytes(sealed), b"there")
    with pytest.raises(IntegrityError):
        SealingKey().open(bytes(sealed), b"here")
    sealed[position] ^= 1
    with pytest.raises(IntegrityError, match="altered"):
        key.open(bytes(sealed), b"here")


def test_cut_messages_and_keys_are_refused() -> None:
    key = SealingKey()
    with pytest.raises(IntegrityError):
        key.open(b"", b"")
    with pytest.raises(FormatError, match="32 bytes"):
        seal(b"x", key.public[:-1], b"")
    with pytest.raises(FormatError, match="public key is not usable"):
        seal(b"x", bytes(32), b"")  # a point of low order
    for private in (b"", key.private_bytes()[:-1]):
        with pytest.raises(FormatError, match="not an X25519 private key"):
            SealingKey(private)


def test_sealing_is_randomised_and_keys_stay_hidden() -> None:
    key = SealingKey()
    assert seal(b"x", key.public, b"") != seal(b"x", key.public, b"")
    assert key.private_bytes().hex()[:16] not in repr(key)
