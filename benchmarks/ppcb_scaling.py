"""How a step grows with arms and with feature parties: CPU of all parties, in one process."""

from collections.abc import Sequence

import numpy as np
from measure import per_round
from rich.table import Table
from tables import table, verdict

import lotor
from lotor.runtime.pull_log import Progress

ARMS = (10, 20, 50, 100)
OWNERS = (2, 4, 6, 8)
EXPONENT_AIM = 2.0


def milliseconds(arms: lotor.ContextualArms, owners: int, steps: int) -> float:
    """Of a step, tracing the circuits left out."""

    def start(budget: int, progress: Progress) -> None:
        protocol = lotor.PPCB(form="dealt", owners=owners)
        lotor.run(protocol, arms, budget=budget, seed=7, progress=progress)

    return per_round(0, steps, start) / 1e3


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    slope: float = np.polyfit(np.log(sizes), np.log(costs), 1)[0]
    return slope


def by_arms(steps: int) -> Table:
    contexts = lotor.ContextualArms.digits().contexts
    made = table(
        "4. A step by the number of arms (K-means clusters of the digits), CPU ms, two feature "
        "parties",
        *("arms", "CPU ms", "exponent from the row above"),
    )
    costs: list[float] = []
    for k in ARMS:
        arms = lotor.ContextualArms.kmeans(contexts, k, seed=7)
        costs.append(milliseconds(arms, 2, steps))
        n = len(costs)
        local = f"{exponent(ARMS[n - 2 : n], costs[n - 2 :]):.2f}" if n > 1 else ""
        made.add_row(str(k), f"{costs[-1]:.2f}", local)
    fitted = exponent(ARMS, costs)
    made.caption = f"fitted exponent {fitted:.2f}: {verdict(fitted, EXPONENT_AIM, at_most=True)}"
    return made


def by_owners(steps: int) -> Table:
    digits = lotor.ContextualArms.digits()
    made = table(
        "5. A step by the number of feature parties, CPU ms, 10 arms",
        *("parties", "CPU ms", "a line says"),
    )
    costs = [milliseconds(digits, owners, steps) for owners in OWNERS]
    slope, base = np.polyfit(OWNERS, costs, 1)
    for owners, cost in zip(OWNERS, costs, strict=True):
        made.add_row(str(owners), f"{cost:.2f}", f"{base + slope * owners:.2f}")
    made.caption = f"each further party adds {slope:.3f} ms ({slope / costs[0]:.1%})"
    return made
