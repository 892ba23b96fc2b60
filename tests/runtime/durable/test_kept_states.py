"""What a party keeps after a run is there once, whatever crashes, and nothing else stays."""

from functools import cache
from pathlib import Path

import pytest

import lotor
from crashing import Fate, Simulation, World, samba_sites
from lotor.protocols.earlier import EndedRun
from lotor.protocols.kept_arms import KeptArms
from lotor.runtime.durable.journal import FAILED, FINISHED, RUNNING, STOPPED, Journal, RunRow
from lotor.runtime.durable.kept_states import KeptState
from power import PowerCuts

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

MEANS, FIRST, SECOND, SEED = [0.2, 0.5, 0.8], 8, 8, 6
SAMBA = lotor.Samba(lotor.UCB(), owners=2, form="paper", insecure_key_bits=128, keep=True)


@cache
def earlier() -> tuple[lotor.Result, lotor.Result]:
    """The run that is continued: secure, and in plain."""
    arms = lotor.BernoulliArms(MEANS)
    secure = lotor.run(SAMBA, arms, budget=FIRST, seed=SEED)
    return secure, lotor.run(SAMBA.plain(), arms, budget=FIRST, seed=SEED)


@cache
def plain() -> lotor.Result:
    arms = lotor.BernoulliArms(MEANS)
    return lotor.run(SAMBA.plain(), arms, budget=SECOND, seed=SEED, continues=earlier()[1])


def assert_kept_once(fate: Fate, simulation: type[Simulation]) -> None:
    """A continued run, whose parties die: the total, and the state after it, are those of plain."""
    ended = earlier()[0].kept
    assert isinstance(ended, EndedRun)
    sites = samba_sites(
        lotor.UCB(), len(MEANS), SECOND, seed=SEED, owners=2, earlier=ended, keep=True
    )
    simulation(sites, World(MEANS, SEED), fate, seed=fate.at or 0).run()
    customer = sites["customer"].host
    assert customer is not None
    assert customer.output == plain().reward
    states = {}
    for name, site in sites.items():
        rows = site.disk.execute("SELECT run, sealed FROM kept").fetchall()
        assert len(rows) == name.startswith("owner")
        if rows:
            ((run, sealed),) = rows
            assert (run, sealed[:7]) == ("aa", b"sealed ")
            states[name] = KeptArms.from_bytes(sealed[7:])
        site.disk.close()
    assert {state.rounds for state in states.values()} == {FIRST + SECOND}
    done = sum(sum(state.arms.n) for state in states.values())
    assert done == FIRST + SECOND
    pulls = [state.arms.n for state in states.values()]
    both = [*(earlier()[1].arms or []), *(plain().arms or [])]
    assert [n for held in pulls for n in held] == [both.count(arm) for arm in range(len(MEANS))]


def steps_of_a_whole_run() -> int:
    fate = Fate()
    assert_kept_once(fate, Simulation)
    return fate.steps


def test_it_is_there_once_though_any_party_dies_towards_the_end() -> None:
    steps = steps_of_a_whole_run()
    for at in range(steps - 60, steps + 1, 2):
        assert_kept_once(Fate(at=at), Simulation)


@pytest.mark.long
@pytest.mark.parametrize("simulation", [Simulation, PowerCuts])
def test_it_is_there_once_though_any_party_dies_at_any_step(simulation: type[Simulation]) -> None:
    for at in range(1, steps_of_a_whole_run() + 1, 7):
        assert_kept_once(Fate(at=at), simulation)


def row(run: str) -> RunRow:
    return RunRow(run, b"", b"", "owner", RUNNING, "", 0.0, 0.0, "0", 5)


def kept(journal: Journal, run: str, continues: str = "") -> None:
    """A run whose party has come to its end here."""
    journal.add(row(run), b"snapshot", continues=continues)
    record = journal.record(run)
    record.begin()
    record.checkpoint(
        None, round=5, pulls=0, messages_sent=0, bytes_sent=0, links=(), kept=b"sealed"
    )


@pytest.mark.parametrize(("end", "stays"), [(FINISHED, True), (STOPPED, False), (FAILED, False)])
def test_a_run_that_ended_early_keeps_nothing(tmp_path: Path, end: str, *, stays: bool) -> None:
    journal = Journal(tmp_path, "owner lyon")
    kept(journal, "aa")
    if end == FINISHED:
        journal.finish("aa")
    else:
        journal.end("aa", end, "because")
    journal.sweep()
    assert (journal.kept.sealed("aa") == b"sealed") == stays
    assert (journal.kept.about("aa") is not None) == stays
    journal.close()


def test_what_is_kept_can_be_listed_and_removed(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "owner lyon")
    kept(journal, "aa")
    kept(journal, "cc", continues="aa")
    kept(journal, "bb", continues="aa")
    about = journal.kept.about("aa")
    assert isinstance(about, KeptState)
    assert about.size == len(b"sealed")
    assert about.since > 1e9
    assert journal.kept.continued_by("aa") == ["cc", "bb"]
    assert journal.kept.continued_by("bb") == []
    journal.keep_nothing("aa")
    assert journal.erasure.due
    assert journal.kept.about("aa") is None
    assert not journal.kept.remove("aa")
    journal.close()
