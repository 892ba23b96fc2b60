"""Complete runs of a federation of processes, while its parties are killed at random."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from random import Random

import lotor
from chaos.clerks import OPTIONS, Clerks
from chaos.trial import MEANS, Trial
from lotor.environments import Outcomes
from lotor.protocols.samba.cast import hospitals
from lotor.sandbox import Federation
from lotor.sandbox.crashes import Crashes
from lotor.sandbox.journals import Journals, Standing

POLICIES = (
    "ucb",
    "thompson-sampling",
    "epsilon-greedy",
    "epsilon-greedy:epsilon=1/log2",
    "softmax",
    "pursuit",
)
FORMS = ("shared", "dealt", "paper")
# The paper's form in its other way of selecting; `lotor demo --form paper --kill` has bits.
PAPER = {"--selection": "position", "--key-bits": "2048"}
LOOK = 0.01
PATIENCE = 300.0
ATTEMPTS = 5

# Each question is on record before it is answered, in a file that only grows.
HOSPITAL = '''"""Outcomes of this hospital's patients, with a record of every question."""

import os
from pathlib import Path

from lotor.environments import Outcomes

outcomes = Outcomes(Path(__file__).with_name("patients.db"))
record = os.open(Path(__file__).with_name("asked.log"), os.O_CREAT | os.O_APPEND | os.O_WRONLY)


def pull(decision):
    os.write(record, f"{decision.id}\\n".encode())
    return outcomes(decision)
'''


@dataclass(frozen=True, slots=True)
class Survived:
    """A run that came to its result, and how often parties were killed before it did."""

    kills: int
    in_replay: int
    starts: int
    seconds: float


def survive(folder: Path, trial: Trial) -> Survived:
    """Run a trial to its end and hold it against plain and against the hospitals' records."""
    form = lotor.Samba.form_called(trial.form)
    servers = [role.name for role in form.roles if role.seats]
    cast = hospitals(
        MEANS, budget=trial.budget, seed=trial.seed, policy=trial.policy, servers=servers
    )
    federation = Federation(
        folder, form, cast, trial.seed, wait=PATIENCE, key_files=trial.key_files
    )
    federation.prepare()
    for name in MEANS:
        (federation.kits[name] / "hospital.py").write_text(HOSPITAL)
    clerks = Clerks(federation, trial) if trial.late else None
    began = time.monotonic()
    try:
        federation.serve()
        _start(federation, trial)
        crashes = _crash(federation, trial, clerks)
        run = crashes.run
        total, arms = Journals(federation).total(run), Journals(federation).arms(run)
        result = Journals(federation).standing("customer", run)
    finally:
        federation.close()
    assert result is not None
    counted = [kill for kill in crashes.kills if kill.moment < result.changed]
    if clerks is not None:
        clerks.check(run, total, arms)
    else:
        kills = Counter(kill.name for kill in crashes.kills)
        check_against_plain(trial, total, arms)
        check_records(federation.kits, run, trial.budget, kills)
    return Survived(
        len(counted),
        sum(kill.again for kill in counted),
        sum(spent.starts for spent in federation.spent.values()),
        time.monotonic() - began,
    )


def survive_all(folder: Path, trial: Trial) -> Survived:
    """Run a trial until its plan was carried out: a busy machine may end a run before it is."""
    for attempt in range(ATTEMPTS):
        survived = survive(folder / str(attempt), trial)
        if survived.kills >= trial.kills:
            return survived
    raise AssertionError(f"each of {ATTEMPTS} runs ended before {trial.kills} kills")


def _start(federation: Federation, trial: Trial) -> None:
    options = {
        "--form": trial.form,
        "--budget": str(trial.budget),
        "--policy": trial.policy,
        **(PAPER if trial.form == "paper" else {}),
        **(OPTIONS if trial.late else {}),
    }
    arguments = [part for option in options.items() for part in option]
    federation.launch("customer", "start", "samba", *arguments, "--json")


def _crash(federation: Federation, trial: Trial, clerks: Clerks | None) -> Crashes:
    """Kill parties until the customer has the total."""
    journals, deadline = Journals(federation), time.monotonic() + PATIENCE
    crashes: Crashes | None = None
    while crashes is None or not journals.finished(crashes.run):
        if time.monotonic() > deadline:
            raise AssertionError(f"{trial} does not end; logs are in {federation.folder}")
        if crashes is None:
            run = journals.run()
            if run is not None:
                crashes = _crashes(federation, run, trial)
        else:
            crashes.step(journals.round(crashes.run))
        if clerks is not None:
            clerks.look()
        _all_well(federation, crashes)
        time.sleep(LOOK)
    crashes.restart_all()
    while not all(standing and standing.finished for standing in _standings(federation, crashes)):
        if time.monotonic() > deadline:
            raise AssertionError(f"not all parties of {trial} end; logs: {federation.folder}")
        time.sleep(LOOK)
    return crashes


def _standings(federation: Federation, crashes: Crashes) -> list[Standing | None]:
    journals = Journals(federation)
    return [journals.standing(name, crashes.run) for name in federation.kits]


def _crashes(federation: Federation, run: str, trial: Trial) -> Crashes:
    crashes = Crashes.spread(
        federation,
        run,
        budget=trial.budget,
        kills=trial.kills,
        most=3,
        again=0.25,
        random=Random(f"{trial}"),
    )
    crashes.strikes.append((trial.budget, 1))  # where the sums are under way
    return crashes


def _all_well(federation: Federation, crashes: Crashes | None) -> None:
    """Nobody died by itself; the customer leaves when it has the total."""
    away = crashes.away_now() if crashes is not None else set()
    for name in federation.kits:
        if name not in away and not federation.running(name) and federation.exit_code(name):
            raise federation.complaint(name)


def check_against_plain(trial: Trial, total: float | None, arms: Mapping[int, list[int]]) -> None:
    plain = lotor.run(
        lotor.Samba.configured(trial.policy, {}).plain(),
        lotor.BernoulliArms(list(MEANS.values())),
        budget=trial.budget,
        seed=trial.seed,
    )
    assert plain.arms is not None
    assert total == plain.reward, trial
    assert arms == {t: [arm] for t, arm in enumerate(plain.arms, 1)}, trial


def check_records(
    kits: Mapping[str, Path], run: str, budget: int, kills: Mapping[str, int]
) -> None:
    """Each decision was carried out once; asked again only by a party that was killed."""
    everything: list[str] = []
    for name in MEANS:
        asked = (kits[name] / "asked.log").read_text().split()
        once = [decision for decision, _ in groupby(asked)]
        handed = [decision for decision, _ in Outcomes(kits[name] / "patients.db").asked()]
        assert once == handed, f"{name} asked for an old decision again"
        assert len(set(once)) == len(once)
        assert len(asked) - len(once) <= kills.get(name, 0), f"{name} asks again without a crash"
        everything += once
    assert sorted(int(decision.rsplit("/", 1)[1]) for decision in everything) == list(
        range(1, budget + 1)
    )
    assert all(decision.startswith(f"{run}/") for decision in everything)
