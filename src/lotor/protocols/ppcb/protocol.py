"""Privacy-preserving contextual bandits (Hannun, Knott, Sengupta and van der Maaten, 2019).

Several parties each hold some features of a context; two servers learn from all of them on shares.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.core.options import option
from lotor.environments.sources import ArmsSource, ContextSource
from lotor.policies import to_text
from lotor.policies.contextual import LinearEpsilonGreedy
from lotor.privacy import Accountant
from lotor.protocols.party import Run
from lotor.protocols.plain import Plain
from lotor.protocols.plain.contextual import contextual_arms
from lotor.protocols.ppcb.figures import FIGURES
from lotor.protocols.protocol import SecureProtocol

if TYPE_CHECKING:
    from lotor.protocols.ppcb.terms import PPCBTerms

LEAST_BITS, MOST_BITS = 16, 24


@dataclass(frozen=True, slots=True)
class PPCB(SecureProtocol):
    """A contextual bandit over features that several parties hold.

    - `epsilon`: of the policy, if no policy is given;
    - `bits`: how many are behind the point of all numbers, 16 to 24;
    - `owners`: among how many feature parties a simulation splits its contexts;
    - `delay`: how many steps later a reward is learnt from;
    - `privacy_budget`: the run ends before its arms could tell more about a context than this, by
      `accountant.total`, except with probability `delta`; None is no limit.

    >>> import lotor
    >>> arms = lotor.ContextualArms.lookalike(rounds=20, arms=3, d=4, seed=1)
    >>> ppcb = lotor.PPCB(epsilon=0.2)
    >>> secure = lotor.run(ppcb, arms, budget=20, seed=1)
    >>> plain = lotor.run(ppcb.plain(), arms, budget=20, seed=1)
    >>> secure.arms == plain.arms and secure.reward == plain.reward
    True
    """

    name: ClassVar[str] = "ppcb"
    summary: ClassVar[str] = "several parties hold features of a context"
    arms: ClassVar[type[ArmsSource]] = ContextSource
    forms: ClassVar[Mapping[str, str]] = {"dealt": "lotor.protocols.ppcb.dealt:PPCBDealt"}
    figures: ClassVar[Mapping[str, str]] = FIGURES

    policy: LinearEpsilonGreedy = field(default_factory=LinearEpsilonGreedy)
    epsilon: float | None = field(
        default=None,
        kw_only=True,
        metadata=option("How often an arm is drawn at random.", shown="0.1", of_policy=True),
    )
    bits: int = field(
        default=20,
        kw_only=True,
        metadata=option("Bits behind the point of shared numbers, 16 to 24."),
    )
    owners: int = field(
        default=2,
        kw_only=True,
        metadata=option(
            "Among how many parties the features are split.", flag="parties", ordered=False
        ),
    )
    delay: int = field(
        default=0,
        kw_only=True,
        metadata=option("How many steps later a reward is learnt from."),
    )
    privacy_budget: float | None = field(
        default=None,
        kw_only=True,
        metadata=option("Stop before the arms of the whole run tell more.", shown="no limit"),
    )
    delta: float = field(
        default=1e-6,
        kw_only=True,
        metadata=option("How likely the privacy account may fail, at most 0.01."),
    )
    form: str = field(default="dealt", kw_only=True, metadata=option("Which form of it to run."))

    def __post_init__(self) -> None:
        self.check_form(self.form)
        if not isinstance(self.policy, LinearEpsilonGreedy):
            raise InputError(f"PPCB takes LinearEpsilonGreedy() as its policy, not {self.policy!r}")
        if self.epsilon is not None:
            object.__setattr__(self, "policy", replace(self.policy, epsilon=self.epsilon))
        object.__setattr__(self, "epsilon", self.policy.epsilon)
        for name, least in (("bits", LEAST_BITS), ("owners", 1), ("delay", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise InputError(f"{name} is {value!r}: give a whole number from {least} up")
        # Before anybody is asked to take part; how many arms there are is no matter here.
        Accountant(2, self.policy.epsilon, self.delta)

    @property
    def least_budget(self) -> int | None:
        return 1

    def plain(self) -> Plain:
        """The same policy with no cryptography, on floats: the same arms but for rounding."""
        names = ("delay", "privacy_budget", "delta")
        return Plain(self.policy, {name: getattr(self, name) for name in names})

    def options(self) -> Mapping[str, str | int]:
        options: dict[str, str | int] = {
            "policy": to_text(self.policy),
            "bits": self.bits,
            "owners": self.owners,
            "delay": self.delay,
            "delta": str(self.delta),
            "form": self.form,
        }
        if self.privacy_budget is not None:
            options["privacy_budget"] = str(self.privacy_budget)
        return options

    def terms(
        self, run: str, *, budget: int, arms: int, owners: Mapping[str, int], scale: RewardScale
    ) -> "PPCBTerms":
        """The terms that all parties are sent; refuses an impossible run."""
        from lotor.protocols.ppcb.terms import PPCBTerms  # noqa: PLC0415  it loads the circuits

        terms = PPCBTerms(
            run=run,
            budget=budget,
            arms=arms,
            owners=dict(owners),
            policy=to_text(self.policy),
            bits=self.bits,
            delay=self.delay,
            low=scale.low,
            high=scale.high,
            privacy_budget=self.privacy_budget,
            delta=self.delta,
        )
        terms.check()
        return terms

    def split(self, features: int) -> dict[str, int]:
        """How many features each party of a simulation has, as evenly as possible."""
        if self.owners > features:
            raise InputError(
                f"{features} features cannot be split among {self.owners} parties: take fewer "
                "parties"
            )
        ends = [features * p // self.owners for p in range(self.owners + 1)]
        counts = [end - begin for begin, end in pairwise(ends)]
        return {f"owner-{p}": count for p, count in enumerate(counts, 1)}

    def privacy(self, run: Run) -> Mapping[str, float | int | str | None]:
        """What the arms of a run tell whoever pulls them, per step and in all."""
        owners = self.split(contextual_arms(run).d)
        terms = self.terms(run.id, budget=run.budget, arms=run.k, owners=owners, scale=run.scale)
        return terms.account()
