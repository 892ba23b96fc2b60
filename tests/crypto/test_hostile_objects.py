"""Keys, ciphertexts and certificates that somebody has altered: refused, and nothing else."""

import base64
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from crypto.ckks.small import small
from crypto.paillier.fixed_keys import fixed_key
from lotor.crypto import bfv, ckks, paillier
from lotor.crypto.aead import Aead
from lotor.crypto.bfv.context import BFVFrame, product_context
from lotor.crypto.certificates import (
    Certificate,
    CertificateAuthority,
    PartyKey,
    Revocations,
    Subject,
    Trust,
)
from lotor.crypto.ckks.framing import CKKSFrame
from lotor.crypto.seal.framing import FrameKind, SealFrame
from lotor.crypto.sealing import SealingKey, seal
from lotor.crypto.signing import trusting_identities
from mutations import SEED, HostileTarget, attack

# A parser's words about a number that no certificate has, before it is refused.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Parsed a serial number:cryptography.utils.CryptographyDeprecationWarning"
)

BITS = 2048
SMALL = small(2, (1,))
FEW, MANY = 60, 2_500


def wrapped(title: str, read: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """Reads DER as PEM: altered letters would hardly ever be more than letters."""

    def as_pem(der: bytes) -> object:
        body = base64.encodebytes(der).decode()
        return read(f"-----BEGIN {title}-----\n{body}-----END {title}-----\n".encode())

    return as_pem


def as_text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(data.decode("utf-8", "replace"))


def paillier_objects() -> list[HostileTarget]:
    private = fixed_key(BITS)
    public = private.public
    texts = [public.to_json().encode()]
    return [
        HostileTarget(
            "a Paillier public key",
            [public.to_bytes()],
            partial(paillier.PublicKey.from_bytes, minimum_bits=BITS),
        ),
        HostileTarget(
            "a Paillier public key as JSON",
            texts,
            as_text(partial(paillier.PublicKey.from_json, minimum_bits=BITS)),
        ),
        HostileTarget(
            "a Paillier private key",
            [private.to_bytes()],
            partial(paillier.PrivateKey.from_bytes, minimum_bits=BITS),
        ),
        HostileTarget(
            "a Paillier ciphertext",
            [public.encrypt(number).to_bytes() for number in (0, 7)],
            lambda data: paillier.Ciphertext.from_bytes(data, public),
        ),
    ]


def in_frame(kind: FrameKind, place: int) -> HostileTarget:
    """What SEAL reads, in a frame whose check is right: only the inner part is altered."""
    parameters, secret = SMALL.parameters, SMALL.secret
    data = {
        FrameKind.SECRET_KEY: secret.to_bytes(),
        FrameKind.PUBLIC_KEY: secret.public.to_bytes(),
        FrameKind.EVALUATION_KEYS: secret.evaluation_keys([1]),
        FrameKind.CIPHERTEXT: secret.encrypt_to_bytes([1.0, 2.0]),
    }[kind]
    frame = CKKSFrame.read(kind, data, parameters)

    def read(part: bytes) -> object:
        parts = [bytes(one) for one in frame.parts]
        parts[place] = part
        own = kind in (FrameKind.SECRET_KEY, FrameKind.PUBLIC_KEY)
        key = CKKSFrame.public_fingerprint(parameters, parts[0]) if own else frame.key
        made = CKKSFrame(kind, frame.parameters, key, tuple(parts), frame.level, frame.scale)
        return loaded(kind, made.to_bytes(), key)

    part = bytes(frame.parts[place])
    listing = kind is FrameKind.EVALUATION_KEYS  # part 0 says which keys there are
    samples = [part] if listing else with_unpacked(CKKSFrame, kind, part)
    return HostileTarget(f"part {place} of a {CKKSFrame.title(kind)}", samples, read)


def with_unpacked(frames: type[SealFrame], kind: FrameKind, part: bytes) -> list[bytes]:
    """What SEAL wrote, and the same unpacked, so that what is within is altered, too."""
    return [part, bytes(frames.check_payload(kind, part, 1 << 24))]


def loaded(kind: FrameKind, data: bytes, key: str) -> object:
    parameters = SMALL.parameters
    if kind is FrameKind.SECRET_KEY:
        return ckks.SecretKey.from_bytes(data, parameters)
    if kind is FrameKind.PUBLIC_KEY:
        return ckks.PublicKey.from_bytes(data, parameters)
    if kind is FrameKind.EVALUATION_KEYS:
        return ckks.EvaluationKeys.from_bytes(data, parameters, key)
    return ckks.Ciphertext.from_bytes(data, parameters, key)


def ckks_objects() -> list[HostileTarget]:
    secret = SMALL.secret
    whole = HostileTarget(
        "a CKKS ciphertext",
        [secret.encrypt_to_bytes([1.0])],
        lambda data: loaded(FrameKind.CIPHERTEXT, data, secret.fingerprint),
    )
    # Not the keys within evaluation keys: SEAL would end this process, see test_key_trial.py.
    places = dict.fromkeys(FrameKind, 0) | {FrameKind.SECRET_KEY: 1}
    return [whole, *(in_frame(kind, place) for kind, place in places.items())]


def bfv_objects() -> list[HostileTarget]:
    """What SEAL reads, in frames whose check is right."""
    key = bfv.ProductKey.generate()
    (factor,) = key.encrypted(np.ones(1, dtype=np.uint64))
    zeros = np.zeros((1, bfv.SLOTS), dtype=np.uint64)
    message = bfv.ProductMaker(key.public, [factor]).message(zeros, zeros[0])
    readers: dict[str, tuple[FrameKind, bytes, Callable[[bytes], object]]] = {
        "public key": (
            FrameKind.PUBLIC_KEY,
            key.public,
            lambda data: bfv.ProductMaker(data, [factor]),
        ),
        "secret key": (FrameKind.SECRET_KEY, key.to_bytes(), bfv.ProductKey.from_bytes),
        "encrypted number": (
            FrameKind.CIPHERTEXT,
            factor,
            lambda data: bfv.ProductMaker(key.public, [data]),
        ),
        "message": (FrameKind.CIPHERTEXT, message, key.read),
    }
    return [bfv_target(name, *entry) for name, entry in readers.items()]


def bfv_target(
    name: str, kind: FrameKind, data: bytes, read: Callable[[bytes], object]
) -> HostileTarget:
    frame = BFVFrame.read(kind, data, product_context())
    *others, last = (bytes(part) for part in frame.parts)

    def framed(part: bytes) -> object:
        parts = (*others, part)
        own = kind in (FrameKind.SECRET_KEY, FrameKind.PUBLIC_KEY)
        key = BFVFrame.public_fingerprint(product_context(), parts[0]) if own else frame.key
        return read(BFVFrame(kind, frame.parameters, key, parts, frame.level).to_bytes())

    # Messages end with padding.
    samples = [last] if name == "message" else with_unpacked(BFVFrame, kind, last)
    return HostileTarget(f"the last part of a BFV {name}", samples, framed)


def certificates() -> list[HostileTarget]:
    authority, key = CertificateAuthority.create("federation"), PartyKey.new()
    certificate = authority.sign(key.request(Subject("lyon", "owner")), 30)
    request = x509.load_pem_x509_csr(key.request(Subject("lyon", "owner")))
    revoked = Revocations.from_pem(
        authority.revocations({certificate.serial: certificate.not_before})
    )
    trust = Trust(authority.certificate_pem)
    return [
        HostileTarget(
            "a certificate",
            [certificate.to_der()],
            lambda der: trust.check(Certificate.from_der(der)),
        ),
        HostileTarget(
            "an authority",
            [authority._certificate.public_bytes(Encoding.DER)],
            wrapped("CERTIFICATE", Trust),
        ),
        HostileTarget(
            "a request",
            [request.public_bytes(Encoding.DER)],
            wrapped("CERTIFICATE REQUEST", lambda pem: authority.sign(pem, 30)),
        ),
        HostileTarget(
            "a revocation list",
            [revoked._crl.public_bytes(Encoding.DER)],
            wrapped("X509 CRL", lambda pem: Trust(authority.certificate_pem, pem)),
        ),
        HostileTarget("a key", [key.to_pem()], PartyKey.from_pem),
    ]


def sealed_objects() -> list[HostileTarget]:
    key, aead = SealingKey(), Aead(bytes(range(32)))
    names = trusting_identities(["lyon", "comp"])
    about = {"run": "aa", "purpose": "terms", "recipient": "comp"}
    signature = names["lyon"].sign(b"data", **about)
    return [
        HostileTarget(
            "a sealed key", [seal(bytes(32), key.public, b"")], lambda data: key.open(data, b"")
        ),
        HostileTarget("a key to seal to", [key.public], lambda data: seal(b"key", data, b"")),
        HostileTarget(
            "a sealed message",
            [aead.seal([bytes(8)] * 3, b"")],
            lambda data: aead.open(data, 8, b""),
        ),
        HostileTarget(
            "a signature",
            [signature],
            lambda data: names["comp"].verify(b"data", data, sender="lyon", **about),
        ),
    ]


TARGETS = {
    target.name: target
    for target in (
        *paillier_objects(),
        *ckks_objects(),
        *bfv_objects(),
        *certificates(),
        *sealed_objects(),
    )
}

# Whether two numbers are prime takes long to find out.
LONG = {name: MANY if name != "a Paillier private key" else 200 for name in TARGETS}


@pytest.mark.parametrize("name", TARGETS)
def test_altered_objects_are_refused_in_plain_words(name: str) -> None:
    assert attack(TARGETS[name], FEW) > 0


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_very_many_altered_objects_are_refused_in_plain_words(name: str) -> None:
    assert attack(TARGETS[name], LONG[name], SEED + 1) > 0
