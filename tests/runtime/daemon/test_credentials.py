"""Where the secret of a protected folder comes from, and what is refused."""

import getpass
import io
import sys
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from lotor.core.errors import ConfigError
from lotor.runtime.daemon import credentials
from lotor.runtime.daemon.credentials import (
    SERVICE_VARIABLE,
    VARIABLE,
    Credential,
    find_credential,
    make_key_file,
    new_passphrase,
    read_key_file,
)
from runtime.daemon.protected import PASSPHRASE, credential_file, secret_file


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (VARIABLE, SERVICE_VARIABLE):
        monkeypatch.delenv(name, raising=False)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What somebody at a terminal will type."""
    answers: list[str] = []
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(getpass, "getpass", lambda prompt, stream: answers.pop(0))
    return answers


def test_the_order_of_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str]
) -> None:
    """Each further place counts before those that were there."""
    typed.append("typed by hand")
    assert find_credential("passphrase", "owner lyon", None).value == b"typed by hand"
    recorded = secret_file(tmp_path / "recorded", bytes(32))
    assert find_credential("key-file", "owner lyon", recorded).value == bytes(32)
    monkeypatch.setenv(SERVICE_VARIABLE, str(tmp_path))
    typed.append("still typed")  # a service's folder without our credential is of no use
    assert find_credential("passphrase", "owner lyon", None).value == b"still typed"
    secret_file(tmp_path / "lotor", b"s" * 32)
    for kind in ("passphrase", "key-file"):
        assert find_credential(kind, "owner lyon", recorded).value == b"s" * 32
    credential_file(tmp_path, monkeypatch, b"v" * 32)
    for kind in ("passphrase", "key-file"):
        found = find_credential(kind, "owner lyon", recorded)  # type: ignore[arg-type]
        assert (found.value, VARIABLE in found.source) == (b"v" * 32, True)
    assert typed == []


@pytest.mark.parametrize(
    ("content", "passphrase"),
    [
        ("a b c", "a b c"),
        ("a b c\n", "a b c"),
        ("a b c\r\n", "a b c"),
        ("a b c\n\n", "a b c\n"),
        (" a b c ", " a b c "),
        ("a b c\r", "a b c\r"),
        (unicodedata.normalize("NFD", "été\n"), "été"),
    ],
)
def test_one_newline_at_the_end_of_a_file_is_no_part_of_a_passphrase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, passphrase: str
) -> None:
    credential_file(tmp_path, monkeypatch, content)
    assert find_credential("passphrase", "owner lyon", None).value == passphrase.encode()


def test_every_byte_of_a_key_file_counts(tmp_path: Path) -> None:
    path = secret_file(tmp_path / "key", bytes(31) + b"\n")
    assert read_key_file(path).value == bytes(31) + b"\n"
    short = secret_file(tmp_path / "short", bytes(31))
    with pytest.raises(ConfigError, match=r"31 bytes, and a key file has at least 32: .*--new-key"):
        read_key_file(short)


def test_a_new_key_file_is_random_private_and_overwrites_nothing(tmp_path: Path) -> None:
    made = [make_key_file(tmp_path / str(i)) for i in range(2)]
    assert made[0].value != made[1].value
    for credential in made:
        assert credential.key_file is not None
        assert credential.key_file.read_bytes() == credential.value
        assert len(credential.value) == 32
        assert credential.key_file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ConfigError, match=r"exists already.*--key-file"):
        make_key_file(tmp_path / "0")


def test_a_secret_that_others_may_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = credential_file(tmp_path, monkeypatch)
    path.chmod(0o640)
    with pytest.raises(ConfigError, match=r"is a secret, and other users.*chmod 600"):
        find_credential("passphrase", "owner lyon", None)


@pytest.mark.parametrize(("mode", "fine"), [(0o400, True), (0o440, True), (0o444, False)])
def test_what_systemd_hands_over_may_be_readable_for_a_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, fine: bool
) -> None:
    """It gives a service access by an access list, which shows as the group's right to read."""
    secret_file(tmp_path / "lotor").chmod(mode)
    monkeypatch.setenv(SERVICE_VARIABLE, str(tmp_path))
    if fine:
        assert find_credential("passphrase", "x", None).value == PASSPHRASE.encode()
    else:
        with pytest.raises(ConfigError, match="other users"):
            find_credential("passphrase", "x", None)


