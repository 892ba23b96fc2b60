"""What the paper proves of HELBA, as numbers to hold against a run.

Corollary 5: which arms may be taken. Proposition 7: how many estimates a run takes. Theorem 8: its
regret. The statement of Theorem 8 leaves two constants open; its proof ends with equation (101),
which has none, and that is what is computed here. It rests on Lemma 20, which needs ridge >= L^2:
the paper's own experiment has ridge = 1 and L = 5.5.
"""

from math import log, pi, sqrt

from lotor.policies.optimistic import BatchedOFUL


def most_updates(policy: BatchedOFUL, d: int, rounds: int) -> float:
    """How many estimates a run takes at most: Proposition 7, as printed.

    (Its proof has no 2 under the fraction of d, which would allow more.) Without a C, or with one
    that the proposition is not for, only what eta and the rounds allow.

    >>> paper = BatchedOFUL(index="sqrt", width="union", C=1, eta=0.1)
    >>> [round(most_updates(paper, 2, rounds)) for rounds in (130, 1_000, 5_000)]
    [67, 93, 113]
    """
    if policy.eta == 0:
        return rounds
    by_eta = log(rounds) / log(1 + policy.eta)
    if policy.C is None:
        return min(rounds, 1 + by_eta)
    length = policy.L**2
    base = 3 / 4 + policy.C - policy.L * policy.eta / sqrt(policy.ridge + length)
    if base <= 1:
        return rounds
    growth = d * log(1 + length * rounds / (policy.ridge * d))
    return min(rounds, 1 + growth / (2 * log(base)) + by_eta)


def regret_bound(policy: BatchedOFUL, d: int, rounds: int) -> float | None:
    """The regret that equation (101) allows with probability 1 - delta; None for other policies.

    >>> paper = BatchedOFUL(index="sqrt", width="union", C=1, eta=0.1)
    >>> regret_bound(BatchedOFUL(), 2, 130) is None
    True
    >>> round(regret_bound(paper, 2, 130)), round(regret_bound(paper, 2, 1_000_000))
    (5740, 459256)
    """
    own = (policy.index, policy.width) == ("sqrt", "union")
    if not own or policy.C is None or policy.eta == 0:
        return None
    ridge, length, eta = policy.ridge, policy.L, policy.eta
    growth = log(1 + length**2 * rounds / (ridge * d))
    union = log(pi**2 * rounds**2 / (6 * policy.delta))
    beta = 1 + sqrt(ridge) * policy.S + policy.sigma * sqrt(d * (growth + union))
    spread = 1 / ridge + 1 / sqrt(ridge)
    batches = most_updates(policy, d, rounds)
    choosing = (1 + log(rounds)) * (
        1 + beta * (6 + length * sqrt(spread) + sqrt(length / sqrt(ridge)))
    )
    batched = (eta**2 + length / sqrt(ridge + length**2) ** 3) * batches
    learning = sqrt(5 / 4 + policy.C + length**2 * spread) * sqrt(rounds) + batched
    inverting = 2 * sqrt(2 * length) * batches * beta * (1 + eta / sqrt(length))
    return choosing + beta * sqrt(2 * d * growth) * learning + inverting


def near_best(policy: BatchedOFUL, t: int, beta: float) -> float:
    """How far below the largest index that of an arm with b >= 1/(4t) may be: Corollary 5.

    There a user may take any such arm. Here it takes the arm of the largest b, which is one of
    them whenever any is.
    """
    ridge, length = policy.ridge, policy.L
    slack = sqrt(length / (t**1.5 * sqrt(ridge + length**2 * t)))
    root = length * sqrt(1 / ridge + 1 / sqrt(ridge))
    return 1 / t + beta / t * (2 / t + slack + root)
