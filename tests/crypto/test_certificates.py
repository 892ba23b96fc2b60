import contextlib
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import (
    CertificateError,
    CryptoError,
    FormatError,
    InputError,
    KeyMismatchError,
)
from lotor.crypto.certificates import (
    Certificate,
    CertificateAuthority,
    PartyKey,
    Request,
    Revocations,
    Subject,
    Trust,
    read_bundle,
)

LYON = Subject("lyon", "owner")
NOW = datetime(2030, 5, 17, 12, tzinfo=UTC)
WORDS = st.from_regex(r"[a-z][a-z0-9-]{0,62}", fullmatch=True)


@pytest.fixture(scope="module")
def authority() -> CertificateAuthority:
    return CertificateAuthority.create("clinics")


@pytest.fixture(scope="module")
def key() -> PartyKey:
    return PartyKey.new()


@pytest.fixture(scope="module")
def certificate(authority: CertificateAuthority, key: PartyKey) -> Certificate:
    return authority.sign(key.request(LYON))


@given(name=WORDS, role=WORDS)
@settings(max_examples=30)
def test_role_and_name_survive_request_and_signature(name: str, role: str) -> None:
    authority, key, subject = (
        CertificateAuthority.create("clinics"),
        PartyKey.new(),
        Subject(name, role),
    )
    request = Request.from_pem(key.request(subject))
    signed = authority.sign(key.request(subject))
    assert request.subject == signed.subject == subject
    assert request.key_bytes == signed.key_bytes == key.public_bytes
    assert Trust(authority.certificate_pem).check(signed) == subject
    assert Certificate.from_der(signed.to_der()) == Certificate.from_pem(signed.to_pem()) == signed


@given(text=st.text(max_size=70).filter(lambda text: not text.isascii() or not text.islower()))
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="lower-case"):
        Subject(text, "owner")
    with pytest.raises(InputError, match="lower-case"):
        Subject("lyon", text)


@pytest.mark.parametrize("text", ["", "-a", "1a", "a" * 64, "a/b", "a\n", "a b", "É", "a."])
def test_names_at_the_edge_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="lower-case"):
        Subject(text, "owner")
    with pytest.raises(InputError):
        CertificateAuthority.create(text)


@pytest.mark.parametrize("uri", ["lotor:owner", "lotor:/lyon", "lotor:owner/a/b", "x:owner/lyon"])
def test_other_uris_are_refused(uri: str) -> None:
    with pytest.raises(InputError):
        Subject.from_uri(uri)


def test_a_key_survives_its_file_and_shows_nothing(key: PartyKey) -> None:
    assert PartyKey.from_pem(key.to_pem()).public_bytes == key.public_bytes
    assert repr(key) == "<PartyKey>"
    assert "PRIVATE" in key.to_pem().decode()


def test_an_encrypted_key_opens_with_its_password_only(key: PartyKey) -> None:
    pem = key.to_pem(b"password")
    assert pem.startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert PartyKey.from_pem(pem, b"password").public_bytes == key.public_bytes
    for file, password in ((pem, None), (pem, b"other"), (key.to_pem(), b"password")):
        with pytest.raises(FormatError, match="private key cannot be read"):
            PartyKey.from_pem(file, password)


def test_the_same_request_has_the_same_fingerprint(key: PartyKey) -> None:
    first, again = Request.from_pem(key.request(LYON)), Request.from_pem(key.request(LYON))
    other = Request.from_pem(key.request(Subject("porto", "owner")))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert [len(block) for block in first.fingerprint.split(" ")] == [4] * 16


