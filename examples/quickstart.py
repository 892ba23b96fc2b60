"""Secure beside plain: the same arms, the same total, and what it costs."""

import lotor
from lotor.environments import lookalike

arms = lookalike("movielens-like", 10)
for policy in (lotor.UCB(), lotor.ThompsonSampling()):
    samba = lotor.Samba(policy)
    secure = lotor.run(samba, arms, budget=500, seed=7)
    plain = lotor.run(samba.plain(), arms, budget=500, seed=7)
    assert secure.arms == plain.arms
    assert secure.reward == plain.reward
    ratio = secure.cpu_seconds / plain.cpu_seconds
    print(f"{policy}: total {secure.reward:g}, {ratio:.0f} times the CPU of plain")
