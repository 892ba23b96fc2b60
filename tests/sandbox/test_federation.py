import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from lotor.core.effects import Decision
from lotor.protocols.samba.cast import hospitals
from lotor.protocols.samba.shared.form import SambaShared
from lotor.runtime.durable import journal
from lotor.runtime.durable.journal import Journal, RunRow
from lotor.sandbox.federation import PORTS, Federation, free_port
from lotor.sandbox.journals import Journals
from lotor.sandbox.watch import AWAY, CONNECTED, FINISHED, STARTING, Watch

MEANS = {"lyon": 0.2, "porto": 0.8}
LOG = '{"message": "first"}\nno JSON\n{"message": "last"}\n'


def made(folder: Path, kind: type[Federation]) -> Federation:
    cast = hospitals(MEANS, budget=5, seed=3, policy="ucb")
    federation = kind(folder, SambaShared(), cast, 3)
    federation.prepare()
    return federation


@pytest.fixture
def federation(tmp_path: Path) -> Iterator[Federation]:
    federation = made(tmp_path, Federation)
    with closing(federation):
        yield federation


class Stubborn(Federation):
    """Its processes say that they are there, and do not heed SIGTERM."""

    def command(self, *arguments: str) -> list[str]:
        return ["sh", "-c", "trap '' TERM; echo there; while true; do sleep 0.05; done"]


def test_closing_ends_even_what_does_not_heed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lotor.sandbox.federation.PATIENCE", 0.2)
    federation = made(tmp_path, Stubborn)
    federation.serve("lyon")
    while "there" not in federation.out_file("lyon").read_text():
        time.sleep(0.01)
    federation.close()
    assert not federation.running("lyon")
    assert federation.exit_code("lyon") == -signal.SIGKILL
    assert federation.spent["lyon"].starts == 1


def test_ports_are_none_that_outgoing_connections_use() -> None:
    assert all(free_port() in PORTS for _ in range(20))


def _write(federation: Federation, name: str, state: str, decisions: list[Decision | None]) -> None:
    kept = Journal(federation.kits[name] / "state", name)
    with closing(kept):
        row = RunRow("run", b"", b"", name, state, "", 1.0, 2.0, "0")
        kept.add(row, b"snapshot")
        record = kept.record("run")
        for number, decision in enumerate(decisions, 1):
            record.intend(number, decision)
            record.answer(number, 1.0 if decision else None)


def test_journals_tell_round_and_arms(federation: Federation) -> None:
    journals = Journals(federation)
    assert journals.run() is None
    assert journals.standing("lyon", "run") is None
    assert journals.round("run") == 0
    first, third = Decision.named("run", 1, 0), Decision.named("run", 3, 0)
    _write(federation, "lyon", journal.RUNNING, [first, None, third])
    _write(federation, "porto", journal.FINISHED, [Decision.named("run", 2, 1), None])
    assert journals.round("run") == 3
    assert journals.arms("run") == {1: [0], 2: [1], 3: [0]}
    assert journals.trajectory("run", 3) == [0, 1, 0]
    assert journals.trajectory("run", 4) is None
    standing = journals.standing("porto", "run")
    assert standing is not None
    assert standing.finished
    assert not journals.finished("run")


def test_two_arms_in_one_round_are_no_trajectory(federation: Federation) -> None:
    _write(federation, "lyon", journal.RUNNING, [Decision.named("run", 1, 0)])
    _write(federation, "porto", journal.RUNNING, [Decision.named("run", 1, 1)])
    assert Journals(federation).trajectory("run", 1) is None


class Idle(Federation):
    """Its processes do nothing."""

    def command(self, *arguments: str) -> list[str]:
        return ["sh", "-c", "exec sleep 1000"]


def test_a_watch_knows_who_is_there(tmp_path: Path) -> None:
    federation = made(tmp_path, Idle)
    watch = Watch(federation)
    with closing(federation):
        federation.serve("lyon", "porto")
        assert watch.states(None)["comp"] == AWAY
        assert watch.states(None)["lyon"] == STARTING
        _log(federation, "lyon", "connected")
        assert watch.states(None)["lyon"] == CONNECTED
        with federation.log_file("lyon").open("ab") as log:
            log.write(b'{"event": "go')
        assert watch.states(None)["lyon"] == CONNECTED
        federation.kill("lyon")
        assert watch.states(None)["lyon"] == AWAY
        federation.serve("lyon")
        assert watch.states(None)["lyon"] == STARTING
        _write(federation, "porto", journal.FINISHED, [])
        assert watch.states("run")["porto"] == FINISHED


def _log(federation: Federation, name: str, event: str) -> None:
    with federation.log_file(name).open("ab") as log:
        log.write(msgspec.json.encode({"event": event, "peer": "controller"}) + b"\n")


def test_last_words_are_messages(tmp_path: Path) -> None:
    federation = made(tmp_path, Idle)
    with closing(federation):
        process: subprocess.Popen[bytes] = federation.launch("comp", "serve")
        federation.log_file("comp").write_text(LOG)
        assert federation.last_words("comp", 2) == ["no JSON", "last"]
        process.send_signal(signal.SIGTERM)
        while federation.running("comp"):
            time.sleep(0.01)
    assert "exit code -15; its log ends with\n  first" in str(federation.complaint("comp"))
