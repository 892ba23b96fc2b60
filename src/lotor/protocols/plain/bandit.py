"""A policy with no cryptography: SAMBA's Figure 3, one agent that holds all arms."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, cast

import numpy as np

from lotor.core.best_arm import BestArm
from lotor.core.draws import Draws
from lotor.core.effects import Decision, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, Scores, to_scores
from lotor.core.revealed import Revealed
from lotor.core.wording import counted
from lotor.crypto.prf import Prf
from lotor.environments.sources import BanditSource
from lotor.policies import ArmStates, Policy, check_genericity, check_iterations, to_text
from lotor.protocols.delays import NO_DELAY, checked_delay, delays
from lotor.protocols.earlier import check_room
from lotor.protocols.kept_arms import KeptArms, first_arms, fresh_states
from lotor.protocols.party import Run
from lotor.protocols.plain.agent import AGENT, Agent
from lotor.protocols.plain.learner import NO_CONTEXT, Learner
from lotor.protocols.pulls import (
    LatePulls,
    Pulls,
    PullsAtOnce,
    check_outcome_rules,
    outcome_rules,
)
from lotor.protocols.revealing import (
    COUNTS,
    NOTHING,
    check_reveal,
    chosen_arm,
    final_scores,
    told_arm,
    told_counts,
)


class BanditLearner(Learner):
    """SelectArm and the updates of Figure 3."""

    def __init__(self, policy: Policy, run: Run, kept: KeptArms | None = None) -> None:
        check_iterations(policy)
        self._policy = policy
        self._draws = _draws(run)
        known = 0 if kept is None else len(kept.numbers)
        self.states = (
            fresh_states(policy, run.k, run.k)
            if kept is None
            else kept.states(policy, run.k, run.k)
        )
        # What arms are scored by, where that is not all that is known of them.
        self.to_score: Callable[[], ArmStates] | None = None
        self.unpulled = list(range(known, run.k))
        self._maximum = policy.selects_maximum
        self._observes = policy.observes
        self._looks = policy.looks_for_best

    def choose(self, t: int, x: Floats = NO_CONTEXT) -> int:
        del x
        if self.unpulled:
            return self.unpulled[0]
        policy, arms, draws = self._policy, self.states, self._draws
        winner = 0
        for l in range(1, policy.iterations + 1):
            draws.at(t, l)
            scored = arms if self.to_score is None else self.to_score()
            winner = self._select(to_scores(policy.score(scored, t, l, draws)), t, l)
            if self._observes:
                policy.observe(arms, t, l, np.arange(len(arms)) == winner)
        return winner

    def learn(self, t: int, arm: int, reward: int, x: Floats = NO_CONTEXT) -> None:
        del x
        self.pulled(arm)
        self._policy.learn(self.states, arm, reward, self._draws.at(t, 0))

    def pulled(self, arm: int) -> None:
        """An arm need not be pulled to begin with any more."""
        if self.unpulled and arm in self.unpulled:
            self.unpulled.remove(arm)

    def found(self) -> BestArm | None:
        return self._policy.found(self.states) if self._looks else None

    def _select(self, scores: Scores, t: int, l: int) -> int:
        """SelectArm on scores whose ties are decided by the arms' own tie draws."""
        if not self._maximum:
            pairs = zip(scores.tolist(), self._draws.ties(), strict=True)
            return self._policy.selected([v << 64 | u for v, u in pairs], t, l)
        winner = int(scores.argmax())
        best = scores.item(winner)
        later = scores[winner + 1 :]  # argmax is the first of equals: look for others behind it
        if len(later) and later.item(later.argmax()) == best:
            tied = np.flatnonzero(scores == best).tolist()
            winner = max(tied, key=self._draws.ties().__getitem__)
        return winner


def _draws(run: Run) -> Draws:
    return Draws(Prf(run.draw_key("owner"), range(run.k)), Prf(run.draw_key("coin"), [0]))


