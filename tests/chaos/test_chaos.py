"""Parties that are killed at any moment, at once and in replay, change nothing of a run."""

from pathlib import Path

import pytest

from chaos.harness import FORMS, POLICIES, survive_all
from chaos.trial import Trial


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", POLICIES)
def test_runs_of_every_policy_survive_kills(policy: str, form: str, tmp_path: Path) -> None:
    """Each party's turn comes; `make chaos` kills as often as one likes."""
    trial = Trial(policy, form, budget=100, kills=8, seed=3)
    assert survive_all(tmp_path, trial).kills >= trial.kills


@pytest.mark.long
def test_a_run_of_protected_parties_survives_kills(tmp_path: Path) -> None:
    """Their keys and journals are encrypted, and each process finds its key file by itself."""
    trial = Trial("ucb", "shared", budget=60, kills=6, seed=5, key_files=True)
    assert survive_all(tmp_path, trial).kills >= trial.kills


@pytest.mark.long
def test_a_long_run_survives_many_kills(tmp_path: Path) -> None:
    trial = Trial("softmax", "shared", budget=200, kills=25, seed=3)
    assert survive_all(tmp_path, trial).kills >= trial.kills


@pytest.mark.long
def test_a_run_whose_outcomes_are_told_later_survives_kills(tmp_path: Path) -> None:
    """Told by people, in any order, often twice, and while nobody serves the party."""
    trial = Trial("pursuit", "shared", budget=40, kills=6, seed=3, late=True)
    assert survive_all(tmp_path, trial).kills >= trial.kills
