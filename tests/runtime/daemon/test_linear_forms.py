"""LinUCB-DS on shares as daemons: the arms and the total of plain, whoever restarts."""

from pathlib import Path

import numpy as np
import pytest

import lotor
from lotor.environments.sources import MadeUpArms
from lotor.protocols.linucb_ds.shared.schedule import MOST_DIMENSIONS
from lotor.protocols.protocol import SecureProtocol
from runtime.daemon.forms import played
from surveys import survey_federation

pytestmark = pytest.mark.usefixtures("real_transfers")

SEED = 7
FORMS = ["shared", "dealt"]


def equals_plain(
    folder: Path,
    protocol: SecureProtocol,
    arms: MadeUpArms,
    budget: int,
    *,
    restart: bool,
    seconds: float = 90.0,
) -> None:
    made = survey_federation(folder, protocol, arms, seed=SEED)
    made.prepare()
    plain = lotor.run(protocol.plain(), arms.arms(), budget=budget, seed=SEED)
    found = played(made, type(protocol), protocol.form, budget, restart=restart, seconds=seconds)
    assert found == (plain.arms, plain.reward)


@pytest.mark.parametrize("form", FORMS)
def test_daemons_equal_plain_though_each_is_restarted(form: str, tmp_path: Path) -> None:
    arms = MadeUpArms(lotor.LinearArms, [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], [0.7, 0.5])
    equals_plain(tmp_path, lotor.LinUCBDS(form=form), arms, 40, restart=True)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_as_many_dimensions_as_fit(form: str, tmp_path: Path) -> None:
    """Comp's encrypted share of theta is far more than a connection holds at once."""
    generator = np.random.default_rng(4)
    vectors = generator.normal(size=(3, MOST_DIMENSIONS)).round(3)
    theta = np.full(MOST_DIMENSIONS, 0.5 / np.sqrt(MOST_DIMENSIONS))
    arms = MadeUpArms(lotor.LinearArms, vectors.tolist(), theta.tolist())
    equals_plain(tmp_path, lotor.LinUCBDS(form=form), arms, 6, restart=False, seconds=300)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_a_thousand_arms_in_ten_dimensions(form: str, tmp_path: Path) -> None:
    """Circuits, rows and shares of so many arms are cut to frames."""
    generator = np.random.default_rng(3)
    vectors = generator.normal(size=(1000, 10)).round(3)
    theta = (0.3 * generator.normal(size=10)).round(3)
    theta *= 0.9 / np.sqrt(np.square(theta).sum())
    arms = MadeUpArms(lotor.LinearArms, vectors.tolist(), theta.tolist())
    equals_plain(tmp_path, lotor.LinUCBDS(form=form), arms, 30, restart=False, seconds=300)
