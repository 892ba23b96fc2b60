"""A run is taken for what its opener signed, with the parties that the authority vouches for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor import Samba
from lotor.core.errors import CertificateError, LotorError, ProtocolError, VersionError
from lotor.core.fingerprint import CodeFingerprint, fingerprint_of
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate, CertificateAuthority, PartyKey, Subject, Trust
from lotor.crypto.signing import Identity
from lotor.protocols.form import Contribution, Member
from lotor.protocols.protocol import PROTOCOLS
from lotor.protocols.samba.paper.terms import SambaPaperTerms
from lotor.protocols.samba.terms import terms_from
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon.announcement import EVERYBODY, PURPOSE, Announcement, RunAgreement

RUN = "a0" * 16
ROLES = {
    "customer": "customer",
    "controller": "controller",
    "comp": "comp",
    "lyon": "owner",
    "porto": "owner",
}


@dataclass
class Cast:
    """An authority and the certified parties of one run, all in memory."""

    authority: CertificateAuthority = field(
        default_factory=lambda: CertificateAuthority.create("clinics")
    )
    keys: dict[str, PartyKey] = field(default_factory=dict)
    certificates: dict[str, Certificate] = field(default_factory=dict)
    order: bytes = b""

    def certify(
        self, name: str, role: str, key: PartyKey | None = None, *, ago: int = 0
    ) -> Certificate:
        """A certificate for 30 days that began so many days ago."""
        key = key or PartyKey.new()
        now = datetime.now(UTC) - timedelta(days=ago)
        return self.authority.sign(key.request(Subject(name, role)), 30, now=now)

    @property
    def trust(self) -> Trust:
        return Trust(self.authority.certificate_pem)

    def announced(
        self, instead: Mapping[str, Certificate] | None = None, /, **changes: object
    ) -> Announcement:
        """With other certificates in some seats, and other fields."""
        told = Announcement(
            run=RUN,
            protocol="samba",
            form="paper",
            wire=Samba.form_called("paper").wire,
            version=VERSION,
            code=(fingerprint_of(Samba),),
            created=1.0,
            certificates={
                seat: one.to_der() for seat, one in {**self.certificates, **(instead or {})}.items()
            },
            order=self.order,
        )
        return msgspec.structs.replace(told, **changes)

    def sign(self, told: Announcement, key: PartyKey | None = None) -> bytes:
        signer = Identity("customer", (key or self.keys["customer"]).private, {})
        return signer.sign(told.to_bytes(), run=told.run, purpose=PURPOSE, recipient=EVERYBODY)

    def check(
        self, told: Announcement, *, by: PartyKey | None = None, trust: Trust | None = None
    ) -> RunAgreement:
        """As lyon sees it."""
        return self.read(told.to_bytes(), self.sign(told, by), trust=trust)

    def recall(self, told: Announcement) -> RunAgreement:
        """As lyon finds it in its journal."""
        return announcement.check(
            told.to_bytes(),
            self.sign(told),
            protocols=PROTOCOLS,
            trust=None,
            key=self.keys["lyon"],
        )

    def read(self, signed: bytes, signature: bytes, *, trust: Trust | None = None) -> RunAgreement:
        return announcement.check(
            signed,
            signature,
            protocols=PROTOCOLS,
            trust=trust or self.trust,
            key=self.keys["lyon"],
        )


@cache
def cast() -> Cast:
    made = Cast()
    for name, role in ROLES.items():
        made.keys[name] = PartyKey.new()
        made.certificates[name] = made.certify(name, role, made.keys[name])
    members: dict[str, list[Member]] = {}
    for name, role in ROLES.items():
        members.setdefault(role, []).append(Member(name, Contribution(1)))
    identity = Identity("customer", made.keys["customer"].private, {})
    made.order, _ = Samba.form_called("paper").open(
        Samba(form="paper", key_bits=2048), RUN, members, 24, identity
    )
    return made


@pytest.mark.parametrize("name", ROLES)
def test_everybody_finds_its_own_seat(name: str) -> None:
    told = cast().announced()
    table = announcement.check(
        told.to_bytes(),
        cast().sign(told),
        protocols=PROTOCOLS,
        trust=cast().trust,
        key=cast().keys[name],
    )
    assert table.seat == name
    assert table.opener == cast().certificates["customer"]
    others = [seat for seat in ROLES if seat != "controller"]
    assert list(table.peers) == (others if name == "controller" else ["controller"])


@given(st.data())
def test_nothing_in_it_can_be_altered(data: st.DataObject) -> None:
    told = cast().announced()
    signed, signature = bytearray(told.to_bytes()), bytearray(cast().sign(told))
    part = data.draw(st.sampled_from((signed, signature)))
    part[data.draw(st.integers(0, len(part) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(LotorError):
        cast().read(bytes(signed), bytes(signature))


@given(st.data())
def test_nothing_can_be_cut_off(data: st.DataObject) -> None:
    told = cast().announced()
    signed, signature = told.to_bytes(), cast().sign(told)
    with pytest.raises(LotorError):
        cast().read(signed[: data.draw(st.integers(0, len(signed) - 1))], signature)
    with pytest.raises(LotorError):
        cast().read(signed, signature[: data.draw(st.integers(0, len(signature) - 1))])


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError, match="a run was announced in a form"):
        cast().read(data, bytes(64))


@pytest.mark.parametrize("signer", ["controller", "comp", "porto", "lyon"])
def test_only_its_opener_announces_a_run(signer: str) -> None:
    with pytest.raises(ProtocolError, match=f"{RUN} was not announced by its customer"):
        cast().check(cast().announced(), by=cast().keys[signer])


def test_a_signature_is_for_one_run() -> None:
    other = cast().announced(run="b1" * 16)
    with pytest.raises(ProtocolError, match="was not announced by its customer"):
        cast().read(other.to_bytes(), cast().sign(cast().announced()))


@pytest.mark.parametrize("seat", ROLES)
@pytest.mark.parametrize("flaw", ["foreign", "expired", "not yet valid", "revoked", "no"])
def test_every_certificate_is_checked(seat: str, flaw: str) -> None:
    key, role, trust = cast().keys[seat], ROLES[seat], cast().trust
    if flaw == "foreign":
        wrong = Cast().certify(seat, role, key)
    elif flaw == "revoked":
        wrong = cast().certify(seat, role, key)
        revoked = cast().authority.revocations({wrong.serial: datetime.now(UTC)})
        trust = Trust(cast().authority.certificate_pem, revoked)
    else:
        wrong = cast().certify(seat, role, key, ago={"expired": 31, "no": 1}.get(flaw, -2))
    told = cast().announced({seat: wrong})
    if flaw == "no":
        assert cast().check(told, trust=trust).members[seat] == wrong  # renewed: the same party
        return
    with pytest.raises(CertificateError, match=f"the {seat} of run {RUN} cannot be trusted"):
        cast().check(told, trust=trust)


def test_what_is_no_certificate_is_refused() -> None:
    ders = {**cast().announced().certificates, "porto": b"no certificate"}
    with pytest.raises(CertificateError, match=f"the porto of run {RUN} cannot be trusted"):
        cast().check(cast().announced(certificates=ders))


def test_a_run_goes_on_although_a_certificate_has_expired_since() -> None:
    told = cast().announced({"porto": cast().certify("porto", "owner", ago=31)})
    assert cast().recall(told).seat == "lyon"


def test_a_seat_takes_its_role_and_its_name() -> None:
    ours = cast().certificates
    with pytest.raises(CertificateError, match="puts porto, whose role is owner, in the seat comp"):
        cast().check(cast().announced({"comp": ours["porto"]}))
    with pytest.raises(CertificateError, match="puts porto, whose role is owner, in the seat lyon"):
        cast().check(cast().announced({"lyon": ours["porto"], "porto": ours["lyon"]}))
    with pytest.raises(CertificateError, match=r"puts customer, .* in the seat controller"):
        cast().check(cast().announced({"controller": ours["customer"]}))


def test_nobody_has_two_seats_and_no_name_two_keys() -> None:
    same_key = cast().certify("porto", "owner", cast().keys["lyon"])
    with pytest.raises(ProtocolError, match="one party in two seats"):
        cast().check(cast().announced({"porto": same_key}))
    same_name = cast().certify("porto", "comp")
    with pytest.raises(ProtocolError, match="two parties of one name"):
        cast().check(cast().announced({"comp": same_name}))


def test_the_seats_are_those_of_the_order() -> None:
    with pytest.raises(ProtocolError, match="other seats than were ordered"):
        cast().check(cast().announced({"graz": cast().certify("graz", "owner")}))
    ders = dict(cast().announced().certificates)
    del ders["porto"]
    with pytest.raises(ProtocolError, match="other seats than were ordered"):
        cast().check(cast().announced(certificates=ders))


def test_who_has_no_seat_stays_out() -> None:
    told = cast().announced({"lyon": cast().certify("lyon", "owner")})  # the same name, re-issued
    with pytest.raises(ProtocolError, match="this party has no seat in the run"):
        cast().check(told)


@pytest.mark.parametrize(
    "changes",
    [{"protocol": "ppcb"}, {"protocol": "unheard-of"}, {"form": "unheard-of"}, {"wire": "samba/9"}],
)
def test_another_version_is_named(changes: dict[str, object]) -> None:
    with pytest.raises(VersionError, match=r"install lotor 9\.8\.7 there"):
        cast().check(cast().announced(version="9.8.7", **changes))


def test_what_to_install_is_named() -> None:
    plugin = CodeFingerprint("clinic-bandits", "1.2", "ab" * 32)
    told = cast().announced(protocol="clinic", form="ours", wire="clinic/1", code=(plugin,))
    with pytest.raises(VersionError) as caught:
        cast().check(told)
    for named in (
        "clinic in the form ours (clinic/1)",
        f"lyon cannot do with its lotor {VERSION}",
        str(plugin),
    ):
        assert named in str(caught.value)


def test_a_policy_that_is_not_installed_is_no_fault_of_the_order() -> None:
    plugin = CodeFingerprint("clinic-bandits", "1.2", "ab" * 32)
    terms = msgspec.structs.replace(
        terms_from(SambaPaperTerms, cast().order), policy="clinic-greedy:epsilon=0.1"
    )
    code = (fingerprint_of(Samba), plugin)
    with pytest.raises(VersionError) as caught:
        cast().check(cast().announced(order=terms.to_bytes(), code=code))
    for named in (str(plugin), "clinic-greedy", "Install the same code at lyon"):
        assert named in str(caught.value)
    with pytest.raises(ProtocolError, match="a policy that is not known here"):
        cast().check(cast().announced(order=terms.to_bytes()))


def test_other_code_under_the_same_version_is_refused_over_the_wire() -> None:
    ours = fingerprint_of(Samba)
    other = msgspec.structs.replace(ours, digest="ab" * 32)
    with pytest.raises(VersionError) as caught:
        cast().check(cast().announced(code=(other,)))
    said = f"was announced with {other}, and lyon has {ours}: install the same code"
    assert said in str(caught.value)


@pytest.mark.parametrize("version", [VERSION, "9.8.7"])
def test_a_run_goes_on_after_an_update_of_lotor(version: str) -> None:
    """Its messages have a version of their own."""
    other = CodeFingerprint("lotor", version, "ab" * 32)
    agreement = cast().recall(cast().announced(version=version, code=(other,)))
    announcement.check_resumable(agreement, PROTOCOLS)


def test_a_run_does_not_go_on_with_other_code_of_a_plugin() -> None:
    plugin = CodeFingerprint("clinic-bandits", "1.2", "ab" * 32)
    agreement = cast().recall(cast().announced(code=(fingerprint_of(Samba), plugin)))
    with pytest.raises(VersionError) as caught:
        announcement.check_resumable(agreement, PROTOCOLS)
    said = f"was announced with {plugin}, and lyon has no code of other packages: install"
    assert said in str(caught.value)


@given(st.text().filter(lambda run: not set(run) <= set("0123456789abcdef") or len(run) < 2))
def test_the_name_of_a_run_is_safe_to_print(run: str) -> None:
    told = cast().announced(run=run)
    with pytest.raises(ProtocolError, match="a run was announced in a form"):
        cast().check(told)


@given(st.binary(max_size=100))
def test_an_order_that_cannot_be_read_is_refused(order: bytes) -> None:
    with pytest.raises(LotorError):
        cast().check(cast().announced(order=order))
