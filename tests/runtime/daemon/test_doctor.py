"""Each thing that can be wrong with a party is found, and looking changes nothing."""

import asyncio
import os
import shutil
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from lotor.core.errors import ConfigError
from lotor.core.version import VERSION
from lotor.crypto.certificates import CertificateAuthority
from lotor.runtime.daemon.announcement import Announcement
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.config import (
    Address,
    OwnerTable,
    PartyConfig,
    TrialTable,
    read_config,
    write_config,
)
from lotor.runtime.daemon.doctor import DoctorFinding, examine, network_checks
from lotor.runtime.daemon.doctor.findings import guarded, refused
from lotor.runtime.daemon.frames import WIRE_VERSION, Status
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.durable.journal import JOURNAL_VERSION, RUNNING, WAITING, Journal, RunRow
from lotor.sandbox.federation import free_port
from lotor.sandbox.kits import make_kits
from lotor.transport import Hello, Limits, NetworkTransport, Tls
from runtime.daemon.protected import protect_with_key_file
from transport.parties import without_host

WHEN = "2001-09-09 01:46:40 UTC"
PULL = "def pull(decision):\n    raise SystemError('the doctor must not call this')\n"
EVERYWHERE = "0.0.0.0"  # noqa: S104
MEMBERS = {"lyon": "owner", "cloud": "controller", "acme": "customer"}


@pytest.fixture
def kits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Kits in which nothing is wrong; the owner dials nobody who is there."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "hospital", raising=False)
    kits = make_kits(tmp_path, MEMBERS)
    for kit in kits.values():
        shutil.copy(tmp_path / "authority" / "revoked.pem", kit)
    peers = {"cloud": Address("127.0.0.1", free_port())}
    (kits["lyon"] / "hospital.py").write_text(PULL)
    owner = OwnerTable(pull="hospital:pull")
    write_config(kits["lyon"] / "party.toml", PartyConfig(peers=peers, owner=owner))
    write_config(kits["cloud"] / "party.toml", PartyConfig(listen=peers["cloud"]))
    members: dict[str, tuple[str, ...]] = {"controller": ("cloud",), "owner": ("lyon",)}
    write_config(kits["acme"] / "party.toml", PartyConfig(peers=peers, members=members))
    return kits


def changed(kit: Path, **values: object) -> None:
    path = kit / "party.toml"
    write_config(path, msgspec.structs.replace(read_config(path), **values))


