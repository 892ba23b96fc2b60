"""A linear run survives kills of all its parties."""

import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

import lotor
from lotor.environments.sources import made_up
from lotor.protocols.protocol import PROTOCOLS
from lotor.sandbox import Federation
from lotor.sandbox.crashes import Crashes
from lotor.sandbox.journals import Journals
from surveys import survey_federation

LOOK, PATIENCE, ATTEMPTS = 0.01, 200.0, 5


@dataclass(frozen=True, slots=True)
class Trial:
    """A run to survive."""

    protocol: str
    arms: str
    form: str = "shared"
    budget: int = 100
    kills: int = 8
    seed: int = 7


TRIALS = [
    pytest.param(Trial("linucb-ds", "linear:10,4", budget=60, kills=4), marks=pytest.mark.long),
    pytest.param(Trial("linucb-ds", "linear:10,4", form="paper"), marks=pytest.mark.long),
    pytest.param(Trial("linucb-ds", "linear:10,5", form="paper-live"), marks=pytest.mark.long),
    pytest.param(Trial("spectral-ucb-ds", "graph:8"), marks=pytest.mark.long),
    pytest.param(Trial("linucb-ds", "linear:10,4", form="dealt"), marks=pytest.mark.long),
    pytest.param(Trial("spectral-ucb-ds", "graph:8", form="dealt"), marks=pytest.mark.long),
]


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_a_linear_run_survives_kills(trial: Trial, tmp_path: Path) -> None:
    for attempt in range(ATTEMPTS):
        killed = survived(trial, tmp_path / str(attempt))
        # A busy machine may end a run before everybody's turn has come.
        form = PROTOCOLS[trial.protocol].form_called(trial.form)
        if killed.total() >= trial.kills and set(killed) == form.fixed_seats:
            return
    raise AssertionError(f"each of {ATTEMPTS} runs ended before {trial.kills} kills")


def survived(trial: Trial, folder: Path) -> Counter[str]:
    """Run a trial to its end and hold it against plain; how often each party was killed."""
    protocol = PROTOCOLS[trial.protocol].configured(None, {"form": trial.form})
    if trial.form == "paper-live":  # whose owner has a function, too
        federation = Federation.of(folder, protocol, budget=trial.budget, seed=trial.seed)
    else:
        survey = made_up(trial.arms, graph=trial.protocol == "spectral-ucb-ds")
        federation = survey_federation(folder, protocol, survey, seed=trial.seed)
    federation.wait = PATIENCE
    federation.prepare()
    with closing(federation):
        federation.serve()
        options = ("--budget", str(trial.budget), "--json")
        keys = ("--key-bits", "2048") if trial.form in ("paper", "paper-live") else ()
        order = (trial.protocol, "--form", protocol.form, *options, *keys)
        federation.launch("customer", "start", *order)
        crashes = crash(federation, trial)
    journals = Journals(federation)
    world = federation.cast.environment
    plain = lotor.run(protocol.plain(), world, budget=trial.budget, seed=trial.seed)
    assert journals.total(crashes.run) == plain.reward
    assert journals.trajectory(crashes.run, trial.budget) == plain.arms
    return Counter(kill.name for kill in crashes.kills)


def crash(federation: Federation, trial: Trial) -> Crashes:
    """Kill parties until the customer has the total, and let all of them finish."""
    journals, deadline = Journals(federation), time.monotonic() + PATIENCE
    while (run := journals.run()) is None:
        assert time.monotonic() < deadline, federation.complaint("customer")
        time.sleep(LOOK)
    crashes = Crashes.spread(
        federation,
        run,
        budget=trial.budget,
        kills=trial.kills,
        most=2,
        again=0.25,
        random=Random(f"{trial}"),
    )
    while not all(finished(journals, name, run) for name in federation.members):
        assert time.monotonic() < deadline, f"{trial} does not end: {federation.folder}"
        if journals.finished(run):
            crashes.restart_all()
        else:
            crashes.step(journals.round(run))
        time.sleep(LOOK)
    return crashes


def finished(journals: Journals, name: str, run: str) -> bool:
    standing = journals.standing(name, run)
    return standing is not None and standing.finished
