import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lotor.cli.keys import app
from lotor.core.errors import ConfigError, InputError, LotorError
from lotor.runtime.daemon.doctor import examine
from lotor.runtime.daemon.kit import Kit


def keys(*arguments: str, answer: str = "") -> tuple[str, str]:
    """Run a command; what it wrote to stdout and to stderr."""
    done = CliRunner().invoke(app, list(arguments), input=answer)
    if isinstance(done.exception, LotorError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def data(*arguments: str, answer: str = "") -> dict[str, object]:
    found: dict[str, object] = json.loads(keys(*arguments, "--json", answer=answer)[0])
    return found


@pytest.fixture(autouse=True)
def _in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lyon() -> Path:
    """A kit of a federation, made as people make it."""
    keys("authority", "clinics", "--unprotected")
    keys("request", "--role", "owner", "--name", "lyon")
    keys("sign", "lyon/request.pem", answer="y\n")
    keys("install", "lyon.certificate.pem", "--kit", "lyon")
    return Path("lyon")


def test_from_nothing_to_a_kit() -> None:
    authority = data("authority", "clinics", "--unprotected")
    request = data("request", "--role", "owner", "--name", "lyon")
    assert request["file"] == "lyon/request.pem"
    out, notes = keys("sign", "lyon/request.pem", "--days", "30", answer="yes\n")
    assert f"fingerprint {request['fingerprint']}" in " ".join(notes.split())
    assert "lotor keys install lyon.certificate.pem --kit lyon" in notes
    assert out.startswith("kind ")
    installed = data("install", "lyon.certificate.pem", "--kit", "lyon")
    assert installed["authority_fingerprint"] == authority["fingerprint"]
    assert (installed["role"], installed["name"]) == ("owner", "lyon")
    assert (installed["valid"], installed["days_left"]) == (True, 29)
    assert Kit(Path("lyon")).subject.name == "lyon"


def test_what_is_read_out_by_phone_fits_a_narrow_terminal(lyon: Path) -> None:
    name = "the-university-hospital"
    keys("request", "--role", "owner", "--name", name)
    signed, asked = keys("sign", f"{name}/request.pem", answer="y\n")
    # What comes after the question is for copying, not for reading out.
    shown = [signed, asked.partition("Has the party")[0]]
    for path in (lyon, Path("authority"), lyon / "request.pem", lyon / "revoked.pem"):
        shown.append(keys("show", str(path))[0])
    for text in shown:
        assert all(len(line) <= 80 for line in text.splitlines()), text
    for text in shown[:-1]:
        assert re.search(r"( [0-9a-f]{4}){8}\n\s+([0-9a-f]{4} ?){8}\n", text), text


def test_the_next_step_is_on_stderr_and_data_on_stdout() -> None:
    keys("authority", "clinics", "--unprotected")
    out, notes = keys("request", "--role", "comp", "--name", "cloud", "--kit", "kits/cloud")
    assert "kits/cloud/request.pem" in out
    assert "Next" not in out
    assert "send kits/cloud/request.pem to the authority" in notes
    for text in (out, notes):
        assert "PRIVATE" not in text


@pytest.mark.parametrize("answer", ["", "n\n", "\n", "perhaps\n"])
def test_nothing_is_signed_without_a_yes(answer: str) -> None:
    keys("authority", "clinics", "--unprotected")
    keys("request", "--role", "owner", "--name", "lyon")
    with pytest.raises(InputError, match="nothing was signed"):
        keys("sign", "lyon/request.pem", answer=answer)
    assert data("show", "authority")["issued"] == []
    assert not Path("lyon.certificate.pem").exists()
    keys("sign", "lyon/request.pem", "--yes")
    assert Path("lyon.certificate.pem").exists()


def test_a_second_key_is_refused_before_anybody_is_asked(lyon: Path) -> None:
    keys("request", "--role", "owner", "--name", "lyon", "--kit", "second")
    with pytest.raises(ConfigError, match="in use with another key"):
        keys("sign", "second/request.pem")


def test_signing_destroys_no_other_file(lyon: Path) -> None:
    before = (lyon / "key.pem").read_bytes()
    with pytest.raises(ConfigError, match="not a certificate"):
        keys("sign", "lyon/request.pem", "--yes", "--out", "lyon/key.pem")
    with pytest.raises(ConfigError, match="no folder nowhere"):
        keys("sign", "lyon/request.pem", "--yes", "--out", "nowhere/lyon.pem")
    assert (lyon / "key.pem").read_bytes() == before
    assert "issued                 1\n" in keys("show", "authority")[0]


def test_renewal_keeps_the_key(lyon: Path) -> None:
    before = Kit(lyon).certificate
    keys("renew", "--kit", "lyon")
    keys("sign", "lyon/request.pem", "--yes", "--days", "700")
    assert data("install", "lyon.certificate.pem", "--kit", "lyon")["days_left"] == 699
    after = Kit(lyon).certificate
    assert (after.key_bytes, after.serial != before.serial) == (before.key_bytes, True)


def test_revocation_reaches_a_kit(lyon: Path) -> None:
    out, notes = keys("revoke", "lyon")
    assert f"{Kit(lyon).certificate.serial:x}" in out
    assert "send authority/revoked.pem to every party" in notes
    assert data("show", "lyon")["valid"] is True
    shown = data("install", "authority/revoked.pem", "--kit", "lyon")
    assert shown["valid"] is False
    assert "owner lyon was revoked on" in str(shown["problem"])
    assert "lyon  revoked  valid until" in keys("show", "authority")[0]
    again = data("refresh")
    assert (again["stale"], len(str(again["revoked"])) > 2) == (False, True)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("lyon", "kit"),
        ("authority", "authority"),
        ("lyon.certificate.pem", "certificate"),
        ("alone.pem", "certificate"),
        ("lyon/request.pem", "request"),
        ("authority/revoked.pem", "revocation list"),
        ("authority/authority.pem", "authority's certificate"),
    ],
)
def test_everything_can_be_shown(lyon: Path, path: str, kind: str) -> None:
    Path("alone.pem").write_bytes(Kit(lyon).certificate.to_pem())
    assert data("show", path)["kind"] == kind
    assert keys("show", path)[0].splitlines()[0].split(maxsplit=1) == ["kind", kind]


