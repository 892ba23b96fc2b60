"""What a curious party can do with its view of a UCB run with 0/1 rewards: follow the states.

For Comp, each hypothesis is a multiset of (n, s), kept as a sorted tuple. A list of masked scores
fits a hypothesis when the two are proportional; the largest one is the arm that is pulled; its
reward is not seen, so that each hypothesis forks in two, and the next list tells which was right.
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


def other_arm(own: list[int | None]) -> set[int]:
    """The possible sums of the other of two arms, from one owner's rewards (None: not pulled).

    A bit says which of the two scores is the larger one, so that each of the owner's own pulls
    bounds the other's sum from above, and each of the other's pulls from below.
    """
    n, s = 1, own[0] or 0
    possible = {0, 1}
    last = max(t for t, reward in enumerate(own, 1) if reward is not None)
    for t, reward in enumerate(own[2:last], 3):
        mine, others_n = _score(n, s, t), t - 1 - n
        if reward is None:
            kept = {total for total in possible if _score(others_n, total, t) >= mine - 1e-9}
            possible = kept | {total + 1 for total in kept}
        else:
            possible = {total for total in possible if _score(others_n, total, t) <= mine + 1e-9}
            n, s = n + 1, s + reward
    return possible