def test_an_authority_survives_its_files(
    authority: CertificateAuthority, certificate: Certificate
) -> None:
    again = CertificateAuthority.from_pem(authority.certificate_pem, authority.key_pem())
    assert (again.name, again.fingerprint) == ("clinics", authority.fingerprint)
    trust = Trust(authority.certificate_pem)
    assert (trust.authority, trust.fingerprint) == ("clinics", authority.fingerprint)
    assert trust.authority_pem == authority.certificate_pem
    assert trust.check(again.sign(PartyKey.new().request(LYON))) == LYON
    with pytest.raises(KeyMismatchError, match="clinics"):
        CertificateAuthority.from_pem(authority.certificate_pem, PartyKey.new().to_pem())
    with pytest.raises(CertificateError, match="not a certificate of an authority"):
        Trust(certificate.to_pem())


def test_a_bundle_is_the_party_and_then_the_authority(
    authority: CertificateAuthority, certificate: Certificate
) -> None:
    both = certificate.to_pem() + authority.certificate_pem
    assert read_bundle(both) == (certificate, authority.certificate_pem)
    for wrong in (certificate.to_pem(), both + certificate.to_pem()):
        with pytest.raises(FormatError, match="two certificates"):
            read_bundle(wrong)
    with pytest.raises(CertificateError, match="of an authority"):
        read_bundle(authority.certificate_pem + certificate.to_pem())


def test_a_renewed_certificate_keeps_the_key(
    authority: CertificateAuthority, key: PartyKey
) -> None:
    first, second = (authority.sign(key.request(LYON)) for _ in range(2))
    assert first.key_bytes == second.key_bytes
    assert first.serial != second.serial
    request = Request.from_pem(key.request(LYON))
    assert first.fingerprint == second.fingerprint == request.fingerprint
    others = (PartyKey.new().request(LYON), key.request(Subject("lyon", "comp")))
    assert first.fingerprint not in {authority.sign(other).fingerprint for other in others}


def test_foreign_certificates_are_refused(authority: CertificateAuthority) -> None:
    twin = CertificateAuthority.create("clinics")  # same name, another key
    for foreign in (twin, CertificateAuthority.create("others")):
        certificate = foreign.sign(PartyKey.new().request(LYON))
        with pytest.raises(CertificateError, match=r"owner lyon is not signed by .* clinics"):
            Trust(authority.certificate_pem).check(certificate)


@given(seconds=st.integers(-400 * 86400, 800 * 86400), days=st.integers(1, 700))
@settings(max_examples=60)
def test_a_certificate_counts_exactly_while_it_is_valid(seconds: int, days: int) -> None:
    authority = CertificateAuthority.create("clinics", now=NOW - timedelta(days=500))
    certificate = authority.sign(PartyKey.new().request(LYON), days, now=NOW)
    trust, then = Trust(authority.certificate_pem), NOW + timedelta(seconds=seconds)
    if seconds < -300:
        with pytest.raises(CertificateError, match=r"owner lyon is not yet valid.*clock"):
            trust.check(certificate, then)
    elif seconds > days * 86400:
        with pytest.raises(CertificateError, match=r"owner lyon expired on 203\d.*keys renew"):
            trust.check(certificate, then)
    else:
        assert trust.check(certificate, then) == LYON


def test_nothing_outlives_its_authority() -> None:
    authority = CertificateAuthority.create("clinics", days=10, now=NOW)
    request = PartyKey.new().request(LYON)
    certificate = authority.sign(request, 10, now=NOW)
    with pytest.raises(CertificateError, match="at most 9 days"):
        authority.sign(request, 10, now=NOW + timedelta(days=1))
    with pytest.raises(CertificateError, match="clinics itself expired"):
        Trust(authority.certificate_pem).check(certificate, NOW + timedelta(days=11))


@pytest.mark.parametrize("days", [0, -1, 36_501, 10**9])
def test_senseless_durations_are_refused(authority: CertificateAuthority, days: int) -> None:
    with pytest.raises(InputError, match="days"):
        authority.sign(PartyKey.new().request(LYON), days)
    with pytest.raises(InputError, match="days"):
        CertificateAuthority.create("clinics", days)
    with pytest.raises(InputError, match="days"):
        authority.revocations({}, days)


