"""Parties that are killed at any moment, at once and in replay, change nothing of a run."""

from pathlib import Path

import pytest

from chaos.harness import POLICIES, SELECTIONS, Trial, survive_all


@pytest.mark.slow
@pytest.mark.parametrize(
    "trial",
    [Trial("ucb"), Trial("softmax", "position"), Trial("pursuit", seed=11)],
    ids=str,
)
def test_a_run_survives_kills(trial: Trial, tmp_path: Path) -> None:
    assert survive_all(tmp_path, trial).kills >= trial.kills


@pytest.mark.long
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("policy", POLICIES)
def test_runs_of_every_policy_survive_kills(policy: str, selection: str, tmp_path: Path) -> None:
    trial = Trial(policy, selection, budget=200, kills=25, seed=3)
    assert survive_all(tmp_path, trial).kills >= trial.kills
