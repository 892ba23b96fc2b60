"""Policies for arms without vectors or contexts, under SAMBA and in plain."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import lotor
from golden.cases import Case, built, text

BUDGET = 60
SMALL_KEY = 256


def one_over_root(t: int) -> float:
    """A schedule of the user's own."""
    return float(t**-0.5)


POLICIES: dict[str, Any] = {
    "UCB": built(lotor.UCB),
    "KLUCB": built(lotor.KLUCB),
    "KLUCB c=3": built(lotor.KLUCB, c=3),
    "DiscountedUCB gamma=0.9": built(lotor.DiscountedUCB, gamma=0.9),
    "SlidingWindowUCB tau=20, xi=1": built(lotor.SlidingWindowUCB, tau=20, xi=1),
    "ThompsonSampling": built(lotor.ThompsonSampling),
    "Softmax": built(lotor.Softmax),
    "Softmax tau=0.3": built(lotor.Softmax, tau=0.3),
    "Pursuit": built(lotor.Pursuit),
    "Pursuit beta=0.4": built(lotor.Pursuit, beta=0.4),
    "EpsilonGreedy": built(lotor.EpsilonGreedy),
    "EpsilonGreedy 0.4": built(lotor.EpsilonGreedy, 0.4),
    "EpsilonGreedy 1/ln": built(lotor.EpsilonGreedy, "1/ln"),
    "EpsilonGreedy 1/log2": built(lotor.EpsilonGreedy, "1/log2"),
    "EpsilonGreedy function": lambda: lotor.EpsilonGreedy(one_over_root),
}
PLAIN_POLICIES: dict[str, Any] = {
    "ReinforcementComparison": built(lotor.ReinforcementComparison),
    "ReinforcementComparison alpha=0.3, beta=0.9": built(
        lotor.ReinforcementComparison, alpha=0.3, beta=0.9
    ),
}


def paid(arm: int, decision: lotor.Decision) -> float:
    """Between -5 and 20, and never the same for long."""
    return (decision.round * 37 + arm * 61) % 101 / 4 - 5


async def paid_later(arm: int, decision: lotor.Decision) -> float:
    return paid(arm, decision)


def callbacks(function: Any, k: int) -> lotor.CallbackArms:
    return lotor.CallbackArms(
        [partial(function, arm) for arm in range(k)], reward_range=(-5.0, 20.25)
    )


ARMS: dict[str, Any] = {
    "Bernoulli": built(lotor.BernoulliArms, [0.9, 0.5, 0.1, 0.6]),
    "callbacks": lambda: callbacks(paid, 3),
    "async callbacks": lambda: callbacks(paid_later, 3),
    "always 1": built(lotor.BernoulliArms, [1.0] * 5),
    "never 1": built(lotor.BernoulliArms, [0.0] * 3),
    "one arm": built(lotor.BernoulliArms, [0.4]),
    "12 arms": built(lotor.BernoulliArms, [i / 12 for i in range(12)]),
    "ratings": built(lotor.RatingArms, [0.7, 0.6, 0.2], [31, 4, 15], "made up"),
    "linear": built(
        lotor.LinearArms, [[1, 0], [0, 1], [0.6, -0.8]], theta=[0.7, 0.3], noise_sd=0.2
    ),
    "graph": built(
        lotor.GraphArms,
        [[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 3], [0, 0, 3, 0]],
        values=[0.1, 0.2, 0.4, 0.3],
    ),
}
# Of SAMBA, beside the policy.
OPTIONS: tuple[dict[str, Any], ...] = (
    {"owners": 2},
    {"owners": 4},
    {"selection": "position"},
    {"owners": 3, "selection": "position"},
)


def samba(policy: str, **options: Any) -> Any:
    return built(
        lotor.Samba, POLICIES[policy], form="paper", insecure_key_bits=SMALL_KEY, **options
    )


def cases() -> Iterator[Case]:
    for policy in POLICIES:
        for arms in ("Bernoulli", "callbacks"):
            yield Case(f"Samba {policy} on {arms}", samba(policy), ARMS[arms], BUDGET)
        spread = {"owners": 3, "selection": "position"}
        yield Case(
            f"Samba {policy} on Bernoulli, {text(spread)}",
            samba(policy, **spread),
            ARMS["Bernoulli"],
            BUDGET,
            seed=8,
        )
    for policy in ("UCB", "Pursuit"):
        for options in OPTIONS:
            yield Case(
                f"Samba {policy}, {text(options)}",
                samba(policy, **options),
                ARMS["Bernoulli"],
                BUDGET,
            )
    for policy in ("UCB", "ThompsonSampling"):
        for where, arms in ARMS.items():
            name = f"Samba {policy} on {where}, seed 0"
            yield Case(name, samba(policy), arms, 30, seed=0, exact=where != "graph")
    large = 2**48 - 1
    yield Case("Samba UCB, large seed", samba("UCB"), ARMS["Bernoulli"], BUDGET, seed=large)
    yield Case("Samba UCB, each arm once", samba("UCB"), ARMS["Bernoulli"], 4)
    for policy, kind in {**POLICIES, **PLAIN_POLICIES}.items():
        yield Case(f"{policy} alone", kind, ARMS["12 arms"], 200, seed=3)
    for policy, kind in PLAIN_POLICIES.items():
        yield Case(f"{policy} on callbacks", kind, ARMS["callbacks"], BUDGET)
