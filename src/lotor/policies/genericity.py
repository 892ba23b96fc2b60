"""Does a policy meet the two conditions of SAMBA's genericity theorem (Theorem 1)? By trying.

Arm score locality: an owner computes its arm's score from that arm's variables alone.
Oblivious selection: the arm can be selected from permuted and masked scores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lotor.core.draws import Draws, Words
from lotor.core.errors import LotorError
from lotor.core.fixed_point import REWARD_ONE, Scores, to_scores
from lotor.policies.base import ArmStates, Policy

_ARMS = 4
_ROUNDS = 24
_LISTS = 40


@dataclass(frozen=True, slots=True)
class Genericity:
    """What was found: for each condition None, or why it fails."""

    arm_score_locality: str | None
    oblivious_selection: str | None


class _ProbeWords:
    """Words that depend on the place and the arm only, as an owner's PRF does."""

    def __init__(self, indices: Sequence[int]) -> None:
        self._indices = indices

    def words(self, label: int, t: int, l: int) -> Words:
        return np.array(
            [
                np.random.SeedSequence([label, t, l, i]).generate_state(1, np.uint64)[0]
                for i in self._indices
            ],
            dtype=np.uint64,
        )

    def integers(self, label: int, t: int, l: int) -> tuple[int, ...]:
        return tuple(self.words(label, t, l).tolist())


class _Holder:
    """A party that holds some arms."""

    def __init__(self, policy: Policy, indices: Sequence[int]) -> None:
        self.policy = policy
        self.indices = list(indices)
        self.arms = ArmStates(len(self.indices), _ARMS)
        self.draws = Draws(_ProbeWords(self.indices), _ProbeWords([0]))
        policy.start(self.arms)

    def score(self, t: int, l: int) -> Scores:
        return to_scores(self.policy.score(self.arms, t, l, self.draws.at(t, l)))

    def observe(self, t: int, l: int, winner: int) -> None:
        self.policy.observe(self.arms, t, l, np.array([i == winner for i in self.indices]))

    def learn(self, t: int, winner: int, reward: int) -> None:
        if winner in self.indices:
            draw = self.draws.at(t, 0)
            self.policy.learn(self.arms, self.indices.index(winner), reward, draw)


def check_genericity(policy: Policy) -> Genericity:
    """Try the policy on small runs and on permuted and masked lists of scores."""
    return Genericity(_locality(policy), _obliviousness(policy))


def _locality(policy: Policy) -> str | None:
    """Score the same history with all arms in one place and with each arm alone."""
    if policy.looks_for_best:
        return (
            "it ends the run when it is sure of the best arm, which takes the means of all arms "
            "together"
        )
    rng = np.random.default_rng(1)
    together = _Holder(policy, range(_ARMS))
    try:
        alone = [_Holder(policy, [i]) for i in range(_ARMS)]
        for t in range(1, _ROUNDS + 1):
            winner = t - 1 if t <= _ARMS else int(rng.integers(_ARMS))
            for l in range(1, policy.iterations + 1) if t > _ARMS else ():
                scores = together.score(t, l)
                if not np.array_equal(scores, together.score(t, l)):
                    return f"the score at round {t} changes when it is computed again"
                apart = np.concatenate([holder.score(t, l) for holder in alone])
                if not np.array_equal(scores, apart):
                    arm = int(np.flatnonzero(scores != apart)[0])
                    return f"the score of arm {arm} at round {t} depends on the data of other arms"
                winner = int(scores.argmax())
                for holder in (together, *alone):
                    holder.observe(t, l, winner)
            reward = int(rng.integers(5)) * REWARD_ONE // 4
            for holder in (together, *alone):
                holder.learn(t, winner, reward)
    except LotorError:
        raise
    except Exception as error:
        return f"arms cannot be scored together and alone: {type(error).__name__}: {error}"
    return None


def _obliviousness(policy: Policy) -> str | None:
    """Select from lists as they are, permuted, and masked: the same arm must win."""
    rng = np.random.default_rng(2)
    for case in range(_LISTS):
        # Scores and masks of every size, so that a threshold anywhere shows.
        scores = rng.random(6) * 2.0 ** rng.integers(-8, 4)
        values = [int(v) << 64 | int(rng.integers(1 << 62)) for v in to_scores(scores)]
        order = [int(j) for j in rng.permutation(len(values))]
        mask = 1 << int(rng.integers(64, 96)) | int(rng.integers(1 << 62))
        permuted = [values[j] for j in order]
        masked = [value * mask >> 64 for value in values]
        for t in (101 + case, 102 + case):
            for l in range(1, policy.iterations + 1):
                select = _selector(policy, t, l)
                arm = select(values)
                if arm is None:
                    return "an arm cannot be selected from a list of scores"
                by_position = select(permuted)
                if by_position is None or order[by_position] != arm:
                    return "the selected arm depends on the order of the arms (permutation)"
                if select(masked) != arm:
                    return "the selected arm depends on more than the order of scores (mask)"
    return None


def _selector(policy: Policy, t: int, l: int) -> Callable[[list[int]], int | None]:
    def select(values: list[int]) -> int | None:
        try:
            position = int(policy.select(values, t, l))
        except (ValueError, IndexError, TypeError):
            return None
        return position if 0 <= position < len(values) else None

    return select
