"""What all forms of SAMBA have in common: who takes part, and what the terms say."""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Generic, TypeVar

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.core.wording import counted
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.policies import Policy, to_text
from lotor.protocols.cast import Cast
from lotor.protocols.earlier import Earlier, EndedRun, check_room
from lotor.protocols.form import Assignment, Contribution, Form, Member, RunPlan
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.report import Comparison
from lotor.protocols.revealing import SENTENCES
from lotor.protocols.samba.cast import DEMO_HOSPITALS, HOSPITALS, hospitals
from lotor.protocols.samba.continued import ContinuedRun, kept_by
from lotor.protocols.samba.protocol import Samba
from lotor.protocols.samba.terms import SambaTerms, terms_from
from lotor.protocols.samba.told import finding_of_customer

T = TypeVar("T", bound=SambaTerms)


class SambaForm(Form[Samba], Generic[T]):
    """The order is the customer's terms, of the kind that the form has."""

    terms_kind: type[T]
    paced: ClassVar[bool] = True
    continuable: ClassVar[bool] = True
    joinable: ClassVar[bool] = True
    keeps: ClassVar[Mapping[str, str]] = {
        "owner": "how often each of its arms was pulled and what that paid, as its policy needs it"
    }

    @abstractmethod
    def ordering(
        self,
        protocol: Samba,
        run: str,
        owners: Sequence[Member],
        budget: int,
        identity: Identity,
        continued: ContinuedRun | None,
    ) -> tuple[bytes, Party]:
        """The order of a run, and the customer's party."""

    def open(
        self,
        protocol: Samba,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        return self.ordering(protocol, run, members["owner"], budget, identity, None)

    def reopen(
        self,
        protocol: Samba,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
        earlier: Earlier,
    ) -> tuple[bytes, Party]:
        terms = terms_from(self.terms_kind, earlier.order)
        if not terms.keep:
            raise InputError(
                f"run {terms.run} was started without keep, so its owners have kept nothing that a "
                "further run could begin with: start a new run, with keep if it is to be continued"
            )
        if terms.policy != to_text(protocol.policy):
            raise InputError(
                f"run {terms.run} was one of {terms.policy}, and what its owners have kept means "
                f"nothing to {to_text(protocol.policy)}: continue it with {terms.policy}"
            )
        check_room(terms.last, budget)
        listed = list(terms.owners)
        # Those who were in it keep their order, and newcomers are behind them.
        owners = sorted(
            members["owner"],
            key=lambda one: listed.index(one.name) if one.name in listed else len(listed),
        )
        held = {owner.name: owner.contribution.arms for owner in owners}
        continued = ContinuedRun.of(terms, held)
        return self.ordering(protocol, run, owners, budget, identity, continued)

    def simulated(self, protocol: Samba, run: Run) -> Mapping[str, Sequence[Member]]:
        before = {} if run.earlier is None else self._before(run.earlier, run.k)
        held = _spread(protocol.owners, run.k, before)
        scale = run.scale
        owners = [
            Member(name, Contribution(count, scale.low, scale.high)) for name, count in held.items()
        ]
        servers = {role.name: [Member(role.name)] for role in self.roles if role.seats}
        return {**servers, "owner": owners}

    def _before(self, earlier: EndedRun, k: int) -> dict[str, int]:
        """The owners of a simulated run that the first k arms belong to, and how many each has."""
        terms = terms_from(self.terms_kind, earlier.order)
        arms = terms.arms()
        stay = {name: own for name, own in arms.items() if own.start < k}
        for name, own in stay.items():
            if own.stop > k:
                raise InputError(
                    f"the environment has {counted(k, 'arm')}, and {name} had those from "
                    f"{own.start} to {own.stop - 1} in run {earlier.run}: an owner goes with all "
                    "its arms, or stays with all of them"
                )
        return {name: own.stop - own.start for name, own in stay.items()}

    def ordered(
        self,
        protocol: Samba,
        run: str,
        owners: Sequence[Member],
        budget: int,
        continued: ContinuedRun | None,
        **more: Any,
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
            keep=protocol.keep,
            continued=continued,
            **more,
        )
        try:
            terms.check(run, protocol.policy)
        except ProtocolError as error:
            raise InputError(str(error)) from None
        return terms

    def rounds_of(self, order: bytes) -> int:
        return terms_from(self.terms_kind, order).last

    def plan(self, order: bytes) -> RunPlan:
        terms = terms_from(self.terms_kind, order)
        terms.check(terms.run, terms.ordered_policy())
        seats = self.seats_of({"owner": tuple(terms.owners)})
        continued = terms.continued
        known = terms.owners if continued is None else continued.known
        return RunPlan(
            terms.policy,
            terms.budget,
            terms.k,
            seats,
            owners=len(terms.owners),
            first_rounds=terms.new,
            keeps=terms.keep,
            continues="" if continued is None else continued.run,
            before=terms.before,
            newcomers=frozenset(terms.owners) - frozenset(known),
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


def _spread(owners: int, k: int, before: Mapping[str, int]) -> dict[str, int]:
    """How many arms each of so many owners has, if some had arms `before`.

    New arms are spread over new owners; without any, the last one has them.
    """
    new, joining = k - sum(before.values()), owners - len(before)
    if before and (joining <= 0 or not new):
        last = list(before)[-1]
        return {**before, last: before[last] + new}
    if joining > new:
        raise InputError(
            f"{counted(joining, 'owner')} cannot share {counted(new, 'arm')}: give at most "
            f"owners={len(before) + new}"
        )
    ends = [new * j // joining for j in range(joining + 1)]
    held = [end - begin for begin, end in pairwise(ends)]
    names = (f"owner-{number}" for number in range(len(before) + 1, owners + 1))
    return {**before, **dict(zip(names, held, strict=True))}


def owned(
    assignment: Assignment, policy: Policy, terms: SambaTerms, snapshot: bytes | None
) -> dict[str, Any]:
    """What an owner's role takes of its assignment, in every form; a snapshot has what was kept."""
    seed, kept = assignment.seed, None
    if snapshot is None:
        kept = kept_by(assignment.seat, terms, policy, assignment.earlier)
    return {
        "kept": kept,
        "snapshot": snapshot,
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