class BanditAgent(Agent[Policy]):
    """The learning agent of Figure 3.

    `outstanding`, `batch`, `delay`, `reveal` and `keep` are those of the secure protocol (see
    `Samba`).
    """

    family: ClassVar[type] = Policy
    arms: ClassVar[type] = BanditSource
    sees: ClassVar[str] = "what each arm has paid"
    settings: ClassVar[Mapping[str, object]] = {
        "outstanding": None,
        "batch": 1,
        "delay": NO_DELAY,
        "reveal": NOTHING,
        "keep": False,
    }
    continuable: ClassVar[bool] = True

    def __init__(self, policy: Policy, run: Run, settings: Mapping[str, object]) -> None:
        self._run = run
        self._policy = policy
        self._reveal = str(settings["reveal"])
        self._keep = bool(settings["keep"])
        kept = _kept_of(policy, run)
        self._before = 0 if kept is None else kept.rounds
        self._known = 0 if kept is None else len(kept.numbers)
        self._learner = BanditLearner(policy, run, kept)
        self._pulls = self._pulls_of(policy, settings)

    def _pulls_of(self, policy: Policy, settings: Mapping[str, object]) -> Pulls:
        run, arms = self._run, self._learner.states
        first = self._before + run.k - self._known + 1
        rules = outcome_rules(first, run.budget, *_late(settings))
        common = policy, arms, run.scale, range(run.k), _draws(run)
        if rules.at_once:
            return PullsAtOnce(*common)
        first_rounds = [self._before + max(arm - self._known + 1, 0) for arm in range(run.k)]
        late = LatePulls(*common, rules, {}, first_rounds)
        self._learner.to_score = late.to_score
        return late

    @classmethod
    def rounds_before(cls, run: Run) -> int:
        earlier = run.earlier
        return 0 if earlier is None else KeptArms.from_bytes(earlier.kept[AGENT]).rounds

    @classmethod
    def check(cls, settings: Mapping[str, object]) -> None:
        outstanding, batch, delay = _late(settings)
        check_outcome_rules(outstanding, batch)
        checked_delay(delay)
        check_reveal(str(settings["reveal"]))
        if type(settings["keep"]) is not bool:
            raise InputError(f"keep is True or False, not {settings['keep']!r}")

    @classmethod
    def recorded(cls, settings: Mapping[str, object]) -> Mapping[str, str | int]:
        changed = {name: one for name, one in settings.items() if one != cls.settings[name]}
        return super().recorded({**changed, **({"keep": "true"} if settings["keep"] else {})})

    @classmethod
    def delays(cls, settings: Mapping[str, object], run: Run) -> Callable[[int], int]:
        return delays(_late(settings)[2], run)

    def steps(self) -> Steps[float]:
        run, learner, pulls, t = self._run, self._learner, self._pulls, self._before
        states = learner.states
        had = states.sums()
        for t in range(self._before + 1, self._before + run.budget + 1):
            yield from pulls.arrived(t)
            arm = learner.choose(t)
            if learner.unpulled:
                learner.pulled(arm)
            yield from pulls.pull(Decision.named(run.id, t, arm))
            self.best = learner.found()
            if self.best is not None and self.best.sure:
                break
        yield from pulls.settle(t + 1)
        earned = [(s - s0, n - n0) for (s, n), (s0, n0) in zip(states.sums(), had, strict=True)]
        self.revealed = self._found(earned, t + 1)
        if self._keep:
            self.kept = self._to_keep(t)
        return run.scale.total(sum(s for s, _ in earned), sum(n for _, n in earned))

    def _to_keep(self, rounds: int) -> bytes:
        run = self._run
        return KeptArms(
            run=run.id,
            party=AGENT,
            policy=to_text(self._policy),
            rounds=rounds,
            low=run.scale.low,
            high=run.scale.high,
            numbers=list(range(run.k)),
            arms=self._learner.states.snapshot(),
        ).to_bytes()

    def _found(self, earned: Sequence[tuple[int, int]], turn: int) -> Revealed | None:
        """What the customer of a secure run is told beyond the total, by one turn more."""
        reveal = self._reveal
        if reveal == NOTHING:
            return None
        if reveal == COUNTS:
            return told_counts([n for _, n in earned])
        ties = _draws(self._run).at(turn, 1).ties()
        return told_arm(reveal, chosen_arm(final_scores(reveal, earned), ties))

    @classmethod
    def learner(cls, policy: Policy, run: Run, d: int) -> Learner:
        del d
        return BanditLearner(policy, run)


def _kept_of(policy: Policy, run: Run) -> KeptArms | None:
    """What is known of the first arms, if the run continues another one."""
    if run.earlier is None:
        return None
    kept = KeptArms.from_bytes(run.earlier.kept[AGENT])
    kept.check(policy, run.scale)
    check_room(kept.rounds, run.budget)
    had = len(kept.numbers)
    if run.budget < run.k - had:
        raise InputError(
            f"a budget of {run.budget} does not pull each of {counted(run.k - had, 'new arm')} "
            f"once: give at least {run.k - had}"
        )
    together = check_genericity(policy).arm_score_locality if run.k != had else None
    if together is not None:
        raise InputError(
            f"arms cannot come or go when a run of {to_text(policy)} is continued, since it looks "
            f"at all of them together ({together}): give the same arms"
        )
    return first_arms(kept, run.k)


def _late(settings: Mapping[str, object]) -> tuple[int | None, int, str]:
    """The settings for outcomes that come late: outstanding, batch and delay."""
    outstanding, batch = settings["outstanding"], settings["batch"]
    return cast("int | None", outstanding), cast("int", batch), str(settings["delay"])