@pytest.mark.parametrize(
    ("kind", "recorded"), [("passphrase", None), ("key-file", None), ("key-file", "gone")]
)
def test_nobody_to_ask_is_an_error_that_says_where_a_secret_is_looked_for(
    tmp_path: Path, kind: credentials.CredentialKind, recorded: str | None
) -> None:
    words = VARIABLE if recorded is None else f"gone is missing: put it back.*{VARIABLE}.*is lost"
    with pytest.raises(ConfigError, match=words):
        find_credential(kind, "owner lyon", None if recorded is None else tmp_path / recorded)


def test_a_named_file_that_is_missing_or_no_text_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str]
) -> None:
    typed.append("never asked for")
    path = credential_file(tmp_path, monkeypatch, b"\xff\xfe")
    with pytest.raises(ConfigError, match="no text in UTF-8"):
        find_credential("passphrase", "owner lyon", None)
    path.write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(ConfigError, match="too long"):
        find_credential("passphrase", "owner lyon", None)
    path.unlink()
    with pytest.raises(ConfigError, match=f"{VARIABLE}: .* is missing"):
        find_credential("passphrase", "owner lyon", None)
    assert typed


def test_a_variable_that_names_nothing_is_not_set(
    monkeypatch: pytest.MonkeyPatch, typed: list[str]
) -> None:
    typed.append("what a person types")
    for name in (VARIABLE, SERVICE_VARIABLE):
        monkeypatch.setenv(name, "")
    found = find_credential("passphrase", "owner lyon", None)
    assert found.value == b"what a person types"


def test_a_new_passphrase_is_typed_twice(typed: list[str]) -> None:
    typed[:] = [PASSPHRASE, PASSPHRASE]
    assert new_passphrase("owner lyon").value == PASSPHRASE.encode()
    typed[:] = [PASSPHRASE, PASSPHRASE + " "]
    with pytest.raises(ConfigError, match="differ"):
        new_passphrase("owner lyon")


def test_what_is_typed_in_another_encoding_is_refused_and_not_shown(typed: list[str]) -> None:
    """Python hands on bytes that are no UTF-8 as characters that nothing can encode."""
    bad = b"kiwi olm tapir\xe9 gnu".decode(errors="surrogateescape")
    typed[:] = [bad, bad, bad]
    uses: list[Callable[[], Credential]] = [
        lambda: new_passphrase("owner lyon"),
        lambda: find_credential("passphrase", "owner lyon", None),
    ]
    for use in uses:
        with pytest.raises(ConfigError, match="no text in UTF-8") as refused:
            use()
        assert "dce9" not in str(refused.value)
        assert refused.value.__suppress_context__


@pytest.mark.parametrize("short", ["", "x", "elevenchars"])
def test_a_short_passphrase_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str], short: str
) -> None:
    typed[:] = [short, short]
    with pytest.raises(ConfigError, match=r"too short.*12 characters"):
        new_passphrase("owner lyon")
    credential_file(tmp_path, monkeypatch, short + "\n")
    with pytest.raises(ConfigError, match=r"too short.*12 characters"):
        new_passphrase("owner lyon")


def test_where_an_old_secret_is_in_the_file_a_new_one_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str]
) -> None:
    credential_file(tmp_path, monkeypatch)
    assert new_passphrase("owner lyon").value == PASSPHRASE.encode()
    typed[:] = ["another passphrase"] * 2
    assert new_passphrase("owner lyon", from_file=False).value == b"another passphrase"


def test_a_terminal_that_shows_what_is_typed_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def echoing(prompt: str, stream: object) -> str:
        warnings.warn("Can not control echo", getpass.GetPassWarning, stacklevel=2)
        return "seen by all"

    def closed(prompt: str, stream: object) -> str:
        raise EOFError

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(getpass, "getpass", echoing)
    with pytest.raises(ConfigError, match="would show what is typed"):
        find_credential("passphrase", "owner lyon", None)
    monkeypatch.setattr(getpass, "getpass", closed)
    with pytest.raises(ConfigError, match="no passphrase was typed"):
        find_credential("passphrase", "owner lyon", None)


def test_a_credential_does_not_show_its_secret() -> None:
    assert "secret" not in repr(Credential("passphrase", b"secret", "what was typed"))
