"""Several runs at once over the same daemons."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals
from trials import PATIENCE, assert_like_plain, order, prepared, until

# Every run sees the hospital's outcomes from the first one on, as plain does.
HOSPITAL = '''"""Outcomes of this hospital's patients, for each run anew."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

with closing(sqlite3.connect(Path(__file__).with_name("patients.db"))) as database:
    OUTCOMES = [reward for (reward,) in database.execute("SELECT reward FROM outcomes")]
given = {}


async def pull(decision):
    answers = given.setdefault(decision.run, {})
    while len(given) < 2:  # nobody goes on before two runs are under way
        await asyncio.sleep(0.01)
    return answers.setdefault(decision.id, OUTCOMES[len(answers)])
'''
BUDGETS = {"ucb": 60, "thompson-sampling": 50, "epsilon-greedy": 20}


@contextmanager
def started(federation: Federation, policy: str) -> Iterator[subprocess.Popen[str]]:
    """A customer's second window: the daemon serves, this one only asks and watches."""
    command = federation.command(*order(policy, BUDGETS[policy]))
    with subprocess.Popen(  # noqa: S603
        [*command, "--kit", str(federation.kits["customer"])], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def checked(federation: Federation, policy: str, process: subprocess.Popen[str]) -> str:
    until(federation, lambda: process.poll() is not None)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    run = str(json.loads(out)["run"])
    assert_like_plain(federation, run, policy, BUDGETS[policy])
    return run


@pytest.mark.long
def test_runs_that_overlap_do_not_disturb_each_other(tmp_path: Path) -> None:
    first, second, third = BUDGETS
    with prepared(tmp_path, max(BUDGETS.values()), hospital=HOSPITAL) as federation:
        federation.serve(*federation.kits)
        # Before its daemon serves, a customer's command would drive the party itself.
        until(federation, lambda: "serving" in federation.log_file("customer").read_text())
        with started(federation, first) as here, started(federation, second) as there:
            runs = [checked(federation, first, here), checked(federation, second, there)]
        one, other = (Journals(federation).standing("controller", run) for run in runs)
        assert one is not None
        assert other is not None
        assert max(one.began, other.began) < min(one.changed, other.changed), "no overlap"
        with started(federation, third) as after:
            checked(federation, third, after)