def test_a_moment_needs_a_time_zone(
    authority: CertificateAuthority, certificate: Certificate
) -> None:
    with pytest.raises(InputError, match="time zone"):
        Trust(authority.certificate_pem).check(certificate, datetime(2030, 1, 1))


@given(revoked=st.sets(st.integers(0, 5)))
@settings(max_examples=20)
def test_exactly_the_revoked_are_refused(revoked: set[int]) -> None:
    authority = CertificateAuthority.create("clinics", now=NOW)
    issued = [
        authority.sign(PartyKey.new().request(Subject(f"owner-{i}", "owner")), now=NOW)
        for i in range(6)
    ]
    crl = authority.revocations({issued[i].serial: NOW for i in revoked}, now=NOW)
    trust = Trust(authority.certificate_pem, crl)
    for i, certificate in enumerate(issued):
        if i in revoked:
            with pytest.raises(CertificateError, match=f"owner-{i} was revoked on 2030-05-17"):
                trust.check(certificate, NOW)
        else:
            trust.check(certificate, NOW)


def test_a_revocation_list_must_be_the_authoritys(authority: CertificateAuthority) -> None:
    for foreign in (CertificateAuthority.create("clinics"), CertificateAuthority.create("others")):
        with pytest.raises(CertificateError, match="not signed by the authority clinics"):
            Trust(authority.certificate_pem, foreign.revocations({}))
    with pytest.raises(FormatError, match="revocation list"):
        Trust(authority.certificate_pem, b"")


def test_a_revocation_list_must_bear_the_authoritys_name(authority: CertificateAuthority) -> None:
    crl = (
        x509.CertificateRevocationListBuilder(_common("others"), NOW, NOW + timedelta(days=1))
        .sign(PartyKey.from_pem(authority.key_pem()).private, None)
        .public_bytes(Encoding.PEM)
    )
    with pytest.raises(CertificateError, match="not signed by the authority clinics"):
        Trust(authority.certificate_pem, crl)


def test_an_altered_authority_is_refused(authority: CertificateAuthority) -> None:
    der = x509.load_pem_x509_certificate(authority.certificate_pem).public_bytes(Encoding.DER)
    altered = x509.load_der_x509_certificate(der.replace(b"clinics", b"klinics"))
    with pytest.raises(CertificateError, match="not signed with its own key"):
        Trust(altered.public_bytes(Encoding.PEM))


def test_a_stale_revocation_list_still_counts(
    authority: CertificateAuthority, certificate: Certificate
) -> None:
    old = datetime.now(UTC) - timedelta(days=31)
    stale = Trust(
        authority.certificate_pem, authority.revocations({certificate.serial: old}, now=old)
    )
    assert stale.revocations_stale
    with pytest.raises(CertificateError, match="revoked"):
        stale.check(certificate)
    assert not Trust(authority.certificate_pem, authority.revocations({})).revocations_stale
    assert not Trust(authority.certificate_pem).revocations_stale


def test_a_request_altered_on_its_way_is_refused(
    authority: CertificateAuthority, key: PartyKey
) -> None:
    # So long a name is not by chance in the key, of which some altered ones could not be read.
    request = key.request(Subject("hospital-of-lyon", "owner"))
    der = x509.load_pem_x509_csr(request).public_bytes(Encoding.DER)
    altered = x509.load_der_x509_csr(der.replace(b"hospital-of-lyon", b"hospital-of-graz"))
    with pytest.raises(CertificateError, match="altered"):
        authority.sign(altered.public_bytes(Encoding.PEM))


def test_nothing_else_of_a_request_is_taken_over(
    authority: CertificateAuthority, key: PartyKey
) -> None:
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, "lyon"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "others"),
        ]
    )
    wish = (
        x509.CertificateSigningRequestBuilder(name)
        .add_extension(_uris("lotor:owner/lyon"), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key.private, None)
    )
    signed = authority.sign(wish.public_bytes(Encoding.PEM)).x509
    assert not signed.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    (federation,) = signed.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert federation.value == "clinics"


