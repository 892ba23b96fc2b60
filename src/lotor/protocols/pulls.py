"""How decisions are pulled and when their outcomes are learned from, in plain and secure alike."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

from lotor.core.draws import Draws
from lotor.core.durations import in_words
from lotor.core.effects import Collect, Decision, Effect, Issue, KnownOutcome, Pull, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import REWARD_ONE, RewardScale
from lotor.core.wording import counted
from lotor.policies import ArmStates, Policy
from lotor.protocols.delays import NO_DELAY


@dataclass(frozen=True, slots=True)
class OutcomeRules:
    """How many decisions may wait for their outcomes, and when those that came are counted.

    `together` rounds, from round `first` on, are scored on the same outcomes. When such rounds
    begin, with their own decisions at most `outstanding` have no outcome; other outcomes are waited
    for. With 1, a decision is made when the outcome of the one before it is known. With `settle`,
    what has not come so many seconds after the last round never counts.
    """

    first: int
    outstanding: int = 1
    together: int = 1
    settle: float | None = None

    def __str__(self) -> str:
        if self.at_once:
            return ""
        kept = "for ever" if self.settle is None else in_words(self.settle)
        return (
            f"up to {counted(self.outstanding, 'decision')} may wait for outcomes, "
            f"{counted(self.together, 'round')} scored on the same ones; at its end the run waits "
            f"{kept} for what is missing"
        )

    @property
    def at_once(self) -> bool:
        """Whether each outcome is waited for before the next round."""
        return self.outstanding == 1

    def counts_before(self, t: int) -> bool:
        """Whether outcomes that have come are counted before round t."""
        return t < self.first or (t - self.first) % self.together == 0

    def due(self, t: int) -> int:
        """The last round whose outcome must be known before round t."""
        decisions = self.together if t >= self.first else 1
        return t + decisions - 1 - self.outstanding


def outcome_rules(
    first: int,
    budget: int,
    outstanding: int | None,
    batch: int,
    delay: str,
    *,
    settle: float | None = None,
) -> OutcomeRules:
    """The rules of a run that scores from round `first` on, by options of a protocol or of plain.

    Unless they say otherwise, outcomes that come late are not waited for.
    """
    if outstanding is None:
        outstanding = batch if delay == NO_DELAY else max(budget, batch)
    return OutcomeRules(first, outstanding, batch, settle)


def check_outcome_rules(outstanding: int | None, batch: int) -> None:
    """Refuse options that no run can keep."""
    for name, value in (("outstanding", outstanding), ("batch", batch)):
        if value is not None and (type(value) is not int or value < 1):
            raise InputError(f"{name} is a whole number of at least 1, not {value!r}")
    if outstanding is not None and outstanding < batch:
        raise InputError(
            f"outstanding is {outstanding}, but {batch} decisions are made together before any of "
            f"their outcomes can be known: give at least {batch}"
        )


class Pulls(ABC):
    """The pulls of the arms that one party holds; `arms` is what it has learned of them.

    `numbers` are the arms in decisions, and `waiting` the decisions without an outcome, by round.
    """

    def __init__(
        self, policy: Policy, arms: ArmStates, scale: RewardScale, numbers: Sequence[int]
    ) -> None:
        self.arms = arms
        self.waiting: dict[int, Decision] = {}
        self._policy = policy
        self._to_fixed = scale.to_fixed
        self._places = {number: i for i, number in enumerate(numbers)}

    @abstractmethod
    def to_score(self) -> ArmStates:
        """What arms are scored by."""

    @abstractmethod
    def arrived(self, t: int) -> Iterable[Effect]:
        """Learn from the outcomes that have come before round t."""

    @abstractmethod
    def pull(self, decision: Decision | None) -> Steps[None]:
        """Carry a decision out; None if there is none for this party."""

    @abstractmethod
    def settle(self, t: int) -> Iterable[Effect]:
        """Wait for what is missing after the last round."""

    def _learn(self, decision: Decision, reward: float, draws: Draws) -> None:
        i = self._places[decision.arm]
        self._policy.learn(self.arms, i, self._to_fixed(reward), draws.at(decision.round, 0))


class PullsAtOnce(Pulls):
    """Each outcome is waited for, and learned from before the next round; `masked` as in `Pull`."""

    def __init__(
        self,
        policy: Policy,
        arms: ArmStates,
        scale: RewardScale,
        numbers: Sequence[int],
        draws: Draws,
        *,
        masked: bool = False,
    ) -> None:
        super().__init__(policy, arms, scale, numbers)
        self._draws = draws
        self._masked = masked

    def to_score(self) -> ArmStates:
        return self.arms

    def arrived(self, t: int) -> Iterable[Effect]:  # noqa: ARG002
        return ()

    def pull(self, decision: Decision | None) -> Steps[None]:
        if decision is None:
            yield Pull(None)
        else:
            reward: float = yield Pull(decision, self._masked)
            self._learn(decision, reward, self._draws)

    def settle(self, t: int) -> Iterable[Effect]:  # noqa: ARG002
        return ()


class LatePulls(Pulls):
    """Outcomes come when they come.

    Until its first outcome is there, an arm is scored as if it had paid the middle of the range
    once, in its round of `first_rounds`. `draws` are for learning alone: its rounds come in no
    order.
    """

    def __init__(
        self,
        policy: Policy,
        arms: ArmStates,
        scale: RewardScale,
        numbers: Sequence[int],
        draws: Draws,
        rules: OutcomeRules,
        waiting: Mapping[int, Decision],
        first_rounds: Sequence[int],
    ) -> None:
        super().__init__(policy, arms, scale, numbers)
        self.waiting.update(waiting)
        self._draws = draws
        self._rules = rules
        self._first_rounds = first_rounds
        self._spare: ArmStates | None = None

    def to_score(self) -> ArmStates:
        arms = self.arms
        if arms.n.all():
            return arms
        scored = deepcopy(arms)
        for i in (arms.n == 0).nonzero()[0].tolist():
            draws = self._draws.at(self._first_rounds[i], 0)
            self._policy.learn(scored, i, REWARD_ONE // 2, draws)
        return scored

    def arrived(self, t: int) -> Steps[None]:
        if self._rules.counts_before(t):
            yield from self._collect(Collect(self.waiting, t, self._rules.due(t)))

    def pull(self, decision: Decision | None) -> Steps[None]:
        yield Issue(decision)
        if decision is not None:
            self.waiting[decision.round] = decision

    def settle(self, t: int) -> Steps[None]:
        yield from self._collect(Collect(self.waiting, t, last=True, within=self._rules.settle))

    def _collect(self, asked: Collect) -> Steps[None]:
        outcomes: tuple[KnownOutcome, ...] = yield asked
        for one in outcomes:
            decision = self.waiting.pop(one.round)
            if one.reward is not None:
                self._learn(decision, one.reward, self._draws)
        if not outcomes:
            self._learn_nothing(asked.t)

    def _learn_nothing(self, t: int) -> None:
        """As much work as for an outcome, so that time does not tell whether there was one."""
        if self._spare is None:
            self._spare = deepcopy(self.arms)
        self._policy.learn(self._spare, 0, REWARD_ONE // 2, self._draws.at(t, 0))
