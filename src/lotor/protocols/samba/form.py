"""What all forms of SAMBA have in common: who takes part, and what the terms say."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Generic, TypeVar

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.core.wording import counted
from lotor.environments.base import Environment
from lotor.policies import Policy, to_text
from lotor.protocols.cast import Cast
from lotor.protocols.form import Assignment, Contribution, Form, Member, RunPlan
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Run, draw_key
from lotor.protocols.report import Comparison
from lotor.protocols.revealing import SENTENCES
from lotor.protocols.samba.cast import DEMO_HOSPITALS, HOSPITALS, hospitals
from lotor.protocols.samba.protocol import Samba
from lotor.protocols.samba.terms import SambaTerms, terms_from
from lotor.protocols.samba.told import finding_of_customer

T = TypeVar("T", bound=SambaTerms)


class SambaForm(Form[Samba], Generic[T]):
    """The order is the customer's terms, of the kind that the form has."""

    terms_kind: type[T]
    paced: ClassVar[bool] = True

    def simulated(self, protocol: Samba, run: Run) -> Mapping[str, Sequence[Member]]:
        if protocol.owners > run.k:
            raise InputError(
                f"{protocol.owners} owners cannot share {counted(run.k, 'arm')}: give at most "
                f"{run.k}"
            )
        ends = [run.k * j // protocol.owners for j in range(protocol.owners + 1)]
        held = [end - begin for begin, end in pairwise(ends)]
        owners = [
            Member(f"owner-{number}", Contribution(count, run.scale.low, run.scale.high))
            for number, count in enumerate(held, 1)
        ]
        servers = {role.name: [Member(role.name)] for role in self.roles if role.seats}
        return {**servers, "owner": owners}

    def ordered(
        self, protocol: Samba, run: str, owners: Sequence[Member], budget: int, **more: Any
    ) -> T:
        """The terms of an order, with what this form adds to them."""
        scale = _common_scale(owners)
        rules = protocol.rules(sum(owner.contribution.arms for owner in owners), budget)
        terms = self.terms_kind(
            run=run,
            budget=budget,
            owners={owner.name: owner.contribution.arms for owner in owners},
            policy=to_text(protocol.policy),
            iterations=protocol.policy.iterations,
            low=scale.low,
            high=scale.high,
            outstanding=rules.outstanding,
            together=rules.together,
            settle=rules.settle,
            reveal=protocol.reveal,
            **more,
        )
        try:
            terms.check(run, protocol.policy)
        except ProtocolError as error:
            raise InputError(str(error)) from None
        return terms

    def plan(self, order: bytes) -> RunPlan:
        terms = terms_from(self.terms_kind, order)
        terms.check(terms.run, terms.ordered_policy())
        seats = self.seats_of({"owner": tuple(terms.owners)})
        return RunPlan(
            terms.policy,
            terms.budget,
            terms.k,
            seats,
            owners=len(terms.owners),
            first_rounds=terms.k,
            late=str(terms.rules),
            reveals={name: SENTENCES[name] for name in (terms.reveal,) if name in SENTENCES},
        )

    def findings(self, reveals: Collection[str]) -> Mapping[str, Finding]:
        """The customer's is that of what it is told."""
        told = {self.opener: finding_of_customer(self.leakage[self.opener], *reveals)}
        return {**self.leakage, **told} if reveals else self.leakage

    def holds(self, protocol: Samba, comparison: Comparison) -> bool:
        same = comparison.secure.revealed == comparison.plain.revealed
        return same and super().holds(protocol, comparison)

    def audited(self, protocol: Samba, environment: Environment) -> Samba:
        """Each arm with an owner of its own, unless the arms are spread in another way."""
        return protocol if protocol.owners > 1 else replace(protocol, owners=environment.k)

    def policy_of(self, assignment: Assignment) -> Policy:
        """A simulation's policy, which need not have a text, or the one that was ordered."""
        samba = self.simulates(assignment)
        if samba is not None:
            return samba.policy
        return terms_from(self.terms_kind, assignment.order).ordered_policy()

    def cast(self, protocol: Samba, budget: int, seed: int, size: int | None) -> Cast:
        count = DEMO_HOSPITALS if size is None else size
        if not 2 <= count <= len(HOSPITALS):
            raise InputError(f"the demonstration has 2 to {len(HOSPITALS)} hospitals, not {count}")
        means = dict(list(HOSPITALS.items())[:count])
        return hospitals(
            means,
            budget=budget,
            seed=seed,
            policy=to_text(protocol.policy),
            servers=[role.name for role in self.roles if role.seats],
        )


def owned(assignment: Assignment) -> dict[str, Any]:
    """What an owner's role takes of its assignment, in every form."""
    seed = assignment.seed
    return {
        "held": assignment.contribution.arms,
        "scale": _scale(assignment.contribution),
        "own_key": None if seed is None else draw_key(seed, "owner"),
        "coin_key": None if seed is None else draw_key(seed, "coin"),
        "order": assignment.order,
    }


def _scale(contribution: Contribution) -> RewardScale:
    return RewardScale(contribution.low, contribution.high)


def _common_scale(owners: Sequence[Member]) -> RewardScale:
    """The range of rewards that all owners state."""
    first, *others = owners
    for owner in others:
        if _scale(owner.contribution) != _scale(first.contribution):
            ranges = [
                f"{one.contribution.low} to {one.contribution.high}" for one in (owner, first)
            ]
            raise InputError(
                f"{owner.name} has rewards from {ranges[0]}, and {first.name} from {ranges[1]}: "
                "all owners of a run must have the same reward_range in their party.toml"
            )
    return _scale(first.contribution)
