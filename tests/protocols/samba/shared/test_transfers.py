"""With real base transfers, as everybody runs it."""

import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Message
from lotor.core.errors import LotorError
from lotor.protocols.garbled import messages as garbled
from mallory import Mallory, altered

pytestmark = pytest.mark.usefixtures("real_transfers")


def test_runs_with_real_transfers_differ_in_nothing_but_their_keys() -> None:
    samba, arms = lotor.Samba(lotor.UCB(), owners=2), lotor.BernoulliArms([0.9, 0.5, 0.1])
    assert samba.form == "shared"
    first, second = (lotor.run(samba, arms, budget=60, seed=7) for _ in range(2))
    plain = lotor.run(samba.plain(), arms, budget=60, seed=7)
    assert first.arms == second.arms == plain.arms
    assert first.reward == second.reward == plain.reward
    assert first.run != second.run


@pytest.mark.parametrize(
    ("kind", "field"), [(garbled.BaseOffer, "offer"), (garbled.BaseAnswer, "answer")]
)
def test_base_transfers_that_are_none_are_refused(kind: type[Message], field: str) -> None:
    for change in (lambda data: data[:-1], lambda data: bytes(len(data)), lambda _: b""):
        with pytest.raises(LotorError):
            run_openly(
                lotor.Samba(),
                lotor.BernoulliArms([0.9, 0.5]),
                budget=4,
                transport=Mallory(kind, altered(field, change), 0),
            )
