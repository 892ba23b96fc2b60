import os
import signal
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from math import inf, nan
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import DataError, InputError
from lotor.environments import Outcomes

TABLE = "CREATE TABLE outcomes (number INTEGER PRIMARY KEY, reward REAL NOT NULL, decision TEXT)"


def decision(t: int) -> Decision:
    return Decision.named("run", t, 0)


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@given(
    rewards=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8),
    rounds=st.lists(st.integers(1, 8), max_size=16),
)
@settings(max_examples=30)
def test_each_decision_keeps_the_next_outcome_for_ever(
    rewards: list[float], rounds: list[int]
) -> None:
    expected: dict[int, float] = {}
    with TemporaryDirectory() as folder:
        path = Path(folder, "outcomes.db")
        Outcomes.create(path, rewards)
        for t in rounds:
            pull = Outcomes(path)  # as after a restart
            if t not in expected and len(expected) == len(rewards):
                with pytest.raises(DataError, match=f"each of its {len(rewards)} outcomes"):
                    pull(decision(t))
                continue
            if t not in expected:
                expected[t] = rewards[len(expected)]
            assert pull(decision(t)) == expected[t]
        assert Outcomes(path).asked() == [(decision(t).id, r) for t, r in expected.items()]


def test_threads_never_share_an_outcome(tmp_path: Path) -> None:
    pull = Outcomes.create(tmp_path / "outcomes.db", range(40))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda i: pull(decision(i % 40)), range(80)))
    assert answers[:40] == answers[40:]
    assert sorted(answers[:40]) == list(range(40))


def test_a_killed_process_loses_and_doubles_nothing(tmp_path: Path) -> None:
    pull = Outcomes.create(tmp_path / "outcomes.db", range(10_000))
    program = (
        "import sys; from itertools import count\n"
        "from lotor.core.effects import Decision; from lotor.environments import Outcomes\n"
        "pull = Outcomes(sys.argv[1])\n"
        "for t in count(int(sys.argv[2])): print(pull(Decision.named('run', t, 0)), flush=True)\n"
    )
    told: list[float] = []
    for _ in range(3):
        with subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", program, str(pull.path), str(len(told))], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            told += [float(process.stdout.readline()) for _ in range(20)]
            os.kill(process.pid, signal.SIGKILL)
            told += [float(line) for line in process.stdout if line.endswith(b"\n")]
    assert told == list(range(len(told)))
    assert [reward for _, reward in pull.asked()][: len(told)] == told


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    pull = Outcomes.create(tmp_path / "outcomes.db", [1])
    assert stat.S_IMODE(pull.path.stat().st_mode) == 0o600


def test_nothing_is_overwritten_and_another_table_may_join(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.db"
    first = Outcomes.create(path, [1])
    with pytest.raises(DataError, match="already exists"):
        Outcomes.create(path, [2])
    second = Outcomes.create(path, [3], table="order")
    assert (first(decision(1)), second(decision(1))) == (1, 3)


@pytest.mark.parametrize("rewards", [[], [nan], [1, inf], ["1"], [None], [10**400]])
def test_rewards_that_are_none_leave_no_file(tmp_path: Path, rewards: list[float]) -> None:
    with pytest.raises(InputError, match=r"no rewards|reward \d is not a finite number"):
        Outcomes.create(tmp_path / "outcomes.db", rewards)
    assert not list(tmp_path.iterdir())


def test_a_table_that_cannot_be_made_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="reserved"):
        Outcomes.create(tmp_path / "outcomes.db", [1], table="sqlite_outcomes")
    assert not list(tmp_path.iterdir())
    with pytest.raises(DataError, match="cannot make"):
        Outcomes.create(tmp_path / "nowhere" / "outcomes.db", [1])


@pytest.mark.parametrize("table", ["", "a b", 'x"', "1a", "a;b", "é", "a" * 64, "{}"])
def test_a_table_is_an_identifier(table: str) -> None:
    with pytest.raises(InputError, match="cannot be a table's name"):
        Outcomes("outcomes.db", table)


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot use table outcomes of .*missing\.db"):
        Outcomes(tmp_path / "missing.db")(decision(1))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (["CREATE TABLE other (x)"], "no such table: outcomes"),
        (["CREATE TABLE outcomes (number INTEGER PRIMARY KEY, reward REAL)"], "no such column"),
        (
            [TABLE, "INSERT INTO outcomes (reward) VALUES ('secret')"],
            "row 1 is not a finite number",
        ),
        ([TABLE, "INSERT INTO outcomes (reward) VALUES (9e999)"], "row 1 is not a finite number"),
        (
            [
                TABLE,
                "INSERT INTO outcomes (reward, decision) VALUES (1, 'run/0/1'), (2, 'run/0/1')",
            ],
            "has two outcomes for decision run/0/1",
        ),
    ],
)
def test_a_malformed_table_is_named_and_left_alone(
    tmp_path: Path, statements: list[str], message: str
) -> None:
    path = tmp_path / "outcomes.db"
    execute(path, *statements)
    before = path.read_bytes()
    with pytest.raises(DataError, match=message) as caught:
        Outcomes(path)(decision(1))
    assert str(path) in str(caught.value)
    assert "secret" not in str(caught.value)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.db"
    path.write_bytes(b"reward\n1.0\n" * 100)
    with pytest.raises(DataError, match="not a database"):
        Outcomes(path)(decision(1))


def test_a_repr_shows_no_outcome(tmp_path: Path) -> None:
    assert (
        repr(Outcomes(tmp_path / "o.db"))
        == f"Outcomes({str(tmp_path / 'o.db')!r}, table='outcomes')"
    )


def test_a_check_says_whether_the_next_decision_could_be_answered(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.db"
    pull = Outcomes.create(path, [1.0])
    pull.check()
    assert pull.asked() == []
    with pytest.raises(DataError, match="no such table"):
        Outcomes(path, "other").check()
    pull(decision(1))
    with pytest.raises(DataError, match="is used up"):
        pull.check()
    execute(path, "INSERT INTO outcomes (reward) VALUES (9e999)")
    with pytest.raises(DataError, match="row 2 is not a finite number"):
        pull.check()
    execute(path, "ALTER TABLE outcomes RENAME COLUMN decision TO patient")
    with pytest.raises(DataError, match="no such column"):
        pull.check()
    path.unlink()
    with pytest.raises(DataError, match="cannot use table outcomes"):
        pull.check()
    assert not path.exists()
