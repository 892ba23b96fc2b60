"""Privacy-preserving contextual bandits (Hannun, Knott, Sengupta and van der Maaten, 2019).

Several parties each hold some features of a context; two servers learn from all of them on shares.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final, Literal

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
ON_SHARES: Final = "shares"
GARBLED: Final = "garbled"
RECIPROCALS: Final = (ON_SHARES, GARBLED)
"""How two servers without a dealer take a reciprocal."""
NO_MODEL = "a run that only predicts needs a model: continue an ended run that kept one"


@dataclass(frozen=True, slots=True)
class PPCB(SecureProtocol):
    """A contextual bandit over features that several parties hold.

    - `epsilon`: of the policy, if no policy is given;
    - `bits`: how many are behind the point of all numbers, 16 to 24;
    - `owners`: among how many feature parties a simulation splits its contexts;
    - `delay`: how many steps later a reward is learnt from;
    - `reciprocal`: how two servers without a dealer take one: on "shares", with less work, or
      "garbled", in fewer round trips; `lotor plan ppcb --rtt` says which is quicker;
    - `privacy_budget`: the run ends before its arms, and those of the runs that it continues, could
      tell more about a context than this, by `accountant.total`, except with probability `delta`;
      None is no limit;
    - `keep`: each server keeps its share of the model, for runs that continue this one;
    - `predict`: the run chooses by the model of the one that it continues, which stays as it is;
      nobody is asked for rewards, and the result's reward is the number of steps.

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
    forms: ClassVar[Mapping[str, str]] = {
        "shared": "lotor.protocols.ppcb.shared.form:PPCBShared",
        "dealt": "lotor.protocols.ppcb.dealt.form:PPCBDealt",
        "paper": "lotor.protocols.ppcb.paper.form:PPCBPaper",
    }
    form_notes: ClassVar[Mapping[str, str]] = {
        "shared": "the two servers learn nothing unless they collude, and need nobody's help; "
        "about 4 ms of CPU and 1 MB a step with 20 features and 10 arms",
        "dealt": "they learn nothing unless two of them and a dealer collude; about 1.3 ms and "
        "0.3 MB",
        "paper": "as dealt, and every arm is updated in each step, as published; in one process "
        "only, for comparison",
    }
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
    keep: bool = field(
        default=False,
        kw_only=True,
        metadata=option(
            "Let each server keep its share of the model for `--continue`.", simulated=False
        ),
    )
    predict: bool = field(
        default=False,
        kw_only=True,
        metadata=option(
            "With `--continue`: choose by the kept model, and learn nothing.", simulated=False
        ),
    )
    reciprocal: Literal["shares", "garbled"] = field(
        default="shares",
        kw_only=True,
        metadata=option(
            "Without a dealer: on shares, with less work, or garbled, in fewer round trips."
        ),
    )
    form: str = field(default="shared", kw_only=True, metadata=option("Which form of it to run."))

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
        for name in ("keep", "predict"):
            if type(getattr(self, name)) is not bool:
                raise InputError(f"{name} is True or False, not {getattr(self, name)!r}")
        if self.reciprocal not in RECIPROCALS:
            raise InputError(
                f"reciprocal is {self.reciprocal!r}: give {' or '.join(map(repr, RECIPROCALS))}"
            )
        if self.form != "shared" and self.reciprocal != RECIPROCALS[0]:
            raise InputError(
                f"in the form {self.form!r} a dealer deals tables for reciprocals: leave "
                "reciprocal out, or take form='shared'"
            )
        # Before anybody is asked to take part; how many arms there are is no matter here.
        Accountant(2, self.policy.epsilon, self.delta)

    @property
    def least_budget(self) -> int | None:
        return 1

    def plain(self) -> Plain:
        """The same policy with no cryptography, on floats: the same arms but for rounding."""
        names = ("delay", "privacy_budget", "delta", "keep", "predict")
        return Plain(self.policy, {name: getattr(self, name) for name in names})

    def options(self) -> Mapping[str, str | int]:
        options: dict[str, str | int] = {
            "policy": to_text(self.policy),
            "bits": self.bits,
            "owners": self.owners,
            "delay": self.delay,
            "delta": str(self.delta),
            "reciprocal": self.reciprocal,
            "form": self.form,
        }
        if self.privacy_budget is not None:
            options["privacy_budget"] = str(self.privacy_budget)
        return {**options, **{name: "true" for name in ("keep", "predict") if getattr(self, name)}}

    def alternatives(self) -> Mapping[str, SecureProtocol]:
        if self.form != "shared":
            return {}
        return {
            f"--reciprocal {way}": replace(self, reciprocal=way)
            for way in RECIPROCALS
            if way != self.reciprocal
        }

    def why_not_anew(self) -> str:
        return NO_MODEL if self.predict else ""

    def rounds_before(self, run: Run) -> int:
        from lotor.protocols.ppcb.terms import terms_from  # noqa: PLC0415  it loads the circuits

        return 0 if run.earlier is None else terms_from(run.earlier.order).last

    def terms(
        self,
        run: str,
        *,
        budget: int,
        arms: int,
        owners: Mapping[str, int],
        scale: RewardScale,
        earlier: bytes | None = None,
    ) -> "PPCBTerms":
        """The terms that all parties are sent; refuses an impossible run.

        `earlier` is the order of the run that this one continues.
        """
        from lotor.protocols.ppcb.kept_model import (  # noqa: PLC0415  it loads the circuits
            check_continues,
            continued_from,
        )
        from lotor.protocols.ppcb.terms import Alone, PPCBTerms, terms_from  # noqa: PLC0415

        before = None if earlier is None else terms_from(earlier)
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
            keep=self.keep,
            predicts=self.predict,
            continued=None if before is None else continued_from(before),
            alone=Alone(self.reciprocal) if self.form == "shared" else None,
        )
        terms.check()
        if before is not None:
            check_continues(terms, before)
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
        terms = self.terms(
            run.id,
            budget=run.budget,
            arms=run.k,
            owners=self.split(contextual_arms(run, self.rounds_before(run)).d),
            scale=run.scale,
            earlier=None if run.earlier is None else run.earlier.order,
        )
        return terms.account()
