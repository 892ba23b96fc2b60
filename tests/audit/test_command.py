"""`lotor audit`: what it prints, and its exit codes."""

import json
from collections.abc import Mapping

import pytest

import lotor as package
from commands import lotor
from lotor.auditing.recording import record
from lotor.core.errors import InputError
from lotor.protocols.leakage import Finding
from lotor.protocols.samba.paper.form import SambaPaper
from lotor.protocols.samba.paper.leakage import MEASURED

# So few that attacks which might fail by chance cannot say anything.
FEW = (
    *("--arms", "0.8,0.5", "--budget", "30", "--repeat", "4", "--seed", "7"),
    *("--form", "paper", "--key-bits", "2048"),
)


def stating(monkeypatch: pytest.MonkeyPatch, **tells: frozenset[str]) -> None:
    """Let the form state other leaks of some roles."""
    changed: Mapping[str, Finding] = {
        role: Finding("", "", "", "", tells.get(role, finding.tells))
        for role, finding in MEASURED.items()
    }
    monkeypatch.setattr(SambaPaper, "leakage", changed)


def test_a_form_that_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    done = lotor("audit", "samba", *FEW, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["holds"] is True
    assert (found["protocol"], found["form"], found["repeat"], found["k"]) == (
        *("samba", "paper"),
        *(4, 2),
    )
    rows = {(row["party"], row["attack"]): row for row in found["rows"]}
    tracked = rows["comp", "tracker: rewards"]
    assert tracked["right"] == tracked["of"] == 4 * 27
    assert tracked["verdict"] == "leaks, as stated"
    assert rows["owner", "the other of two arms"]["verdict"] == "leaks, as stated"
    assert rows["network", "lengths of messages"]["verdict"] == "too few runs"


def test_a_leak_that_is_not_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    stating(monkeypatch, comp=frozenset())
    done = lotor("audit", "samba", *FEW)
    assert done.returncode == 1
    assert "comp, tracker: rewards: LEAKS MORE THAN STATED" in done.stdout


def test_a_leak_that_is_stated_and_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    stating(monkeypatch, comp=MEASURED["comp"].tells | {"mask"})
    done = lotor("audit", "samba", *FEW)
    assert done.returncode == 1
    assert "comp, greatest common divisor: STATED, BUT NOT SHOWN" in done.stdout


def test_the_report_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    stating(monkeypatch, comp=frozenset({"mask"}))
    monkeypatch.setattr("rich.console.Console.size", property(lambda console: _Size()))
    done = lotor("audit", "samba", *FEW, "--policy", "epsilon-greedy")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "…" not in done.stdout
    for text in ("comp", "tracker: rewards", "controller and owner", "chance", "need more runs"):
        assert text in done.stdout
    assert "Stated for controller, and not attacked here: timing." in done.stdout


class _Size:
    width, height = 80, 25


def test_arms_of_the_second_world() -> None:
    done = lotor("audit", "samba", *FEW, "--other-arms", "0.1,0.2", "--json")
    assert json.loads(done.stdout)["two_worlds"] is True
    assert lotor("audit", "samba", *FEW, "--other-arms", "many").returncode == 2


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--repeat", "0"), "repeat is a whole number of at least 1, not 0"),
        (("--level", "1"), "level is a probability such as 0.99, not 1.0"),
        (("--slot-bits", "64"), "--slot-bits belongs to `lotor audit linucb-ds`"),
    ],
)
def test_options_that_cannot_be_used(option: tuple[str, ...], said: str) -> None:
    done = lotor("audit", "samba", *FEW, *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_what_is_no_protocol_and_what_is_no_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    arms = package.BernoulliArms([0.5, 0.5])
    with pytest.raises(InputError, match="audit takes a protocol"):
        package.audit(package.UCB(), arms, budget=9)  # type: ignore[arg-type]
    monkeypatch.setattr(SambaPaper, "attacks", {"comp": ("lotor.policies:UCB",)})
    with pytest.raises(InputError, match="is not an attack"):
        package.audit(package.Samba(form="paper"), arms, budget=9, repeat=1)


def test_progress_and_a_world_that_cannot_be_derived() -> None:
    arms = package.GraphArms([[0, 1], [1, 0]], values=[0.1, 0.2])
    told: list[tuple[int, int]] = []
    report = package.audit(
        package.SpectralUCBDS(form="paper", key_bits=2048),
        arms,
        budget=4,
        repeat=2,
        seed=1,
        progress=lambda done, of: told.append((done, of)),
    )
    assert told == [(0, 2), (1, 2)]
    assert not report.two_worlds


def test_a_recording_has_what_everybody_saw() -> None:
    samba = package.Samba(package.UCB(), owners=2)
    run = record(samba, package.BernoulliArms([0.9, 0.1]), budget=12, seed=3)
    plain = package.run(samba.plain(), package.BernoulliArms([0.9, 0.1]), budget=12, seed=3)
    assert run.truth.arms == plain.arms
    assert sum(run.truth.rewards) == plain.reward
    own, other, network = run.view("owner-1"), run.view("owner-2"), run.view()
    assert {decision.arm for decision, _ in own.pulls} == {0}
    assert len(own.pulls) + len(other.pulls) == 12
    assert set(own.parties) == {"owner-1"}
    assert all("owner-1" in (one.sender, one.to) for one in own.exchanges)
    assert (network.seats, network.exchanges, network.parties) == ((), (), {})
    assert len(network.passed) > len(own.passed)