def _mutations(source: bytes) -> st.SearchStrategy[bytes]:
    def change(edits: list[tuple[int, int]], cut: int) -> bytes:
        data = bytearray(source)
        for place, value in edits:
            data[place] = value
        return bytes(data[: len(data) - cut])

    edits = st.lists(
        st.tuples(st.integers(0, len(source) - 1), st.integers(0, 255)), min_size=1, max_size=4
    )
    return st.builds(change, edits, st.sampled_from([0, 0, 0, 1, 40]))


@pytest.mark.filterwarnings("default")  # the parser warns about some of what it still reads
@given(data=st.data())
@settings(max_examples=400)
def test_damaged_certificates_never_pass(
    data: st.DataObject, authority: CertificateAuthority, certificate: Certificate
) -> None:
    der = data.draw(_mutations(certificate.to_der()) | st.binary(max_size=200))
    if der == certificate.to_der():
        return
    with pytest.raises(CryptoError):
        Trust(authority.certificate_pem).check(Certificate.from_der(der))


READERS: list[Callable[[bytes], object]] = [
    Certificate.from_pem,
    Certificate.from_der,
    Request.from_pem,
    Revocations.from_pem,
    PartyKey.from_pem,
    Trust,
    read_bundle,
]


@pytest.mark.parametrize("read", READERS)
@given(junk=st.binary(max_size=100))
@settings(max_examples=30)
def test_junk_is_named_as_such(read: Callable[[bytes], object], junk: bytes) -> None:
    for source in (junk, b"-----BEGIN CERTIFICATE-----\n" + junk):
        with pytest.raises(FormatError, match="cannot be read"):
            read(source)


def test_other_kinds_of_keys_are_refused(key: PartyKey) -> None:
    curve = ec.generate_private_key(ec.SECP256R1())
    pem = curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(FormatError, match="not an Ed25519"):
        PartyKey.from_pem(pem)
    locked = key.private.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )
    with pytest.raises(FormatError, match="private key cannot be read"):
        PartyKey.from_pem(locked)
    request = (
        x509.CertificateSigningRequestBuilder(_common("lyon"))
        .add_extension(_uris("lotor:owner/lyon"), critical=False)
        .sign(curve, hashes.SHA256())
    )
    with pytest.raises(CertificateError, match="Ed25519"):
        Request.from_pem(request.public_bytes(Encoding.PEM))


def _common(*names: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name) for name in names])


def _uris(*uris: str) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([x509.UniformResourceIdentifier(uri) for uri in uris])


BOTH = (ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH)


