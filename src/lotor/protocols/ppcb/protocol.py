"""Privacy-preserving contextual bandits (Hannun, Knott, Sengupta and van der Maaten, 2019).

Several parties each hold some features of a context; two servers learn from all of them on shares.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import msgspec

from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.policies.contextual import LinearEpsilonGreedy, contextual_to_text
from lotor.protocols.contextual_draws import SERVERS
from lotor.protocols.party import Party, Run
from lotor.protocols.plain_contextual import PlainContextual, contextual_arms
from lotor.protocols.ppcb.actor import PPCBActor
from lotor.protocols.ppcb.dealer import PPCBDealer
from lotor.protocols.ppcb.owner import PPCBOwner
from lotor.protocols.ppcb.receiver import PPCBReceiver
from lotor.protocols.ppcb.server import PPCBServer
from lotor.protocols.ppcb.terms import FIRST, LEAST_BITS, SECOND, PPCBTerms


@dataclass(frozen=True, slots=True)
class PPCB:
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

    policy: LinearEpsilonGreedy = field(default_factory=LinearEpsilonGreedy)
    epsilon: float | None = field(default=None, kw_only=True)
    bits: int = field(default=20, kw_only=True)
    owners: int = field(default=2, kw_only=True)
    delay: int = field(default=0, kw_only=True)
    privacy_budget: float | None = field(default=None, kw_only=True)
    delta: float = field(default=1e-6, kw_only=True)

    least_budget: ClassVar[int] = 1
    name: ClassVar[str] = "ppcb"
    learner: ClassVar[str] = "receiver"

    def __post_init__(self) -> None:
        if not isinstance(self.policy, LinearEpsilonGreedy):
            raise InputError(f"PPCB takes LinearEpsilonGreedy() as its policy, not {self.policy!r}")
        if self.epsilon is not None:
            object.__setattr__(self, "policy", replace(self.policy, epsilon=self.epsilon))
        object.__setattr__(self, "epsilon", self.policy.epsilon)
        for name, least in (("bits", LEAST_BITS), ("owners", 1), ("delay", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise InputError(f"{name} is {value!r}: give a whole number from {least} up")

    def plain(self) -> PlainContextual:
        """The same policy with no cryptography, on floats: the same arms but for rounding."""
        return PlainContextual(self.policy, self.delay, self.privacy_budget, self.delta)

    def options(self) -> Mapping[str, str | int]:
        options: dict[str, str | int] = {
            "policy": contextual_to_text(self.policy),
            "bits": self.bits,
            "owners": self.owners,
            "delay": self.delay,
        }
        options["delta"] = str(self.delta)
        if self.privacy_budget is not None:
            options["privacy_budget"] = str(self.privacy_budget)
        return options

    def terms(
        self, run: str, *, budget: int, arms: int, owners: Mapping[str, int], scale: RewardScale
    ) -> PPCBTerms:
        """What is ordered of all parties; refuses what no run can do."""
        terms = PPCBTerms(
            run=run,
            budget=budget,
            arms=arms,
            owners=dict(owners),
            policy=contextual_to_text(self.policy),
            bits=self.bits,
            delay=self.delay,
            low=scale.low,
            high=scale.high,
            privacy_budget=self.privacy_budget,
            delta=self.delta,
        )
        terms.check()
        return terms

    def privacy(self, run: Run) -> Mapping[str, float | int | str | None]:
        """What the arms of a run tell whoever pulls them, per step and in all."""
        spent: dict[str, float | int | str | None] = msgspec.structs.asdict(
            self._simulated(run).spent()
        )
        return spent

    def parties(self, run: Run) -> Mapping[str, Party]:
        """The feature parties of P, p' (actor), p'' (receiver), both servers and the dealer."""
        contextual_arms(run)
        terms = self._simulated(run)
        first, second = (run.draw_key(purpose) for purpose in SERVERS)
        return {
            "receiver": PPCBReceiver(terms),
            "actor": PPCBActor(terms),
            "dealer": PPCBDealer(terms),
            FIRST: PPCBServer(0, terms, draw_key=first),
            SECOND: PPCBServer(1, terms, draw_key=second),
            **{name: PPCBOwner(name, terms) for name in terms.owners},
        }

    def _simulated(self, run: Run) -> PPCBTerms:
        """The terms of a simulation, which splits the features evenly among its parties."""
        d = contextual_arms(run).d
        if self.owners > d:
            raise InputError(
                f"{d} features cannot be split among {self.owners} parties: take fewer parties"
            )
        ends = [d * (p + 1) // self.owners for p in range(self.owners)]
        counts = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
        owners = {f"owner-{p + 1}": count for p, count in enumerate(counts)}
        return self.terms(run.id, budget=run.budget, arms=run.k, owners=owners, scale=run.scale)
