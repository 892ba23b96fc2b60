"""With real base transfers, as everybody runs it."""

import lotor


def test_runs_with_real_transfers_differ_in_nothing_but_their_keys() -> None:
    samba, arms = lotor.Samba(lotor.UCB(), owners=2), lotor.BernoulliArms([0.9, 0.5, 0.1])
    assert samba.form == "shared"
    first, second = (lotor.run(samba, arms, budget=60, seed=7) for _ in range(2))
    plain = lotor.run(samba.plain(), arms, budget=60, seed=7)
    assert first.arms == second.arms == plain.arms
    assert first.reward == second.reward == plain.reward
    assert first.run != second.run