def _by_hand(
    authority: CertificateAuthority,
    *,
    name: x509.Name | None = None,
    alternative: x509.SubjectAlternativeName | None = None,
    uses: tuple[x509.ObjectIdentifier, ...] | None = BOTH,
    ca: bool = False,
    signs: bool = False,
) -> bytes:
    """`ca` is what it says to be; `signs` is whether its key may sign certificates."""
    signer = PartyKey.from_pem(authority.key_pem()).private
    issuer = x509.load_pem_x509_certificate(authority.certificate_pem)
    usage = issuer.extensions.get_extension_for_class(x509.KeyUsage).value
    if not signs:
        signed = authority.sign(PartyKey.new().request(LYON))
        usage = signed.x509.extensions.get_extension_for_class(x509.KeyUsage).value
    builder = (
        x509.CertificateBuilder(issuer.subject, name or _common("lyon"))
        .public_key(Ed25519PrivateKey.generate().public_key())
        .serial_number(7)
        .not_valid_before(NOW)
        .not_valid_after(NOW + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(alternative or _uris("lotor:owner/lyon"), critical=False)
    )
    if uses is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    return builder.sign(signer, None).public_bytes(Encoding.DER)


def test_a_certificate_by_hand_that_says_the_same_is_read(authority: CertificateAuthority) -> None:
    assert Certificate.from_der(_by_hand(authority)).subject == LYON


def test_certificates_that_are_not_a_partys_are_refused(authority: CertificateAuthority) -> None:
    mixed = x509.SubjectAlternativeName(
        [x509.UniformResourceIdentifier("lotor:owner/lyon"), x509.DNSName("lyon.example.org")]
    )
    client_only = (ExtendedKeyUsageOID.CLIENT_AUTH,)
    cases = {
        "of an authority": _by_hand(authority, ca=True, signs=True),
        "not of a party": _by_hand(authority, ca=True),
        "an authority, not": _by_hand(authority, signs=True),
        "contradicts itself.*porto": _by_hand(authority, name=_common("porto")),
        "contradicts itself": _by_hand(authority, name=_common("lyon", "porto")),
        "holds 2": _by_hand(authority, alternative=_uris("lotor:owner/lyon", "lotor:comp/lyon")),
        "exactly one": _by_hand(authority, alternative=mixed),
        "no usable party": _by_hand(authority, alternative=_uris("https://lyon.example.org")),
        "both ends": _by_hand(authority, uses=client_only),
        "does not say": _by_hand(authority, uses=None),
    }
    for reason, der in cases.items():
        with pytest.raises(CertificateError, match=reason):
            Certificate.from_der(der)


def _context(
    side: int,
    folder: Path,
    authority: CertificateAuthority,
    key: PartyKey,
    certificate: Certificate,
) -> ssl.SSLContext:
    name = certificate.subject.name
    (folder / f"{name}.key").write_bytes(key.to_pem())
    (folder / f"{name}.pem").write_bytes(certificate.to_pem() + authority.certificate_pem)
    context = ssl.SSLContext(side)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_CRL_CHECK_LEAF
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    context.load_verify_locations(cadata=authority.certificate_pem.decode())
    return context


def _handshake(client: ssl.SSLContext, server: ssl.SSLContext) -> tuple[ssl.SSLObject, ...]:
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = (
        client.wrap_bio(to_client, to_server),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    for _ in range(4):
        for side in sides:
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return sides


@pytest.mark.parametrize("revoked", [False, True])
def test_openssl_accepts_them_at_its_strictest(
    tmp_path: Path, authority: CertificateAuthority, revoked: bool
) -> None:
    keys = {name: PartyKey.new() for name in ("lyon", "cloud")}
    lyon = authority.sign(keys["lyon"].request(LYON))
    cloud = authority.sign(keys["cloud"].request(Subject("cloud", "controller")))
    client = _context(ssl.PROTOCOL_TLS_CLIENT, tmp_path, authority, keys["lyon"], lyon)
    server = _context(ssl.PROTOCOL_TLS_SERVER, tmp_path, authority, keys["cloud"], cloud)
    crl = tmp_path / "revoked.pem"
    crl.write_bytes(authority.revocations({lyon.serial: datetime.now(UTC)} if revoked else {}))
    client.load_verify_locations(crl)
    server.load_verify_locations(crl)
    if revoked:
        with pytest.raises(ssl.SSLCertVerificationError, match="revoked"):
            _handshake(client, server)
        return
    at_client, at_server = _handshake(client, server)
    assert Certificate.from_der(at_client.getpeercert(True) or b"") == cloud
    assert Certificate.from_der(at_server.getpeercert(True) or b"") == lyon


def test_a_serial_number_below_one_is_refused(
    key: PartyKey, authority: CertificateAuthority
) -> None:
    certificate = authority.sign(key.request(Subject("lyon", "owner")), 30)
    serial = certificate.serial.to_bytes((certificate.serial.bit_length() + 8) // 8)
    der = bytearray(certificate.to_der())
    der[bytes(der).index(serial)] |= 0x80
    with pytest.raises(FormatError, match="cannot be read"):
        Certificate.from_der(bytes(der))
