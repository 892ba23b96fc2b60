"""Processes with places of their own: each answers for itself, and none is left behind."""

import os
from pathlib import Path

import pytest

from crypto.ckks.crew_for_tests import Echo
from lotor.core.errors import CryptoError, InputError, IntegrityError, LevelsExhaustedError
from lotor.crypto.ckks.crew import Crew


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def processes(answers: list[bytes]) -> list[int]:
    return [int(answer.split()[0]) for answer in answers]


def test_each_answers_its_own_requests_while_the_caller_computes() -> None:
    with Crew(Echo, b"", count=2) as crew:
        own, first = crew.ask([b"a", b"b"], lambda: 42)
        _, second = crew.ask([b"c", b"d"], lambda: None)
        assert own == 42
        assert [answer.split()[1] for answer in first + second] == [b"a", b"b", b"c", b"d"]
        assert processes(first) == processes(second)
        assert len({*processes(first), os.getpid()}) == 3
        assert all(seconds > 0 for seconds in crew.cpu_seconds)
    for process in processes(first):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.parametrize(
    ("request_", "kind", "text"),
    [
        (b"levels", LevelsExhaustedError, "none left"),
        (b"fault", CryptoError, "ZeroDivisionError"),
        (b"end", CryptoError, "has ended"),
    ],
)
def test_one_that_fails_ends_all(request_: bytes, kind: type[CryptoError], text: str) -> None:
    crew = Crew(Echo, b"", count=2)
    _, answers = crew.ask([b"a", b"b"], lambda: None)
    with pytest.raises(kind, match=text) as failure:
        crew.ask([b"a", request_], lambda: None)
    assert "42" not in str(failure.value)
    with pytest.raises(CryptoError, match="start again"):
        crew.ask([b"a", b"b"], lambda: None)
    for process in processes(answers):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_caller_that_fails_ends_all() -> None:
    crew = Crew(Echo, b"", count=1)
    with pytest.raises(ZeroDivisionError):
        crew.ask([b"wait"], lambda: 1 / 0)
    with pytest.raises(CryptoError, match="start again"):
        crew.ask([b"a"], lambda: None)


def test_a_crew_that_cannot_be() -> None:
    with pytest.raises(InputError, match="at least one"):
        Crew(Echo, b"", count=0)
    with pytest.raises(IntegrityError, match="unusable"):
        Crew(Echo, b"unusable", count=2)