def contents(folder: Path) -> dict[str, object]:
    """All that a check could change; the index of a journal that is open is nobody's data."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        stat = path.stat()
        data = path.read_bytes() if path.is_file() and not path.name.endswith("-shm") else None
        found[str(path)] = (stat.st_mode, stat.st_mtime_ns if data is not None else 0, data)
    return found


def examined(kit: Path) -> list[DoctorFinding]:
    before = contents(kit)
    findings = examine(kit)
    assert contents(kit) == before
    for finding in findings:
        assert finding.found
        assert bool(finding.todo) == (finding.result != "ok"), finding
    return findings


def wrong(kit: Path) -> dict[str, DoctorFinding]:
    """What is not ok, apart from a peer that is not there and a daemon that is not running."""
    usual, well = ("peer cloud", "peer lyon", "served"), ("ok", "hint")
    found = [one for one in examined(kit) if one.result not in well and one.check not in usual]
    assert len({one.check for one in found}) == len(found), found
    return {one.check: one for one in found}


def only(kit: Path, check: str) -> DoctorFinding:
    found = wrong(kit)
    assert list(found) == [check], found
    return found[check]


def about(kit: Path, check: str) -> list[DoctorFinding]:
    return [one for one in examined(kit) if one.check == check]


@pytest.mark.parametrize("name", MEMBERS)
def test_nothing_is_wrong_with_a_good_kit(kits: dict[str, Path], name: str) -> None:
    assert wrong(kits[name]) == {}
    checks = {one.check for one in examined(kits[name])}
    everywhere = {
        "folder",
        "protection",
        "key",
        "certificate",
        "validity",
        "authority",
        "revocation list",
    }
    assert everywhere | {"party.toml", "role", "state", "disk", "journal", "port"} <= checks
    assert ("pull" in checks) == (name == "lyon")
    assert not (kits[name] / "state").exists()


@pytest.mark.parametrize("folder", ["", "nowhere"])
def test_no_kit_at_all(tmp_path: Path, folder: str) -> None:
    with pytest.raises(ConfigError, match="there is no kit"):
        examine(tmp_path / folder)


# -- files -----------------------------------------------------------------------------------


def _no_key(kit: Path) -> None:
    (kit / "key.pem").unlink()


def _open_key(kit: Path) -> None:
    (kit / "key.pem").chmod(0o640)


def _damaged_key(kit: Path) -> None:
    (kit / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\n")


def _open_folder(kit: Path) -> None:
    kit.chmod(0o770)


def _open_config(kit: Path) -> None:
    (kit / "party.toml").chmod(0o666)


def _other_key(kit: Path) -> None:
    shutil.copy(kit.parent / "cloud" / "key.pem", kit)


def _no_list(kit: Path) -> None:
    (kit / "revoked.pem").unlink()


def _damaged_list(kit: Path) -> None:
    (kit / "revoked.pem").write_bytes(b"-----BEGIN X509 CRL-----\n")


def _revoked(kit: Path) -> None:
    authority = AuthorityFolder(kit.parent / "authority")
    authority.revoke(kit.name)
    shutil.copy(authority.revoked_path, kit)


def _bad_toml(kit: Path) -> None:
    (kit / "party.toml").write_text("lisen = 'x'\n")


def _no_pull(kit: Path) -> None:
    (kit / "hospital.py").unlink()


def _broken_pull(kit: Path) -> None:
    (kit / "hospital.py").write_text("raise OSError('no database')\n")


def _no_owner(kit: Path) -> None:
    changed(kit, owner=None)


def _alone(kit: Path) -> None:
    changed(kit, peers={})


def _own_peer(kit: Path) -> None:
    changed(kit, peers={**read_config(kit / "party.toml").peers, "lyon": Address("nowhere", 1)})


def _trial(kit: Path) -> None:
    changed(kit, trial=TrialTable(seed=1))


def _state_in_a_file(kit: Path) -> None:
    changed(kit, state="hospital.py/state")


def _open_state(kit: Path) -> None:
    (kit / "state").mkdir(mode=0o755)


@pytest.mark.parametrize(
    ("harm", "check", "result", "text"),
    [
        (_no_key, "key", "problem", "lotor keys request"),
        (_open_key, "key", "problem", "chmod 600"),
        (_damaged_key, "key", "problem", "private key"),
        (_open_folder, "folder", "problem", "chmod go-w"),
        (_open_config, "folder", "problem", "party.toml"),
        (_other_key, "certificate", "problem", "another key"),
        (_no_list, "revocation list", "warning", "lotor keys install"),
        (_damaged_list, "revocation list", "problem", "revoked.pem"),
        (_revoked, "validity", "problem", "was revoked on"),
        (_bad_toml, "party.toml", "problem", "lisen"),
        (_no_pull, "pull", "problem", "there is no module hospital"),
        (_broken_pull, "pull", "problem", "no database"),
        (_no_owner, "role", "problem", "[owner]"),
        (_alone, "role", "problem", "[peers]"),
        (_own_peer, "role", "problem", "among its own [peers]"),
        (_trial, "trial", "warning", "made-up data"),
        (_state_in_a_file, "state", "problem", "`state` in party.toml"),
        (_open_state, "state", "problem", "chmod 700"),
    ],
)
def test_what_is_wrong_in_a_kit_is_found(
    kits: dict[str, Path], harm: Callable[[Path], None], check: str, result: str, text: str
) -> None:
    harm(kits["lyon"])
    found = only(kits["lyon"], check)
    assert found.result == result
    assert text in f"{found.found}: {found.todo}"


def test_a_kit_without_a_certificate_is_examined_all_the_same(kits: dict[str, Path]) -> None:
    (kits["lyon"] / "certificate.pem").unlink()
    assert "lotor keys install" in only(kits["lyon"], "certificate").todo
    assert about(kits["lyon"], "pull")[0].result == "hint"


def test_an_owner_with_a_model(kits: dict[str, Path]) -> None:
    kit = kits["lyon"]
    changed(kit, owner=OwnerTable(pull="hospital:pull", model="hospital:model"))
    (kit / "hospital.py").write_text(f"{PULL}\n\ndef model():\n    return 1\n")
    assert [one.result for check in ("pull", "model") for one in about(kit, check)] == [
        *("hint", "ok")
    ]
    changed(kit, owner=OwnerTable(model="hospital:absent"))
    assert "has no absent" in only(kit, "model").found
    assert about(kit, "pull") == []


def test_a_customer_without_members(kits: dict[str, Path]) -> None:
    changed(kits["acme"], members={})
    assert "[members]" in only(kits["acme"], "role").found


def test_a_server_with_arms(kits: dict[str, Path]) -> None:
    shutil.copy(kits["lyon"] / "hospital.py", kits["cloud"])
    changed(kits["cloud"], owner=OwnerTable(pull="hospital:pull"))
    assert only(kits["cloud"], "role").result == "warning"


def certified(kit: Path, authority: CertificateAuthority, days: int, begin: datetime) -> None:
    certificate = authority.sign((kit / "request.pem").read_bytes(), days, now=begin)
    (kit / "certificate.pem").write_bytes(certificate.to_pem() + authority.certificate_pem)
    (kit / "revoked.pem").write_bytes(authority.revocations({}))


@pytest.mark.parametrize(
    ("left", "check", "result"),
    [(31, None, None), (29, "validity", "warning"), (-1, "validity", "problem")],
)
def test_dates_of_certificates(
    kits: dict[str, Path], left: int, check: str | None, result: str | None
) -> None:
    authority = CertificateAuthority.create(
        "clinics", 3650, now=datetime.now(UTC) - timedelta(days=365)
    )
    begin = datetime.now(UTC) + timedelta(days=left - 100, hours=1)
    certified(kits["lyon"], authority, 100, begin)
    assert {one.check: one.result for one in wrong(kits["lyon"]).values()} == (
        {} if check is None else {check: result}
    )


def test_an_authority_that_ends_soon(kits: dict[str, Path]) -> None:
    certified(kits["lyon"], CertificateAuthority.create("clinics", 80), 60, datetime.now(UTC))
    assert "new authority" in only(kits["lyon"], "authority").todo


def test_an_old_revocation_list(kits: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lotor.crypto.certificates.Revocations.stale", lambda _: True)
    assert "a newer one should exist" in only(kits["lyon"], "revocation list").found


def test_what_a_module_prints_is_not_data(
    kits: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (kits["lyon"] / "hospital.py").write_text("print('hello')\n" + PULL)
    assert wrong(kits["lyon"]) == {}
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("free", "result"), [(10 << 20, "problem"), (100 << 20, "warning")])
def test_a_full_disk(
    kits: dict[str, Path], monkeypatch: pytest.MonkeyPatch, free: int, result: str
) -> None:
    usage = SimpleNamespace(free=free)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    assert only(kits["lyon"], "disk").result == result


# -- journals --------------------------------------------------------------------------------


@pytest.fixture
def journal(kits: dict[str, Path]) -> Iterator[Journal]:
    made = Journal(kits["lyon"] / "state", str(Kit(kits["lyon"]).subject))
    yield made
    made.close()


def with_run(journal: Journal, state: str, note: str = "") -> str:
    run = "3f2a" * 8
    journal.add(RunRow(run, b"", b"", "lyon", state, note, 1.0, 1.0, VERSION), b"snapshot")
    return run


def test_a_journal_is_read_open_or_closed(kits: dict[str, Path], journal: Journal) -> None:
    with_run(journal, RUNNING)
    assert "runs in it: 1" in about(kits["lyon"], "journal")[0].found
    assert "under way: 1" in about(kits["lyon"], "runs")[0].found
    journal.close()
    assert "runs in it: 1" in about(kits["lyon"], "journal")[0].found
    assert sorted(path.name for path in (kits["lyon"] / "state").iterdir()) == ["journal.db"]


def test_a_journal_that_a_crash_left(kits: dict[str, Path], journal: Journal) -> None:
    with_run(journal, WAITING)
    state = kits["lyon"] / "state"
    shutil.copytree(state, state.with_name("crashed"))
    state.with_name("crashed").chmod(0o700)
    changed(kits["lyon"], state="crashed")
    assert only(kits["lyon"], "runs").result == "warning"


def test_a_damaged_journal(kits: dict[str, Path], journal: Journal) -> None:
    journal.close()
    path = kits["lyon"] / "state" / "journal.db"
    path.write_bytes(b"x" * path.stat().st_size)
    found = wrong(kits["lyon"])
    assert "damaged" in found["journal"].found
    path.write_bytes(b"")
    assert "journal" in wrong(kits["lyon"])


def test_a_journal_of_another_version_or_party(kits: dict[str, Path], journal: Journal) -> None:
    database = journal.database
    database.execute("UPDATE meta SET value = '9' WHERE key = 'journal'")
    assert "journal version 9" in only(kits["lyon"], "journal").found
    database.execute("UPDATE meta SET value = ? WHERE key = 'journal'", (str(JOURNAL_VERSION),))
    database.execute("UPDATE meta SET value = 'owner porto' WHERE key = 'party'")
    assert "of owner porto, not of owner lyon" in only(kits["lyon"], "journal").found


def test_a_run_that_waits_for_approval(kits: dict[str, Path], journal: Journal) -> None:
    run = with_run(journal, WAITING, "acme is not among its customers")
    found = only(kits["lyon"], "runs")
    assert "acme is not among its customers" in found.found
    assert f"lotor runs approve {run} --kit {kits['lyon']}" in found.todo


def test_a_run_in_doubt(kits: dict[str, Path], journal: Journal) -> None:
    run = with_run(journal, RUNNING)
    sql = "INSERT INTO pulls VALUES (?, 1, ?, 0, NULL, NULL, 1)"
    journal.database.execute(sql, (run, f"{run}/0/1"))
    found = only(kits["lyon"], "runs")
    assert found.result == "problem"
    assert f"lotor runs resolve {run} {run}/0/1 --kit" in found.todo
    with served(journal):
        assert wrong(kits["lyon"]) == {}  # it may be under way
        journal.change(run, RUNNING, "waits for controller")
        assert only(kits["lyon"], "runs").result == "warning"
        journal.change(run, RUNNING, f"in doubt: decision {run}/0/1")
        assert only(kits["lyon"], "runs").result == "problem"
    changed(kits["lyon"], owner=OwnerTable(pull="hospital:pull", repeatable=True))
    assert "correct the function" in only(kits["lyon"], "runs").todo
    journal.change(run, RUNNING, "")
    assert wrong(kits["lyon"]) == {}


def test_a_run_without_its_peers(kits: dict[str, Path], journal: Journal) -> None:
    run = with_run(journal, RUNNING, "waits for controller")
    with served(journal):
        found = only(kits["lyon"], "runs")
    assert "waits for controller" in found.found
    assert f"lotor runs stop {run}" in found.todo
    # Whom it missed when it stopped says nothing about now.
    found = only(kits["lyon"], "runs")
    assert "this party is not served" in found.found
    assert f"lotor serve --kit {kits['lyon']}" in found.todo


def test_a_run_that_others_hold_up(kits: dict[str, Path], journal: Journal) -> None:
    run = with_run(journal, RUNNING)
    status = Status(run, "porto", 1.0, "in doubt", "porto waits for its operator", 3)
    journal.keep_status(run, "porto", msgspec.msgpack.encode(status))
    assert "in doubt at porto" in only(kits["lyon"], "runs").found
    status = Status(run, "porto", 2.0, "missing", "", 3, missing={"graz": 1e9})
    journal.keep_status(run, "porto", msgspec.msgpack.encode(status))
    found = only(kits["lyon"], "runs")
    assert found.found == f"run {run} is paused: graz has been missing since {WHEN}"


def test_whom_to_ask_is_a_party_and_not_a_seat(kits: dict[str, Path], journal: Journal) -> None:
    run = with_members(journal, kits)
    status = Status(run, "controller", 1.0, "waiting", "it waits for approval", 3, since=1e9)
    journal.keep_status(run, "controller", msgspec.msgpack.encode(status))
    found = only(kits["lyon"], "runs")
    assert "controller (cloud) has been waiting for approval since 2001-09-09" in found.found
    assert "ask the operator of cloud to " in found.todo


def test_who_is_missing_is_said_once_by_name_and_since_when(
    kits: dict[str, Path], journal: Journal
) -> None:
    run = with_members(journal, kits, note="waits for customer, away since some time")
    for seat in ("lyon", "controller"):
        status = Status(run, seat, 2e9, "missing", "", 3, missing={"customer": 1e9})
        journal.keep_status(run, seat, msgspec.msgpack.encode(status))
    with served(journal):
        found = only(kits["lyon"], "runs")
    assert found.found.endswith("paused: customer (acme) has been missing since " + WHEN)
    assert "ask the operator of acme to start it again; " in found.todo
    assert f"lotor runs stop {run} --kit {kits['lyon']}" in found.todo


def with_members(journal: Journal, kits: dict[str, Path], note: str = "") -> str:
    """A run whose controller and customer have names of their own."""
    run, seats = "3f2a" * 8, {"controller": "cloud", "customer": "acme"}
    members = {seat: Kit(kits[name]).certificate.to_der() for seat, name in seats.items()}
    signed = Announcement(
        *(run, "samba", "paper", "samba/3", VERSION, (), 1.0, members, b"")
    ).to_bytes()
    journal.add(RunRow(run, signed, b"", "lyon", RUNNING, note, 1.0, 1.0, VERSION), b"snapshot")
    return run


def test_an_order_whose_members_are_looked_for(kits: dict[str, Path], journal: Journal) -> None:
    journal.commands.add("3f2a", b"command")
    journal.commands.seek("3f2a", ["nobody", "porto"])
    with served(journal):
        found = only(kits["lyon"], "runs")
        assert "run 3f2a has not begun: looking for nobody, porto since " in found.found
        assert f"lotor runs stop 3f2a --kit {kits['lyon']}" in found.todo
        journal.commands.withdraw("3f2a")
        assert wrong(kits["lyon"]) == {}


def test_commands_that_nobody_carries_out(kits: dict[str, Path], journal: Journal) -> None:
    journal.commands.add("run", b"command")
    assert "lotor serve" in only(kits["lyon"], "runs").todo
    with served(journal):
        assert wrong(kits["lyon"]) == {}


@contextmanager
def served(journal: Journal) -> Iterator[None]:
    assert journal.lock()
    yield
    journal.unlock()


def test_whether_it_is_served(kits: dict[str, Path], journal: Journal) -> None:
    assert about(kits["lyon"], "served")[0].result == "warning"
    with served(journal):
        assert about(kits["lyon"], "served")[0].result == "ok"
    assert about(kits["lyon"], "served")[0].result == "warning"
    assert about(kits["acme"], "served")[0].result == "ok"
    assert journal.lock()  # the doctor has let go


# -- protection ------------------------------------------------------------------------------


def test_whether_it_is_protected(kits: dict[str, Path]) -> None:
    (found,) = about(kits["lyon"], "protection")
    assert found.result == "hint"
    assert f"`lotor keys protect --kit {kits['lyon']}` encrypts them" in found.todo
    protect_with_key_file(kits["lyon"], kits["lyon"].with_suffix(".key"))
    (found,) = about(kits["lyon"], "protection")
    assert "a key file opens them" in found.found
    assert wrong(kits["lyon"]) == {}


def test_a_kit_that_cannot_be_opened_is_one_problem_and_not_many(kits: dict[str, Path]) -> None:
    protect_with_key_file(kits["lyon"], kits["lyon"].with_suffix(".key"))
    kits["lyon"].with_suffix(".key").write_bytes(bytes(32))
    found = only(kits["lyon"], "protection")
    assert "does not open" in found.found
    assert peer(kits) == []


def test_swapped_files_of_protected_kits(kits: dict[str, Path]) -> None:
    for name in ("cloud", "lyon"):
        protect_with_key_file(kits[name], kits[name].with_suffix(".key"))
    shutil.copy(kits["lyon"] / "key.pem", kits["lyon"].with_suffix(".pem"))
    shutil.copy(kits["cloud"] / "key.pem", kits["lyon"])
    assert "does not open with the key in" in only(kits["lyon"], "key").found
    shutil.copy(kits["lyon"].with_suffix(".pem"), kits["lyon"] / "key.pem")
    shutil.copy(kits["cloud"] / "protection.json", kits["lyon"])
    assert "is that of controller cloud" in wrong(kits["lyon"])["certificate"].found


# -- connections -----------------------------------------------------------------------------


def hello(version: str = VERSION, wire: int = WIRE_VERSION) -> Hello:
    return Hello(wire, JOURNAL_VERSION, version, time.time())


@contextmanager
def answering(
    kit: Path,
    address: Address | None,
    says: Callable[[], Hello] = hello,
    dial: dict[str, Address] | None = None,
) -> Iterator[NetworkTransport]:
    """A party's network in a thread of its own."""
    owner = Kit(kit)
    changes: list[str] = []
    transport = NetworkTransport(
        me=owner.subject,
        tls=Tls(owner.certificate_path, owner.key_path, owner.fresh_trust, password=owner.password),
        listen=address,
        dial=dial or {},
        hello=says,
        admit=lambda *_: None,
        changed=changes.append,
        limits=Limits(handshake=30.0),
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(transport.start(), loop).result(90)
        yield transport
    finally:
        asyncio.run_coroutine_threadsafe(transport.close(), loop).result(90)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def listening(kits: dict[str, Path]) -> Address:
    address = read_config(kits["cloud"] / "party.toml").listen
    assert address is not None
    return address


def peer(kits: dict[str, Path]) -> list[DoctorFinding]:
    return about(kits["lyon"], "peer cloud")


@pytest.mark.parametrize("protected", [False, True])
def test_a_peer_that_answers(kits: dict[str, Path], protected: bool) -> None:
    if protected:
        for name in ("cloud", "lyon"):
            protect_with_key_file(kits[name], kits[name].with_suffix(".key"))
    with answering(kits["cloud"], listening(kits)):
        assert [one.result for one in peer(kits)] == ["ok", "ok", "ok"]


@pytest.mark.parametrize(
    ("ahead", "result"),
    [(3, "ok"), (20, "warning"), (-20, "warning"), (90, "problem"), (-90, "problem")],
)
def test_clocks(
    kits: dict[str, Path], monkeypatch: pytest.MonkeyPatch, ahead: float, result: str
) -> None:
    # What passes between two looks at a clock would be taken for a difference, on a busy machine.
    now = time.time()
    monkeypatch.setattr(network_checks, "time", SimpleNamespace(time=lambda: now))
    said = msgspec.structs.replace(hello(), clock=now + ahead)
    with answering(kits["cloud"], listening(kits), lambda: said):
        *_, clock = peer(kits)
    assert clock.result == result
    assert ("behind" in clock.found) == (ahead < 0)


def test_versions(kits: dict[str, Path]) -> None:
    with answering(kits["cloud"], listening(kits), lambda: hello(version="9.9\n9")):
        _, version, _ = peer(kits)
    assert version.result == "warning"
    assert "lotor 9.9 9" in version.found
    with answering(kits["cloud"], listening(kits), lambda: hello(wire=9)):
        (found,) = peer(kits)
    assert found.result == "problem"
    assert "wire version 9" in found.found


def test_a_peer_that_is_not_there(kits: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    without_host("nowhere.invalid", monkeypatch)
    (found,) = peer(kits)
    assert found.result == "problem"
    assert "nobody listens" in found.found
    assert "lotor serve" in found.todo
    changed(kits["lyon"], peers={"cloud": Address("nowhere.invalid", 1)})
    (found,) = peer(kits)
    assert "cannot be resolved" in found.found


def test_a_peer_that_is_somebody_else(kits: dict[str, Path]) -> None:
    with answering(kits["acme"], listening(kits)):
        (found,) = peer(kits)
    assert found.result == "problem"
    assert "customer acme answers" in found.found


def test_a_peer_of_another_federation(kits: dict[str, Path], tmp_path: Path) -> None:
    others = make_kits(tmp_path / "others", {"cloud": "controller"})
    with answering(others["cloud"], listening(kits)):
        (found,) = peer(kits)
    assert found.result == "problem"
    assert "authority" in f"{found.found}: {found.todo}"


def test_a_running_party_is_not_disturbed(kits: dict[str, Path]) -> None:
    """Its connection stays, and the other side notices nothing."""
    address = listening(kits)
    with (
        answering(kits["cloud"], address) as cloud,
        answering(kits["lyon"], None, dial={"cloud": address}) as lyon,
    ):
        while not (cloud.connected("lyon") and lyon.connected("cloud")):
            time.sleep(0.01)
        assert [one.result for one in peer(kits)] == ["ok", "ok", "ok"]
        assert cloud.connected("lyon")
        assert lyon.connected("cloud")
        assert (cloud.sessions("lyon"), lyon.sessions("cloud")) == (1, 1)


def test_a_port_that_is_taken(kits: dict[str, Path]) -> None:
    assert about(kits["cloud"], "port")[0].result == "ok"
    with socket.create_server(listening(kits)):
        found = only(kits["cloud"], "port")
    assert found.result == "problem"
    assert "cannot listen" in found.found


def test_a_served_party_answers_itself(
    kits: dict[str, Path], caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(kits["cloud"] / "state", str(Kit(kits["cloud"]).subject))
    with served(journal):
        assert "nobody listens" in only(kits["cloud"], "port").found
        with answering(kits["cloud"], listening(kits)):
            assert wrong(kits["cloud"]) == {}
        with answering(kits["acme"], listening(kits)):
            assert "customer acme answers" in only(kits["cloud"], "port").found
    journal.close()
    assert caplog.records == []


def test_who_listens_everywhere_is_asked_here(kits: dict[str, Path]) -> None:
    port = listening(kits).port
    changed(kits["cloud"], listen=Address(EVERYWHERE, port))
    assert about(kits["cloud"], "port")[0].result == "ok"
    journal = Journal(kits["cloud"] / "state", str(Kit(kits["cloud"]).subject))
    with served(journal), answering(kits["cloud"], Address(EVERYWHERE, port)):
        assert about(kits["cloud"], "port")[0].found.endswith(f"127.0.0.1:{port}")
    journal.close()


def test_a_port_that_nobody_can_know(kits: dict[str, Path]) -> None:
    changed(kits["cloud"], listen=Address("127.0.0.1", 0))
    assert only(kits["cloud"], "port").result == "warning"


# -- the report itself -------------------------------------------------------------------------


def test_a_check_that_breaks_stops_no_other(
    kits: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> Iterator[DoctorFinding]:
        raise sqlite3.OperationalError("disk I/O error")

    whole = [one.check for one in examined(kits["lyon"])]
    for module, name in (("kit_checks", "check_key"), ("journal_checks", "check_state")):
        monkeypatch.setattr(f"lotor.runtime.daemon.doctor.{module}.{name}", broken)
    found = examined(kits["lyon"])
    assert [one.check for one in found] == [check for check in whole if check != "disk"]
    assert {one.check for one in found if "disk I/O error" in one.found} == {"key", "state"}


def test_errors_are_split_into_what_and_what_to_do() -> None:
    assert refused("x", ConfigError("a b: c")) == DoctorFinding("x", "problem", "a b", "c")
    assert refused("x", ConfigError("/a/b: c d: e")) == DoctorFinding(
        "x", "problem", "/a/b: c d", "e"
    )
    assert refused("x", ConfigError("/a/b: c")).found == "/a/b: c"
    (found,) = guarded("x", lambda: [DoctorFinding("x", "ok", str(1 / 0))])
    assert "ZeroDivisionError" in found.found


@pytest.mark.skipif(os.getuid() == 0, reason="the superuser may write everywhere")
def test_a_state_folder_that_cannot_be_written(kits: dict[str, Path]) -> None:
    state = kits["lyon"] / "state"
    state.mkdir(mode=0o500)
    assert only(kits["lyon"], "state").result == "problem"
