"""SAMBA's forms as daemons: the arms and the total of plain, whoever comes and goes."""

from dataclasses import replace
from pathlib import Path

import pytest

import lotor
from lotor.protocols.cast import Cast, CastMember
from lotor.protocols.samba.cast import hospitals
from lotor.sandbox import Federation
from runtime.daemon.forms import played

pytestmark = pytest.mark.usefixtures("real_transfers")

MEANS = {"lyon": 0.3, "porto": 0.5, "graz": 0.7}
SEED = 7
# All arms pay by their number and the round.
CLINIC = """
def pull(decision):
    return ((decision.arm * 7919 + decision.round * 104729) % 1000) / 1000
"""


def cast_of(form: str, means: dict[str, float], budget: int) -> Cast:
    roles = lotor.Samba.form_called(form).roles
    servers = [role.name for role in roles if role.seats]
    return hospitals(means, budget=budget, seed=SEED, policy="ucb", servers=servers)


@pytest.mark.parametrize("form", ["shared", "dealt"])
def test_daemons_equal_plain_though_each_is_restarted(form: str, tmp_path: Path) -> None:
    budget, cast = 40, cast_of(form, MEANS, 40)
    made = Federation(tmp_path / "f", lotor.Samba.form_called(form), cast, SEED)
    made.prepare()
    plain = lotor.run(lotor.UCB(), cast.environment, budget=budget, seed=SEED)
    assert played(made, lotor.Samba, form, budget, restart=True) == (plain.arms, plain.reward)


@pytest.mark.long
@pytest.mark.parametrize("form", ["shared", "dealt"])
def test_a_thousand_arms(form: str, tmp_path: Path) -> None:
    """Circuits and shares of so many arms are cut to frames."""
    held, budget = 500, 1_006
    cast = cast_of(form, {"lyon": 0.5, "porto": 0.5}, 1)
    clinic = CastMember(
        "owner",
        table={"pull": "clinic:pull", "repeatable": True, "arms": held},
        files={"clinic.py": CLINIC},
        draws=True,
    )
    members = {**cast.members, "lyon": clinic, "porto": clinic}
    made = Federation(
        tmp_path / "f", lotor.Samba.form_called(form), replace(cast, members=members), SEED
    )
    made.prepare()

    def pull(decision: lotor.Decision) -> float:
        return ((decision.arm * 7919 + decision.round * 104729) % 1000) / 1000

    plain = lotor.run(lotor.UCB(), lotor.CallbackArms([pull] * 1000), budget=budget, seed=SEED)
    arms, total = played(made, lotor.Samba, form, budget, restart=False, seconds=300)
    assert (arms, total) == (plain.arms, plain.reward)
