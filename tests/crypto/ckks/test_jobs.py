"""Work in processes gives what the caller would compute, and leaves no process behind."""

import os
import threading
from pathlib import Path

import pytest

from crypto.ckks.jobs_for_tests import Echo, Squarer
from crypto.ckks.small import noise, small
from lotor.core.errors import CryptoError, InputError, IntegrityError, LevelsExhaustedError
from lotor.crypto.ckks import Ciphertext, Jobs

pytestmark = pytest.mark.usefixtures("_importable")


@pytest.fixture
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def test_ciphertexts_go_out_and_come_back() -> None:
    kit = small(2)
    setup = bytes.fromhex(kit.secret.fingerprint) + kit.secret.evaluation_keys()
    requests = [kit.secret.encrypt_to_bytes([float(n)]) for n in range(1, 4)]
    heard: list[int] = []
    with Jobs(Squarer, setup, count=2, requests_each=2) as jobs:
        answers = jobs.run(requests, heard.append)
        assert jobs.cpu_seconds > 0
    assert heard == [1, 2, 3]
    for number, answer in enumerate(answers, start=1):
        square = Ciphertext.from_bytes(answer, kit.parameters, kit.secret.fingerprint)
        bound = (2 * number + 1) * noise(kit.parameters)
        assert abs(kit.secret.decrypt(square)[0] - number**2) < bound


def test_a_process_ends_after_so_many_requests() -> None:
    with Jobs(Echo, b"", count=1, requests_each=2) as jobs:
        answers = jobs.run([b"a", b"b", b"c"]) + jobs.run([b"d"])
    processes = [int(answer.split()[0]) for answer in answers]
    assert [answer.split()[1] for answer in answers] == [b"a", b"b", b"c", b"d"]
    assert processes[0] == processes[1] != processes[2] == processes[3]
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_errors_come_over_without_secrets() -> None:
    cases = [
        (b"levels", LevelsExhaustedError, "none left"),
        (b"fault", CryptoError, "ZeroDivisionError"),
        (b"end", CryptoError, "has ended"),
    ]
    with Jobs(Echo, b"", count=1, requests_each=9) as jobs:
        (before,) = jobs.run([b"a"])
        for request, kind, text in cases:
            with pytest.raises(kind, match=text) as failure:
                jobs.run([request, b"a"])
            assert "42" not in str(failure.value)
            # One that answered, if only with an error, goes on.
            (after,) = jobs.run([b"a"])
            assert (after == before) == (request != b"end")


def test_a_failure_of_the_listener_is_not_lost() -> None:
    def listener(_: int) -> None:
        raise RuntimeError("the window is closed")

    with Jobs(Echo, b"", count=1) as jobs, pytest.raises(RuntimeError, match="window"):
        jobs.run([b"a"], listener)


def test_an_interrupt_ends_what_is_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        raise KeyboardInterrupt

    with Jobs(Echo, b"", count=1) as jobs:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "join", interrupted)
            with pytest.raises(KeyboardInterrupt):
                jobs.run([b"wait"])
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and "serve" in thread.name:
                thread.join()
        assert not jobs._idle


def test_a_setup_that_fails_says_why() -> None:
    with Jobs(Echo, b"unusable", count=2) as jobs, pytest.raises(IntegrityError, match="unusable"):
        jobs.run([b"a"])


def test_nothing_to_do_and_impossible_numbers() -> None:
    with Jobs(Echo, b"", count=2) as jobs:
        assert jobs.run([]) == []
    for count, each in ((0, 1), (1, 0)):
        with pytest.raises(InputError):
            Jobs(Echo, b"", count, each)
