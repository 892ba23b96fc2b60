"""What pruning removes from a journal, and what stays."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import JournalError
from lotor.core.version import VERSION
from lotor.runtime.durable.journal import (
    FAILED,
    FINISHED,
    REFUSED,
    RUNNING,
    STOPPED,
    WAITING,
    Journal,
    RunRow,
)
from lotor.runtime.durable.ledger import Charge
from lotor.runtime.durable.link import Link
from lotor.runtime.durable.pruning import KEPT_TABLES, RUN_TABLES
from lotor.runtime.durable.run_output import RunOutput
from scanning import contents

OVER = (FINISHED, STOPPED, FAILED, REFUSED)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path / "state", "owner lyon")) as made:
        yield made


def marked(run: str) -> str:
    """What stands in rows of a run and nowhere else."""
    return f"telltale of {run}"


def begin(journal: Journal, run: str, pulls: int = 10) -> None:
    mark = marked(run).encode()
    row = RunRow(run, mark, mark, "lyon", RUNNING, "", 1.0, 2.0, VERSION, pulls)
    journal.add(row, mark, charge=Charge(customer="acme", pulls=pulls, epsilon=0.5))
    record = journal.record(run)
    record.begin()
    record.issue(1, Decision(run, 1, 0, f"{marked(run)}/0/1"))
    record.keep(2, Decision(run, 2, 0, f"{marked(run)}/0/2"), 0.25)
    record.checkpoint(
        mark,
        round=2,
        pulls=2,
        messages_sent=1,
        bytes_sent=1,
        links=[Link(marked(run))],
        output=RunOutput(marked(run)),
    )
    journal.keep_status(run, "lyon", mark)
    with journal.transaction():
        journal.pacing(run).grant(3, mark)
    journal.commands.seek(run, [marked(run)])
    journal.commands.add(run, mark)
    journal.commands.done(10**6, (run, marked(run)))


def end(journal: Journal, run: str, state: str) -> None:
    if state == FINISHED:
        journal.finish(run)
    else:
        journal.end(run, state, marked(run))


def count(journal: Journal, run: str) -> dict[str, int]:
    """The rows of a run in each table."""
    return {
        table: journal.database.execute(
            f"SELECT count(*) FROM {table} WHERE {column} = ?",  # noqa: S608
            (run,),
        ).fetchone()[0]
        for table, column in RUN_TABLES.items()
    }


def test_every_table_is_pruned_or_kept_on_purpose(journal: Journal) -> None:
    rows = journal.database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    assert {name for (name,) in rows} == KEPT_TABLES | RUN_TABLES.keys()
    assert not KEPT_TABLES & RUN_TABLES.keys()
    for table, column in RUN_TABLES.items():
        named = {row[1] for row in journal.database.execute(f"PRAGMA table_info({table})")}
        assert column in named


@pytest.mark.parametrize("state", OVER)
def test_nothing_of_a_pruned_run_is_left_in_any_file(journal: Journal, state: str) -> None:
    begin(journal, "aa")
    begin(journal, "bb")
    journal.stores.of("aa").keep(marked("aa").encode())
    end(journal, "aa", state)
    before, bought = count(journal, "bb"), journal.ledger.entries()
    folder = journal.path.parent
    assert any(marked("aa").encode() in data for data in contents(folder).values())

    journal.pruning.prune(["aa"])
    journal.stores.of("aa").remove()
    assert journal.erasure.complete()

    assert not any(marked("aa").encode() in data for data in contents(folder).values())
    assert set(count(journal, "aa").values()) == {0}
    assert count(journal, "bb") == before
    assert journal.ledger.entries() == bought
    assert journal.pruning.state("aa") == state


@pytest.mark.parametrize("state", [WAITING, RUNNING])
def test_a_run_that_is_not_over_stays(journal: Journal, state: str) -> None:
    begin(journal, "aa")
    journal.change("aa", state, "")
    before = count(journal, "aa")
    with pytest.raises(JournalError, match=f"it is {state}: `lotor runs stop` ends it"):
        journal.pruning.prune(["aa"])
    assert count(journal, "aa") == before


def test_a_run_with_messages_for_a_peer_stays(journal: Journal) -> None:
    begin(journal, "aa")
    begin(journal, "bb")
    journal.finish("aa")
    journal.finish("bb")
    journal.database.execute("INSERT INTO outbox VALUES ('aa', 'comp', 1, x'00')")
    with pytest.raises(JournalError, match="messages that its peers have not received"):
        journal.pruning.prune(["bb", "aa"])
    assert journal.find("bb") is not None, "all of them are removed, or none"
    journal.pruning.prune(["bb"])


def test_a_run_with_something_left_to_carry_out_stays(journal: Journal) -> None:
    begin(journal, "aa")
    journal.record("aa").show(Decision("aa", 3, 1, "aa/1/3"), paid_here=False)
    journal.finish("aa")
    with pytest.raises(JournalError, match="nobody has carried out"):
        journal.pruning.prune(["aa"])
    journal.database.execute("UPDATE decisions SET taken = 1.0 WHERE run = 'aa'")
    journal.pruning.prune(["aa"])


def test_a_pruned_run_never_begins_again(journal: Journal, tmp_path: Path) -> None:
    begin(journal, "aa")
    row = journal.run("aa")
    journal.end("aa", STOPPED, "enough")
    journal.pruning.prune(["aa"])
    journal.close()
    with closing(Journal(tmp_path / "state", "owner lyon")) as again:
        with pytest.raises(JournalError, match="no run begins twice"):
            again.add(row, b"snapshot")
        assert again.runs() == []
        assert len(again.ledger.entries()) == 1


def test_a_process_killed_before_it_has_erased_leaves_that_to_the_next(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "state", "owner lyon")) as journal:
        begin(journal, "aa")
        journal.end("aa", STOPPED, "enough")
        journal.pruning.prune(["aa"])
    with closing(Journal(tmp_path / "state", "owner lyon")) as again:
        assert again.erasure.due
        assert again.erasure.complete()
    assert marked("aa").encode() not in (tmp_path / "state" / "journal.db").read_bytes()


@given(
    runs=st.lists(
        st.tuples(st.sampled_from(OVER), st.integers(1, 50), st.booleans()), min_size=1, max_size=6
    )
)
@settings(max_examples=15, deadline=None)
def test_no_budget_comes_back(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[str, int, bool]]
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    with closing(Journal(folder, "owner lyon")) as journal:
        for number, (state, pulls, _) in enumerate(runs):
            begin(journal, f"{number:02x}", pulls)
            end(journal, f"{number:02x}", state)
        spent = journal.ledger.spent()
        chosen = [f"{number:02x}" for number, (_, _, pruned) in enumerate(runs) if pruned]
        journal.pruning.prune(chosen)
        assert journal.ledger.spent() == spent
        assert {row.id for row in journal.runs()}.isdisjoint(chosen)
        assert len(journal.runs()) == len(runs) - len(chosen)


def test_old_journals_of_this_version_get_the_table(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "state", "owner lyon")) as journal:
        journal.database.execute("DROP TABLE pruned")
    with closing(Journal(tmp_path / "state", "owner lyon")) as again:
        assert again.pruning.state("aa") is None
        assert isinstance(again.database, sqlite3.Connection)
        assert again.ledger.since <= time.time()
