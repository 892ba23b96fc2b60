"""Each process answers its own requests, errors come over, and no process is left behind."""

import gc
import os
import signal
from pathlib import Path

import pytest

from crypto.workers.jobs_for_tests import Adder
from lotor.core.errors import CryptoError, IntegrityError, LevelsExhaustedError
from lotor.crypto.workers import WorkerProcesses


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def nothing() -> None:
    pass


def pids(processes: WorkerProcesses, count: int) -> list[int]:
    _, answers = processes.ask([b"process"] * count, nothing)
    return [int(answer) for answer in answers]


def gone(*processes: int) -> bool:
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    return True


def test_each_answers_its_own_requests_while_the_caller_computes() -> None:
    with WorkerProcesses(Adder, [b"10", b"20"]) as processes:
        assert processes.ask([b"1", b"2"], lambda: 42) == (42, [b"11" * 2, b"22" * 3])
        assert processes.ask([b"3", b"0"], nothing) == (None, [b"13" * 4, b"20"])
        first = pids(processes, 2)
        assert pids(processes, 2) == first
        assert len({*first, os.getpid()}) == 3
        assert all(seconds > 0 for seconds in processes.cpu_by_process)
        assert processes.cpu_seconds == sum(processes.cpu_by_process)
    assert gone(*first)


def test_requests_and_answers_beyond_what_a_pipe_holds() -> None:
    with WorkerProcesses(Adder, [b"20"]) as processes:
        long = b" " * 200_000 + b"90000"
        assert processes.ask([long], nothing)[1] == [b"90020" * 90_001]


def test_a_stray_print_is_not_an_answer() -> None:
    with WorkerProcesses(Adder, [b"20"]) as processes:
        assert processes.ask([b"print"], nothing)[1] == [b"20"]


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no command lines to read here")
def test_a_setup_is_not_on_the_command_line() -> None:
    with WorkerProcesses(Adder, [b"123456789"]) as processes:
        command = Path(f"/proc/{pids(processes, 1)[0]}/cmdline").read_bytes()
    assert Adder.__name__.encode() in command
    assert b"123456789" not in command


def test_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(CryptoError, match="cannot be started"):
        WorkerProcesses(Adder, [b"1"])


def test_no_processes_at_all() -> None:
    with WorkerProcesses(Adder, []) as processes:
        assert processes.ask([], lambda: 42) == (42, [])
        assert processes.cpu_seconds == 0


@pytest.mark.parametrize(
    ("request_", "kind", "text"),
    [
        (b"refuse", LevelsExhaustedError, "none left"),
        (b"fault", CryptoError, "failed with a ZeroDivisionError"),
        (b"end", CryptoError, r"has ended \(with status 3\)"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_one_that_fails_ends_all(
    request_: bytes, kind: type[CryptoError], text: str, place: int
) -> None:
    processes = WorkerProcesses(Adder, [b"1", b"2"])
    running = pids(processes, 2)
    requests = [b"0", b"0"]
    requests[place] = request_
    with pytest.raises(kind, match=text) as failure:
        processes.ask(requests, nothing)
    assert "42" not in str(failure.value)
    assert gone(*running)
    with pytest.raises(CryptoError, match="start again"):
        processes.ask([b"1", b"2"], nothing)


def test_one_that_is_killed_is_named() -> None:
    processes = WorkerProcesses(Adder, [b"1", b"2"])
    os.kill(pids(processes, 2)[1], signal.SIGKILL)
    with pytest.raises(CryptoError, match=r"has ended \(killed by signal 9\)"):
        processes.ask([b"1", b"2"], nothing)


def test_a_caller_that_fails_ends_all() -> None:
    processes = WorkerProcesses(Adder, [b"1"])
    running = pids(processes, 1)
    with pytest.raises(ZeroDivisionError):
        processes.ask([b"wait"], lambda: 1 / 0)
    assert gone(*running)
    with pytest.raises(CryptoError, match="start again"):
        processes.ask([b"1"], nothing)


def test_a_setup_that_is_refused_is_known_before_the_first_request() -> None:
    with pytest.raises(IntegrityError, match="this setup is unusable"):
        WorkerProcesses(Adder, [b"1", b"unusable"]).wait()
    with pytest.raises(IntegrityError, match="this setup is unusable"):
        WorkerProcesses(Adder, [b"unusable", b"1"]).ask([b"0", b"0"], nothing)


def test_what_is_closed_stays_closed() -> None:
    processes = WorkerProcesses(Adder, [b"1"])
    running = pids(processes, 1)
    processes.close()
    processes.close()
    assert gone(*running)
    with pytest.raises(CryptoError, match="start again"):
        processes.ask([b"1"], nothing)


def test_what_nobody_holds_is_ended() -> None:
    processes = WorkerProcesses(Adder, [b"1"])
    running = pids(processes, 1)
    del processes
    gc.collect()
    assert gone(*running)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_cannot_use_its_parents_processes() -> None:
    processes = WorkerProcesses(Adder, [])
    child = os.fork()
    if child == 0:
        try:
            processes.ask([], nothing)
        except CryptoError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
