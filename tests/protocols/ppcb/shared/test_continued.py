"""A kept model without a dealer: gone on from, or used as it is."""

import pytest

import lotor
from lotor.core.errors import InputError
from protocols.ppcb.stage import some_arms

ARMS = some_arms(9, rounds=60, k=3, d=4)


@pytest.mark.parametrize("delay", [0, 2])
def test_two_runs_decide_like_one(delay: int) -> None:
    kept = lotor.PPCB(epsilon=0.2, keep=True)
    whole = lotor.run(lotor.PPCB(epsilon=0.2).plain(), ARMS, budget=40, seed=1)
    first = lotor.run(kept, ARMS, budget=23, seed=1)
    further = lotor.run(lotor.PPCB(epsilon=0.2), ARMS, budget=17, seed=1, continues=first)
    assert first.arms is not None
    assert further.arms is not None
    assert first.arms + further.arms == whole.arms
    if delay:
        late = lotor.PPCB(epsilon=0.2, delay=delay, keep=True)
        begun = lotor.run(late, ARMS, budget=10, seed=1)
        plain = lotor.run(late.plain(), ARMS, budget=10, seed=1)
        assert begun.agrees_with(plain)
        again = lotor.PPCB(epsilon=0.2, delay=delay)
        secure = lotor.run(again, ARMS, budget=10, seed=1, continues=begun)
        assert secure.agrees_with(
            lotor.run(again.plain(), ARMS, budget=10, seed=1, continues=plain)
        )


def test_predicting_takes_no_rewards_and_leaves_the_model() -> None:
    kept = lotor.PPCB(epsilon=0.2, keep=True)
    first = lotor.run(kept, ARMS, budget=20, seed=1)
    asked = lotor.PPCB(epsilon=0.1, predict=True)
    predicted = [lotor.run(asked, ARMS, budget=20, seed=1, continues=first) for _ in range(2)]
    plain = lotor.run(kept.plain(), ARMS, budget=20, seed=1)
    expected = lotor.run(asked.plain(), ARMS, budget=20, seed=1, continues=plain)
    assert predicted[0].arms == predicted[1].arms == expected.arms
    assert predicted[0].reward == 20


def test_a_model_is_gone_on_from_in_its_own_form() -> None:
    first = lotor.run(lotor.PPCB(keep=True), ARMS, budget=5, seed=1)
    with pytest.raises(InputError, match="form"):
        lotor.run(lotor.PPCB(form="dealt"), ARMS, budget=5, seed=1, continues=first)
