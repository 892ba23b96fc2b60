"""Workers give what one would give and count what they used."""

import threading
from pathlib import Path

import pytest

from crypto.workers.jobs_for_tests import Adder
from lotor.core.errors import CryptoError, InputError, IntegrityError
from lotor.crypto.workers import Workers


def test_results_keep_their_order_and_errors_come_over() -> None:
    def square(number: int) -> int:
        if number == 13:
            raise IntegrityError("thirteen")
        return number * number

    for count in (1, 2, 5):
        with Workers(count) as workers:
            assert workers.map(square, range(11)) == [number**2 for number in range(11)]
            with pytest.raises(IntegrityError, match="thirteen"):
                workers.map(square, range(20))


def test_one_worker_is_the_calling_thread() -> None:
    with Workers(1) as workers:
        before = set(threading.enumerate())
        here = threading.get_ident()
        assert workers.map(lambda _: threading.get_ident(), [0, 1]) == [here, here]
        assert workers.start(Adder, []).ask([], threading.get_ident) == (here, [])
        assert set(threading.enumerate()) <= before
        assert workers.cpu_seconds == 0


def test_processes_are_counted_and_closed_with_their_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with Workers(3) as workers:
        processes = workers.start(Adder, [b"20", b"30"])
        assert processes.ask([b"2", b"3"], lambda: 1) == (1, [b"22" * 3, b"33" * 4])
        assert workers.cpu_seconds == processes.cpu_seconds > 0
    with pytest.raises(CryptoError, match="start again"):
        processes.ask([b"1", b"2"], lambda: 1)


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_impossible_numbers_of_workers_are_refused(count: int) -> None:
    with pytest.raises(InputError, match="at least one worker"):
        Workers(count)


def test_as_many_workers_as_cores_unless_told() -> None:
    assert Workers().count >= 1
    with pytest.raises(InputError, match="too many for 1 workers"):
        Workers(1).start(Adder, [b"1"])
