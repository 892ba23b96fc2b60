"""For those who write a policy: does it keep its contract, and which protocols may run it?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from lotor.core.draws import Draws
from lotor.core.errors import PolicyError
from lotor.core.fixed_point import MAXIMAL_BUDGET, REWARD_ONE, Scores, to_scores
from lotor.crypto.prf import KEY_BYTES, Prf
from lotor.environments import ContextualArms, Environment, GraphArms, LinearContexts
from lotor.policies import (
    AnyPolicy,
    ArmSnapshot,
    ArmStates,
    ContextualPolicy,
    Genericity,
    LinearPolicy,
    OptimisticPolicy,
    Policy,
    check_genericity,
    check_iterations,
    to_text,
)
from lotor.protocols.plain import Agent, agent_of
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.run import run

_ARMS = 4
_ROUNDS = 40
_RING = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """Which protocols may run a policy.

    `protocols` has None for each protocol that runs it, or why it does not. `forms` has the same of
    each form of those that run it. `arm_score_locality` and `oblivious_selection` are the
    conditions of SAMBA's theorem: None, or why the condition fails.
    """

    policy: str
    arm_score_locality: str | None
    oblivious_selection: str | None
    protocols: Mapping[str, str | None]
    forms: Mapping[str, Mapping[str, str | None]]

    @property
    def fits_samba(self) -> bool:
        return self.arm_score_locality is None and self.oblivious_selection is None

    def __str__(self) -> str:
        fits = [
            f"{name} ({', '.join(form for form, reason in forms.items() if reason is None)})"
            for name, forms in self.forms.items()
        ]
        under = f"and under {' and '.join(fits)}" if fits else "only"
        lines = [f"{self.policy} runs in plain {under}"]
        refused = {
            f"{name} in its form {form}": reason
            for name, forms in self.forms.items()
            for form, reason in forms.items()
        } | dict(self.protocols)
        lines += [f"- not under {name}: {reason}" for name, reason in refused.items() if reason]
        return "\n".join(lines)


def check_policy(policy: AnyPolicy) -> PolicyReport:
    """Try a policy on a small run; raise `PolicyError` if it breaks the contract of its base class.

    >>> from lotor.policies import UCB, LinTS
    >>> check_policy(UCB()).fits_samba
    True
    >>> print(check_policy(LinTS()))  # doctest: +ELLIPSIS
    lints:... runs in plain and under linucb-ds (shared, dealt, paper, paper-live)
    - not under helba: ...
    """
    _check_kind(policy)
    if isinstance(policy, Policy):
        check_iterations(policy)
        _Trial(policy).run()
        _check_select(policy)
        found = check_genericity(policy)
    else:
        _check_run(policy)
        # Its scores come from a model that learns from the rewards of all arms or of all contexts.
        found = Genericity(f"it scores arms by {_agent(policy).sees}, too", None)
    forms = {name: kind.reasons(policy) for name, kind in PROTOCOLS.loadable()}
    return PolicyReport(
        to_text(policy),
        found.arm_score_locality,
        found.oblivious_selection,
        runs_under(policy),
        {
            name: {form: None if reason is None else str(reason) for form, reason in one.items()}
            for name, one in forms.items()
            if None in one.values()
        },
    )


def runs_under(policy: AnyPolicy) -> dict[str, str | None]:
    """For each protocol None if one of its forms runs the policy, or else why it does not."""
    own = _agent(policy)
    found: dict[str, str | None] = {}
    for name, kind in PROTOCOLS.loadable():
        reason = kind.why_not(policy)
        other = agent_of(kind.policy_kind()())
        if reason is not None and other is not None and other is not own:
            found[name] = f"its policies choose by {other.sees}, and this one by {own.sees}"
        else:
            found[name] = None if reason is None else str(reason)
    return found


def _agent(policy: AnyPolicy) -> type[Agent[Any]]:
    agent = agent_of(policy)
    if agent is None:
        raise PolicyError(
            f"{type(policy).__name__} is not a policy: derive it from Policy, LinearPolicy, "
            "ContextualPolicy or OptimisticPolicy"
        )
    return agent


def _check_kind(policy: AnyPolicy) -> None:
    parameters = getattr(type(policy), "__dataclass_params__", None)
    if agent_of(policy) is None or parameters is None or not parameters.frozen:
        raise PolicyError(
            f"{type(policy).__name__} is not a frozen dataclass derived from Policy, LinearPolicy, "
            "ContextualPolicy or OptimisticPolicy: its fields are its parameters, and all that "
            "changes belongs in its arms or its model"
        )


def _check_run(policy: LinearPolicy | ContextualPolicy | OptimisticPolicy) -> None:
    """Run it twice with one seed: a policy whose choices differ keeps state outside its model."""
    environment: Environment = (
        GraphArms(_RING, values=[0.2, 0.5, 0.8, 0.5])
        if isinstance(policy, LinearPolicy)
        else ContextualArms.lookalike(_ROUNDS, _ARMS, 3, seed=1)
        if isinstance(policy, ContextualPolicy)
        else LinearContexts.toy(_ROUNDS, seed=1)
    )
    suited = _agent(policy).suited(policy, environment, ())
    first, again = (run(suited, environment, budget=_ROUNDS, seed=7) for _ in range(2))
    if not first.agrees_with(again):
        raise PolicyError(
            "two runs with one seed differ: keep all that changes in the model that `start` "
            "returns, and take randomness from nowhere else"
        )
    if isinstance(policy, LinearPolicy):
        _check_model(policy)


def _check_model(policy: LinearPolicy) -> None:
    """A model that is written down must go on as it was."""
    arms = GraphArms(_RING, values=[0.2, 0.5, 0.8, 0.5])
    one, other = (
        policy.start(arms.vectors, budget=_ROUNDS, eigenvalues=arms.eigenvalues) for _ in range(2)
    )
    for t in range(1, _ARMS + 1):
        one.update(t - 1, 0.25)
        other.restore(one.snapshot())
        pairs = zip(one.coefficients(t), other.coefficients(t), strict=True)
        if not all(np.array_equal(mine, theirs) for mine, theirs in pairs):
            raise PolicyError(
                f"the scores after {t} pulls change when the model is written down and restored: "
                "let `snapshot` write down all that they depend on"
            )


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
