"""Was this context used? Two adversaries guess it from the arms, beside the accountant's figures.

The first is that of the paper's Figure 6 (Yeom et al., 2018): it sees the model act once. The
second knows everything but one context and sees every arm. Their advantage is the rate of true
positives less that of false positives: 0 is guessing, 1 is certainty.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import sem

import lotor
from lotor.privacy import Accountant
from lotor.protocols.ppcb.membership_attacks import PlayedRun, chances

Floats = NDArray[np.float64]
EPSILONS, STAGES, STEPS = (0.02, 0.1, 0.5), (100, 400, 1200), (1, 10, 100, 400)
digits = lotor.ContextualArms.digits()
X, paid = digits.contexts, digits.rewards
rng = np.random.default_rng(7)


def sees_one_arm(epsilon: float) -> list[float]:
    """Figure 6: a member, if p(reward | arm) is larger among known members than among others."""
    rows = rng.permutation(len(X))
    model = lotor.LinearEpsilonGreedy(epsilon).start(digits.k, digits.d)
    advantages = []
    for t, row in enumerate(rows[: STAGES[-1]], 1):
        arm = int(rng.choice(digits.k, p=chances(model.scores(X[row]), epsilon)))
        model.update(arm, X[row], paid[row, arm])
        if t in STAGES:
            likely = chances(X @ model.weights.T, epsilon)
            arms = (likely.cumsum(axis=1)[:, :-1] < rng.random((len(X), 1))).sum(axis=1)
            seen = 2 * arms + paid[np.arange(len(X)), arms].astype(int)
            members, others = seen[rows[:t]], seen[rows[STAGES[-1] :]]
            # It knows half of each and guesses the rest, lest chance look like knowledge.
            p = []
            for known in (members[::2], others[::2]):
                counts = np.bincount(known, minlength=2 * digits.k).reshape(-1, 2)
                p.append(counts / np.maximum(1, counts.sum(axis=1, keepdims=True)))
            guess = (p[0] > p[1]).ravel()
            advantages.append(float(guess[members[1::2]].mean() - guess[others[1::2]].mean()))
    return advantages


def sees_every_arm(epsilon: float) -> Floats:
    """How much more likely the arms are than had another context come first (logarithm)."""
    other, *rows = rng.choice(len(X), STEPS[-1] + 1, replace=False)
    policy, world = lotor.LinearEpsilonGreedy(epsilon), lotor.ContextualArms(X[rows], paid[rows])
    arms = lotor.run(policy, world, budget=len(rows), seed=int(rng.integers(2**32))).arms
    assert arms is not None
    real = PlayedRun(policy, digits.k, X[rows], arms, paid[rows, arms])
    changed = real.but_for(0, X[other], paid[other, arms[0]])
    return np.cumsum(real.log_likelihoods() - changed.log_likelihoods())


print("Sees one arm: its advantage (± standard error) after", *STAGES, "steps")
for epsilon in EPSILONS:
    table = np.array([sees_one_arm(epsilon) for _ in range(20)])
    found = ", ".join(f"{m:+.3f} ± {s:.3f}" for m, s in zip(table.mean(0), sem(table), strict=True))
    print(f"  epsilon {epsilon:4}: {found}")
print("Sees every arm: its advantage | largest log-likelihood ratio | bound: one step, whole run")
for epsilon in EPSILONS:
    runs = np.array([sees_every_arm(epsilon) for _ in range(16)])
    accountant = Accountant(digits.k, epsilon)
    for t in STEPS:
        # Either context may be the true one: an advantage is right less wrong guesses.
        found = f"{np.sign(runs[:, t - 1]).mean():+.2f} | {runs[:, t - 1].max():5.1f}"
        bounds = f"{accountant.per_step:.2f}, {accountant.total(t):6.1f}"
        print(f"  epsilon {epsilon:4} after {t:3} steps: {found} | {bounds}")
