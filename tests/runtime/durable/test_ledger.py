"""The ledger equals a simple model, whatever happens to the runs and to the process."""

from dataclasses import dataclass, field
from math import fsum, inf, nan
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lotor.core.effects import Decision, Pull
from lotor.core.errors import JournalWriteError
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
from lotor.runtime.durable.ledger import BudgetSum, Charge, LedgerEntry, at_worst
from lotor.runtime.durable.questions import QuestionLog

PARTY = "lyon (owner)"
AMOUNTS = st.floats(0.0, 100.0, allow_subnormal=False) | st.just(inf) | st.none()
CHARGES = st.builds(
    Charge,
    customer=st.sampled_from(["acme", "globex"]),
    certificate=st.sampled_from(["aaaa", "bbbb"]),
    protocol=st.just("ppcb"),
    form=st.just("dealt"),
    policy=st.just("linear-epsilon-greedy"),
    pulls=st.integers(1, 50),
    epsilon=AMOUNTS.map(lambda amount: None if amount is None else abs(amount)),
    delta=st.sampled_from([0.0, 1e-6, 1e-3]),
)


class Died(BaseException):
    """The process is gone in the middle of a transaction."""


@dataclass
class Entry:
    """What the model knows of a run."""

    charge: Charge
    state: str = WAITING
    approved: bool = False
    asked: int = 0
    under_way: int = 0
    repeatable: bool = False
    used: int | None = None
    started: bool = field(default=False)


def row(run: str, state: str, budget: int) -> RunRow:
    return RunRow(run, b"announced", b"signed", "lyon", state, "", 0.0, 0.0, VERSION, budget)


class Runs(RuleBasedStateMachine):
    """Runs that start, wait, are approved, pull and end, with crashes in between."""

    @initialize()
    def open(self) -> None:
        self.folder = TemporaryDirectory()
        self.journal = Journal(Path(self.folder.name, "state"), PARTY)
        self.since = self.journal.ledger.since
        self.model: dict[str, Entry] = {}
        self.order: list[str] = []

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.journal.close()
            self.folder.cleanup()

    def _pick(self, data: st.DataObject, state: str) -> str | None:
        found = [run for run, entry in self.model.items() if entry.state == state]
        return data.draw(st.sampled_from(found)) if found else None

    def _begun(self, run: str, *, approved: bool) -> None:
        entry = self.model[run]
        entry.state, entry.approved, entry.started = RUNNING, approved, True
        self.order.append(run)

    @rule(charge=CHARGES, repeatable=st.booleans(), dies=st.booleans())
    def start(self, charge: Charge, repeatable: bool, dies: bool) -> None:
        run = f"{len(self.model):04x}"
        begun = row(run, RUNNING, charge.pulls)
        try:
            with self.journal.transaction():
                self.journal.add(begun, b"state", repeatable=repeatable, charge=charge)
                if dies:
                    raise Died
        except Died:
            self.restart()
            return
        self.model[run] = Entry(charge, repeatable=repeatable)
        self._begun(run, approved=False)

    @rule(charge=CHARGES)
    def wait(self, charge: Charge) -> None:
        run = f"{len(self.model):04x}"
        self.journal.add(row(run, WAITING, charge.pulls), None, charge=charge)
        self.model[run] = Entry(charge)

    @rule(data=st.data(), dies=st.booleans())
    def approve(self, data: st.DataObject, dies: bool) -> None:
        run = self._pick(data, WAITING)
        if run is None:
            return
        try:
            with self.journal.transaction():
                self.journal.begin(run, b"state", charge=self.model[run].charge)
                if dies:
                    raise Died
        except Died:
            self.restart()
            return
        self._begun(run, approved=True)

    @rule(data=st.data())
    def approve_twice(self, data: st.DataObject) -> None:
        run = self._pick(data, RUNNING)
        if run is not None:
            with pytest.raises(JournalWriteError):
                self.journal.begin(run, b"other", charge=self.model[run].charge)

    @rule(data=st.data(), here=st.booleans(), answered=st.booleans())
    def pull(self, data: st.DataObject, here: bool, answered: bool) -> None:
        run = self._pick(data, RUNNING)
        if run is None or self.model[run].asked == self.model[run].charge.pulls:
            return
        count = self.journal.database.execute("SELECT count(*) FROM pulls").fetchone()[0]
        decision = Decision.named(run, count, 0) if here else None
        if answered:
            self.journal.record(run).note(count, decision, 0.5 if here else None)
            self.model[run].asked += here
        else:
            self.journal.record(run).intend(count, decision)
            self.model[run].under_way += here

    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        run = self._pick(data, RUNNING)
        if run is not None:
            self.journal.change(run, FINISHED, "")
            entry = self.model[run]
            entry.state, entry.used = FINISHED, entry.charge.pulls

    @rule(
        data=st.data(),
        before=st.sampled_from([RUNNING, WAITING]),
        state=st.sampled_from([STOPPED, FAILED, REFUSED]),
    )
    def end_early(self, data: st.DataObject, before: str, state: str) -> None:
        run = self._pick(data, before)
        if run is not None:
            self.journal.change(run, state, "why")
            entry = self.model[run]
            entry.state = state
            used = entry.asked + entry.under_way + entry.repeatable
            entry.used = min(used, entry.charge.pulls) if entry.started else None

    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        """All other records of a run that has ended are deleted."""
        run = self._pick(data, STOPPED)
        if run is not None:
            self.journal.database.execute("DELETE FROM runs WHERE id = ?", (run,))
            self.journal.database.execute("DELETE FROM progress WHERE run = ?", (run,))
            self.journal.database.execute("DELETE FROM pulls WHERE run = ?", (run,))
            self.model[run].state = "forgotten"

    @rule(data=st.data())
    def note(self, data: st.DataObject) -> None:
        run = self._pick(data, RUNNING)
        if run is not None:
            self.journal.change(run, RUNNING, "waits for porto")

    @rule()
    def restart(self) -> None:
        self.journal.close()
        self.journal = Journal(Path(self.folder.name, "state"), PARTY)

    @invariant()
    def the_ledger_is_the_model(self) -> None:
        entries = self.journal.ledger.entries()
        assert [entry.run for entry in entries] == self.order
        for entry in entries:
            known = self.model[entry.run]
            assert entry == known_as(known, entry)
            assert (entry.ended is None) == (known.state == RUNNING)
        assert self.journal.ledger.since == self.since

    @invariant()
    def the_sums_are_those_of_the_model(self) -> None:
        started = [self.model[run] for run in self.order]
        spent = self.journal.ledger.spent()
        pulls = [one.charge.pulls if one.used is None else one.used for one in started]
        assert spent.runs == len(started)
        assert spent.granted == sum(one.charge.pulls for one in started)
        assert spent.pulls == sum(pulls)
        assert spent.epsilon == fsum(one.charge.epsilon or 0.0 for one in started)
        assert spent.delta == fsum(one.charge.delta for one in started)
        assert spent == BudgetSum.of(self.journal.ledger.entries())


