import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import lotor
from commands import lotor as lotor_command
from lotor.cli.demo_run import DemoOutcome, DemoRun
from lotor.cli.demo_view import DemoView, Scene
from lotor.cli.main import app
from lotor.protocols.protocol import PROTOCOLS
from lotor.protocols.samba.cast import HOSPITALS, hospitals
from lotor.sandbox import Federation
from lotor.sandbox.watch import AWAY, CONNECTED

LOTOR = [sys.executable, "-c", "from lotor.cli import main; main()"]
KILLS = 5
PARTIES = {"controller", "comp", "customer", "lyon", "porto"}


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder), "TERM": "xterm", "COLUMNS": "100"}


def processes(folder: Path) -> dict[int, str]:
    """The processes that were started with a path in this folder."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in command:
            found[int(path.parent.name)] = command
    return found


@contextmanager
def demo(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(  # noqa: S603
        [*LOTOR, "demo", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(folder),
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def until(process: subprocess.Popen[str], *words: str) -> None:
    """Read what the demo says until it says one of these."""
    assert process.stderr is not None
    for line in process.stderr:
        if any(word in line for word in words):
            return
    raise AssertionError(f"the demo never said {' or '.join(words)}")


@pytest.mark.parametrize(
    ("protocol", "form"), [(name, form) for name, kind in PROTOCOLS.items() for form in kind.forms]
)
def test_every_form_has_a_demo_whose_parties_fill_all_seats(protocol: str, form: str) -> None:
    chosen = PROTOCOLS[protocol].configured(None, {"form": form})
    form_chosen = chosen.in_form()
    cast = form_chosen.cast(chosen, 10, 7, None)
    roles = [member.role for member in cast.members.values()]
    assert set(roles) == {role.name for role in form_chosen.roles}
    for role in form_chosen.roles:
        assert not role.seats or roles.count(role.name) == len(role.seats)
    assert set(cast.pullers) <= set(cast.members)


@pytest.mark.slow
def test_json_is_one_object_and_the_folder_is_kept_on_request(tmp_path: Path) -> None:
    options = ("--hospitals", "2", "--budget", "30", "--policy", "epsilon-greedy", "--seed", "3")
    with demo(tmp_path, *options, "--json", "--keep") as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    report = json.loads(out)
    assert report["reward"] == report["plain_reward"]
    assert report["same_arms"] is True
    assert report["rounds_per_second"] > 0
    assert report["kills"] == 0
    assert set(report["parties"]) == PARTIES
    for party in report["parties"].values():
        assert party["starts"] == 1
        assert min(party["cpu_seconds"], party["messages_sent"], party["bytes_sent"]) > 0
    (folder,) = tmp_path.iterdir()
    assert str(folder) in err
    assert (folder / "lyon" / "patients.db").exists()
    assert processes(tmp_path) == {}


@pytest.mark.slow
def test_kills_change_nothing_and_a_terminal_shows_them(tmp_path: Path) -> None:
    # Kills are drawn, and a busy machine may end a run before the last of them.
    assert any(killed(tmp_path) >= KILLS for _ in range(5))


def killed(folder: Path) -> int:
    """A demo with kills, on a terminal; how many there were."""
    terminal, stderr = os.openpty()
    with subprocess.Popen(  # noqa: S603
        [*LOTOR, "demo", "--kill", "--budget", "120", "--hospitals", "2"],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=environment(folder),
    ) as process:
        os.close(stderr)
        shown = _all_of(terminal)
        out = process.communicate()[0].decode()
    assert process.returncode == 0, shown
    assert "equal, and the same arm in every round" in out
    for text in ("starts", "measured", "nothing of any score", "docs/federation.md", "lotor keys"):
        assert text in out
    kills = int(out.split(" times a party was killed")[0].split()[-1])
    # Somebody may come back before the next picture: `away` is in a picture of its own below. Of a
    # few kills near the end there may be none.
    for text in ("round", "rounds/s", "connected", *(["killed"] if kills >= KILLS else [])):
        assert text in shown
    assert list(folder.iterdir()) == []
    assert processes(folder) == {}
    return kills


def test_a_picture_shows_who_is_away_and_how_often_it_was_killed() -> None:
    scene = Scene("running", {"lyon": AWAY, "porto": CONNECTED}, 5, 2.0, ["lyon", "lyon"])
    console = Console(file=StringIO(), width=100, record=True)
    console.print(DemoView(60)._picture(scene))
    rows = {line.split()[0]: line.split()[1:] for line in console.export_text().splitlines()[2:]}
    assert rows == {"lyon": ["away", "killed", "2x"], "porto": ["connected"]}


def _all_of(terminal: int) -> str:
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    finally:
        os.close(terminal)
    return shown.decode(errors="replace")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with demo(tmp_path, "--budget", "5000", "--hospitals", "2") as process:
        # A demo that had to wait for its turn may find the run begun at its first look.
        until(process, "running", *(["starting"] if number == signal.SIGTERM else []))
        assert processes(tmp_path)
        process.send_signal(number)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "lotor: interrupted; all processes were ended"
    assert list(tmp_path.iterdir()) == []
    assert processes(tmp_path) == {}


@pytest.mark.slow
def test_a_party_that_dies_by_itself_is_reported_with_its_log(tmp_path: Path) -> None:
    with demo(tmp_path, "--budget", "5000", "--hospitals", "2") as process:
        until(process, "running")
        pids = [pid for pid, command in processes(tmp_path).items() if "/porto " in command]
        os.kill(pids[0], signal.SIGKILL)
        out, err = process.communicate()
    assert (process.returncode, out) == (3, "")
    assert "porto ended by itself with exit code -9" in err
    assert "controller is" in err.split("porto ended", 1)[1]
    assert list(tmp_path.iterdir()) == []
    assert processes(tmp_path) == {}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--budget", "2"], "budget of 2"),
        (["--policy", "nope"], "no policy is called 'nope'"),
        (["--policy", "reinforcement-comparison"], "arm score locality"),
        (["--protocol", "nope"], "no protocol is called 'nope': choose one of helba"),
        (["--hospitals", "21"], "20"),
        (["--seed", "-1"], "--seed"),
    ],
)
def test_unusable_input_starts_nothing(
    tmp_path: Path, arguments: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Federation, "launch", lambda *_: pytest.fail("a process is started"))
    done = lotor_command("demo", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wrong", "code"), [({}, 0), ({"reward": 1.0}, 1), ({"arms": None}, 1), ({"reward": None}, 1)]
)
@pytest.mark.parametrize("style", [[], ["--json"]])
def test_a_difference_from_plain_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, object], code: int, style: list[str]
) -> None:
    three = hospitals(dict(list(HOSPITALS.items())[:3]), budget=300, seed=7, policy="ucb")
    plain = lotor.run(lotor.Samba().plain(), three.environment, budget=300, seed=7)
    right = DemoOutcome("run", plain.reward, plain.arms, seconds=1.0, kills=0, parties={})

    def pretend(self: DemoRun, *, kill: bool) -> DemoOutcome:
        return replace(right, **wrong)  # type: ignore[arg-type]

    monkeypatch.setattr(DemoRun, "run", pretend)
    done = CliRunner().invoke(app, ["demo", *style])
    assert done.exit_code == code
    assert style or ("equal" in done.stdout) is (code == 0)


def test_hospitals_have_one_best_treatment() -> None:
    assert sum(mean == max(HOSPITALS.values()) for mean in HOSPITALS.values()) == 1
    assert all(0 < mean < 1 for mean in HOSPITALS.values())
    assert max(HOSPITALS, key=lambda name: HOSPITALS[name]) in list(HOSPITALS)[:3]
