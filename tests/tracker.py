"""What Comp can do with its own view of a UCB run with 0/1 rewards: follow the possible states.

Each hypothesis is a multiset of (n, s), kept as a sorted tuple. A list of masked scores fits a
hypothesis when the two are proportional; the largest one is the arm that is pulled; its reward is
not seen, so that each hypothesis forks in two, and the next list tells which was right.
"""

from math import log, sqrt

State = tuple[tuple[int, int], ...]


def _score(n: int, s: int, t: int) -> float:
    return s / n + sqrt(2 * log(t) / n)


def _fits(state: State, observed: list[int], t: int) -> bool:
    predicted = sorted(_score(n, s, t) for n, s in state)
    scale = observed[-1] / predicted[-1]
    return all(
        abs(seen - scale * score) <= 1e-9 * observed[-1]
        for seen, score in zip(observed, predicted, strict=True)
    )


def track(lists: list[list[int]], k: int) -> set[State]:
    """The states before the last pull that agree with all lists of masked scores."""
    states: set[State] = {((1, 0),) * (k - ones) + ((1, 1),) * ones for ones in range(k + 1)}
    fitting: set[State] = set()
    for t, values in enumerate(lists, k + 1):
        fitting = {state for state in states if _fits(state, sorted(values), t)}
        states = set()
        for state in fitting:
            best = max(state, key=lambda arm: _score(arm[0], arm[1], t))
            rest = list(state)
            rest.remove(best)
            for reward in (0, 1):
                states.add(tuple(sorted([*rest, (best[0] + 1, best[1] + reward)])))
    return fitting
