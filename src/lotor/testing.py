"""For those who write a policy: does it keep its contract, and may it run under SAMBA?"""

from dataclasses import dataclass

import msgspec
import numpy as np

from lotor.core.draws import Draws
from lotor.core.errors import PolicyError
from lotor.core.fixed_point import MAXIMAL_BUDGET, REWARD_ONE, Scores, to_scores
from lotor.crypto.prf import KEY_BYTES, Prf
from lotor.policies import (
    ArmSnapshot,
    ArmStates,
    Policy,
    check_genericity,
    check_iterations,
    to_text,
)

_ARMS = 4
_ROUNDS = 40


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """Whether a policy may run under SAMBA: for each condition, None or why it fails."""

    policy: str
    arm_score_locality: str | None
    oblivious_selection: str | None

    @property
    def fits_samba(self) -> bool:
        return self.arm_score_locality is None and self.oblivious_selection is None

    def __str__(self) -> str:
        if self.fits_samba:
            return f"{self.policy} runs in plain and under SAMBA"
        lines = [f"{self.policy} runs in plain only:"]
        if self.arm_score_locality is not None:
            lines.append(f"- arm score locality fails: {self.arm_score_locality}")
        if self.oblivious_selection is not None:
            lines.append(f"- oblivious selection fails: {self.oblivious_selection}")
        return "\n".join(lines)


def check_policy(policy: Policy) -> PolicyReport:
    """Try a policy on a small run; raise `PolicyError` if it breaks the contract of `Policy`.

    >>> from lotor.policies import UCB, ReinforcementComparison
    >>> check_policy(UCB()).fits_samba
    True
    >>> print(check_policy(ReinforcementComparison()))  # doctest: +ELLIPSIS
    reinforcement-comparison:alpha=0.1,beta=0.1 runs in plain only:
    - arm score locality fails: ...
    """
    _check_kind(policy)
    _Trial(policy).run()
    _check_select(policy)
    found = check_genericity(policy)
    return PolicyReport(to_text(policy), found.arm_score_locality, found.oblivious_selection)


def _check_kind(policy: Policy) -> None:
    parameters = getattr(type(policy), "__dataclass_params__", None)
    if not isinstance(policy, Policy) or parameters is None or not parameters.frozen:
        raise PolicyError(
            f"{type(policy).__name__} is not a frozen dataclass derived from Policy: its fields "
            "are its parameters, and all that changes belongs in ArmStates"
        )
    check_iterations(policy)


def _check_select(policy: Policy) -> None:
    values = [score << 64 for score in to_scores(np.array([0.3, 0.1, 0.4, 0.9, 0.5])).tolist()]
    for l in range(1, policy.iterations + 1):
        try:
            position = policy.select(list(values), _ARMS + 1, l)
        except (ValueError, IndexError, TypeError):
            return  # check_genericity reports it
        if type(position) is not int or position not in range(len(values)):
            raise PolicyError(
                f"select gave {position!r} for a list of {len(values)} scores: "
                "return a position in the list as an int"
            )


def _written(arms: ArmStates) -> tuple[ArmSnapshot, list[float]]:
    return arms.snapshot(), arms.mean.tolist()


class _Trial:
    """A run of one agent that checks every call of the policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._arms = ArmStates(_ARMS, _ARMS)
        self._draws = Draws(Prf(bytes(KEY_BYTES), range(_ARMS)), Prf(b"\1" * KEY_BYTES, [0]))

    def run(self) -> None:
        policy = self._policy
        policy.start(self._arms)
        for t in range(1, _ROUNDS + 1):
            winner = (t - 1) % _ARMS
            for l in range(1, policy.iterations + 1) if t > _ARMS else ():
                winner = int(self._pure_score(t, l).argmax())
                self._score(self._arms, MAXIMAL_BUDGET, l)
                policy.observe(self._arms, t, l, np.arange(_ARMS) == winner)
            # Arm 0 pays nothing and arm 1 everything: the ends of the range of means.
            self._learn(t, winner, (0, 4, 1, t % 5)[winner] * REWARD_ONE // 4)

    def _score(self, arms: ArmStates, t: int, l: int) -> Scores:
        scores = self._policy.score(arms, t, l, self._draws.at(t, l))
        shape = (len(arms),)
        if not isinstance(scores, np.ndarray) or scores.dtype.kind not in "fiu":
            raise PolicyError(
                f"score gave a {type(scores).__name__} that is not an array of numbers: "
                "return a vector of float64, one score for each arm held"
            )
        if scores.shape != shape:
            raise PolicyError(
                f"score gave an array of shape {scores.shape} for {len(arms)} arms: "
                f"return one of shape {shape}"
            )
        return to_scores(scores)

    def _pure_score(self, t: int, l: int) -> Scores:
        before = _written(self._arms)
        scores = self._score(self._arms, t, l)
        if _written(self._arms) != before:
            raise PolicyError(
                f"score changed the arms at round {t}: keep what a round leaves behind in "
                "observe or learn, because a restarted party scores again"
            )
        if not np.array_equal(scores, self._score(self._arms, t, l)):
            raise PolicyError(
                f"two calls of score at round {t} differ: take randomness from `draw` only"
            )
        wire = msgspec.msgpack.encode(before[0])
        restored = ArmStates.restore(msgspec.msgpack.decode(wire, type=ArmSnapshot))
        if not np.array_equal(scores, self._score(restored, t, l)):
            raise PolicyError(
                f"the scores at round {t} change when the arms are written down and restored: "
                "keep a policy's variables in arms.own, as vectors of float64"
            )
        return scores

    def _learn(self, t: int, i: int, reward: int) -> None:
        arms = self._arms
        n, s = arms.n.tolist(), arms.s.tolist()
        n[i] += 1
        s[i] += reward
        self._policy.learn(arms, i, reward, self._draws.at(t, 0))
        counted = arms.n.tolist() == n and arms.s.tolist() == s
        if not counted or arms.mean[i] != s[i] / (n[i] * REWARD_ONE):
            raise PolicyError(
                f"learn did not count the pull of arm {i} at round {t}: call arms.add(i, reward) "
                "exactly once, with the reward as it came"
            )