def known_as(known: Entry, entry: LedgerEntry) -> LedgerEntry:
    """An entry as the model has it, but for its moments."""
    charge = known.charge
    return LedgerEntry(
        *(entry.run, charge.customer, charge.certificate, charge.protocol, charge.form),
        *(charge.policy, charge.pulls, known.used, charge.epsilon, charge.delta),
        *(known.approved, entry.started, entry.ended),
    )


TestRuns = Runs.TestCase
TestRuns.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)


@pytest.mark.parametrize("amount", [nan, -1.0, -0.0, -inf, inf])
def test_an_amount_that_is_none_is_charged_as_the_most(tmp_path: Path, amount: float) -> None:
    journal = Journal(tmp_path / "state", PARTY)
    charge = Charge(pulls=-5, epsilon=amount, delta=amount)
    journal.add(row("aa", RUNNING, 0), b"state", charge=charge)
    journal.add(row("bb", RUNNING, 0), b"state", charge=Charge(pulls=1 << 80, epsilon=1.0))
    assert journal.ledger.spent() == BudgetSum(
        runs=2, granted=1 << 62, pulls=1 << 62, epsilon=inf, delta=1.0
    )
    journal.close()


def test_amounts_too_large_to_add_up_are_infinite() -> None:
    entry = LedgerEntry("aa", "acme", "", "", "", "", 1, None, 1e308, 0.0, False, 0.0, None)
    assert BudgetSum.of([entry] * 3).epsilon == inf
    assert at_worst(1e308, inf) == 1e308


def test_many_small_amounts_count_beside_a_large_one() -> None:
    large = LedgerEntry("aa", "acme", "", "", "", "", 1, None, 1.0, 0.0, False, 0.0, None)
    small = msgspec.structs.replace(large, epsilon=1e-17)
    assert BudgetSum.of([large, *[small] * 100]).epsilon > 1.0


def test_a_party_that_is_asked_twice_a_round_is_charged_once(tmp_path: Path) -> None:
    """A user of HELBA is asked for contexts, and for rewards."""
    journal = Journal(tmp_path / "state", PARTY)
    journal.add(row("aa", RUNNING, 5), b"state")
    for number, answer in enumerate([(0.5, 0.5), 1.0, (0.1, 0.2), 0.0]):
        record = journal.record("aa")
        record.keep(number, Decision.named("aa", number, 0), answer)  # type: ignore[arg-type]
    journal.change("aa", STOPPED, "")
    assert journal.ledger.spent().pulls == 2
    journal.close()


@pytest.mark.parametrize("repeatable", [False, True])
def test_a_pull_that_was_under_way_is_charged(tmp_path: Path, repeatable: bool) -> None:
    """Whoever stops each run while its first pull is under way gets no pulls for nothing."""
    journal = Journal(tmp_path / "state", PARTY)
    for run in ("aa", "bb", "cc"):
        journal.add(row(run, RUNNING, 100), b"state", repeatable=repeatable)
        record = journal.record(run)
        questions = QuestionLog(PARTY, record, record.begin(), alike=False)
        assert questions.ask(Pull(Decision.named(run, 1, 0))) is None
        journal.end(run, STOPPED, "by its customer")
    assert [entry.used for entry in journal.ledger.entries()] == [1, 1, 1]
    assert journal.ledger.spent().pulls == 3
    journal.close()


def test_a_run_without_a_pull_under_way_is_charged_what_was_answered(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state", PARTY)
    for run, granted in (("aa", 9), ("bb", 9), ("cc", 1)):
        journal.add(row(run, RUNNING, granted), b"state")
    for run in ("bb", "cc"):
        journal.record(run).intend(1, Decision.named(run, 1, 0))
        journal.record(run).answer(1, 0.5)
        journal.record(run).intend(2, None)
    journal.record("cc").intend(3, Decision.named("cc", 3, 0))
    for run in ("aa", "bb", "cc"):
        journal.end(run, STOPPED, "enough")
    assert [entry.used for entry in journal.ledger.entries()] == [0, 1, 1]
    journal.close()
