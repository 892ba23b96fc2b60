"""A policy that sees a context before each choice, under PPCB and in plain."""

from collections.abc import Iterator
from typing import Any

import lotor
from golden.cases import Case, built, text

BUDGET = 30

CONTEXTS = [[(t * 7 % 11) / 20, (t * 5 % 13) / 20, 0.3] for t in range(BUDGET)]
PAID = [[x + y - 0.5, 2 * y, 1 - x] for x, y, _ in CONTEXTS]
CHANCES = [[x, y, 1 - x] for x, y, _ in CONTEXTS]

ARMS: dict[str, Any] = {
    "lookalike": built(lotor.ContextualArms.lookalike, rounds=200, arms=3, d=4, seed=1),
    "table": built(lotor.ContextualArms, CONTEXTS, PAID, reward_range=(-1.0, 3.0)),
    "bernoulli": built(lotor.ContextualArms.bernoulli, CONTEXTS, CHANCES),
    "kmeans": built(lotor.ContextualArms.kmeans, CONTEXTS, 4, seed=2, sigma=0.3),
    "8 arms": built(lotor.ContextualArms.lookalike, rounds=BUDGET, arms=8, d=5, seed=4),
}
# Of the policy.
POLICIES: tuple[dict[str, Any], ...] = (
    {},
    {"epsilon": 0.0},
    {"epsilon": 0.5},
    {"epsilon": 1.0},
    {"ridge": 2.0},
    {"epsilon": 0.3, "ridge": 5.0},
)
PLAIN_POLICIES: tuple[dict[str, Any], ...] = (
    {"ridge": 0.25},
    {"recompute": 3},
    {"epsilon": 0.3, "ridge": 4.0, "recompute": 1},
)
# Of the protocol.
OPTIONS: tuple[dict[str, Any], ...] = (
    {"epsilon": 0.3},
    {"bits": 16},
    {"bits": 24},
    {"owners": 1},
    {"owners": 4},
    {"delay": 1},
    {"delay": 6},
    {"privacy_budget": 40.0},
    {"privacy_budget": 40.0, "delta": 0.01},
    {"epsilon": 0.3, "privacy_budget": 20.0, "delay": 2, "owners": 3, "bits": 18},
)


def cases() -> Iterator[Case]:
    usual = ARMS["lookalike"]
    for options in POLICIES:
        secure = built(lotor.PPCB, built(lotor.LinearEpsilonGreedy, **options))
        yield Case(f"PPCB with {text(options)}", secure, usual, BUDGET)
    for options in (*POLICIES, *PLAIN_POLICIES):
        policy = built(lotor.LinearEpsilonGreedy, **options)
        yield Case(f"LinearEpsilonGreedy {text(options)}", policy, usual, 200, seed=3)
    for options in OPTIONS:
        yield Case(f"PPCB {text(options)}", built(lotor.PPCB, **options), usual, BUDGET, seed=5)
    for where, arms in ARMS.items():
        yield Case(f"PPCB on {where}", built(lotor.PPCB, epsilon=0.2), arms, BUDGET, seed=0)
