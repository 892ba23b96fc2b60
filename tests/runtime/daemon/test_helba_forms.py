"""HELBA's forms on shares as daemons: the arms and the total of plain, whoever comes and goes."""

from pathlib import Path

import pytest

import lotor
from lotor.protocols.helba.demo import one_user
from lotor.sandbox import Federation
from runtime.daemon.forms import played

pytestmark = pytest.mark.usefixtures("real_transfers")

SEED = 7


def equals_plain(folder: Path, arms: lotor.LinearContexts, *, restart: bool) -> None:
    form, budget = lotor.Helba.form_called("shared"), arms.rounds
    made = Federation(folder / "f", form, one_user(arms, seed=SEED), SEED)
    made.prepare()
    plain = lotor.run(lotor.Helba().plain(), arms, budget=budget, seed=SEED)
    found = played(made, lotor.Helba, "shared", budget, restart=restart)
    assert found == (plain.arms, plain.reward)


def test_daemons_equal_plain_though_each_is_restarted(tmp_path: Path) -> None:
    equals_plain(tmp_path, lotor.LinearContexts.random(24, arms=3, d=2, seed=5), restart=True)


def test_two_servers_and_three_users_equal_plain_though_each_is_restarted(tmp_path: Path) -> None:
    helba = lotor.Helba(servers=2)
    form = helba.in_form()
    made = Federation(tmp_path / "f", form, form.cast(helba, 24, SEED, 3), SEED)
    made.prepare()
    plain = lotor.run(helba.plain(), made.cast.environment, budget=24, seed=SEED)
    found = played(made, lotor.Helba, "two-servers", 24, restart=True)
    assert found == (plain.arms, plain.reward)


@pytest.mark.long
def test_twelve_dimensions_and_twenty_arms(tmp_path: Path) -> None:
    """Words of so many are cut to frames."""
    equals_plain(tmp_path, lotor.LinearContexts.random(6, arms=20, d=12, seed=5), restart=False)