def test_show_looks_here_and_at_kits_without_a_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys("request", "--role", "owner", "--name", "lyon")
    monkeypatch.chdir("lyon")
    assert data("show")["problem"] == "it has no certificate yet"


def test_show_never_shows_a_key_and_names_what_it_cannot_read(lyon: Path) -> None:
    with pytest.raises(ConfigError, match="private key, which is never shown"):
        keys("show", "lyon/key.pem")
    Path("junk.pem").write_bytes(b"junk")
    for path, reason in {
        "junk.pem": r"junk\.pem: .*cannot be read",
        "none.pem": r"none\.pem is missing",
        ".": "neither a kit nor an authority",
    }.items():
        with pytest.raises(ConfigError, match=reason):
            keys("show", path)


def test_a_role_that_no_protocol_has_is_refused() -> None:
    arguments = ["request", "--role", "onwer", "--name", "lyon"]
    with pytest.raises(InputError, match=r"role 'onwer': choose one of .*owner"):
        keys(*arguments)
    assert not Path("lyon").exists()


def test_demo_makes_a_whole_federation_and_warns() -> None:
    out, notes = keys("demo", "trial")
    assert "WARNING: all private keys" in notes
    assert "WARNING" not in out
    roles = {path.name: Kit(path).subject.role for path in Path("trial").iterdir()
             if path.name != "authority"}  # fmt: skip
    assert roles == {
        "customer": "customer",
        "controller": "controller",
        "comp": "comp",
        "lyon": "owner",
        "porto": "owner",
        "graz": "owner",
    }
    assert set(data("demo", "other", "--owner", "bern", "--owner", "oslo")) == {
        "authority", "customer", "controller", "comp", "bern", "oslo",
    }  # fmt: skip


@pytest.mark.parametrize("names", [["lyon", "lyon"], ["comp"], ["authority"], ["Lyon"]])
def test_demo_refuses_names_that_clash(names: list[str]) -> None:
    with pytest.raises(InputError):
        keys("demo", "trial", *(part for name in names for part in ("--owner", name)))
    assert not Path("trial").exists()


def test_a_kit_made_by_the_book_has_nothing_to_mend_about_its_keys(lyon: Path) -> None:
    found = {one.check: one.result for one in examine(lyon)}
    for check in ("folder", "key", "certificate", "revocation list", "validity", "authority"):
        assert found[check] == "ok", check
    assert data("show", "lyon.certificate.pem")["kind"] == "certificate"
