"""What all forms of LinUCB-DS and SpectralUCB-DS have in common: who brings what, and the terms."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.signing import Identity
from lotor.environments import LinearArms
from lotor.environments.base import Environment
from lotor.environments.sources import GraphSource, MadeUpArms, made_up
from lotor.policies import POLICIES, to_text
from lotor.protocols.cast import Cast, CastMember, arm_in_id
from lotor.protocols.earlier import Earlier, check_room
from lotor.protocols.form import Assignment, Form, Member, RunPlan
from lotor.protocols.kept_linear import check_policy, kept_linear
from lotor.protocols.linear_draws import PURPOSES
from lotor.protocols.linucb_ds.protocol import LinUCBDS
from lotor.protocols.linucb_ds.terms import ContinuedPulls, LinUCBTerms, terms_from
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.plain.linear import linear_arms, linear_layout

P_KNOWS_THE_ARMS = "lotor.protocols.linucb_ds.attacks:DirectionFromPulls"
"""The attack on P that works in every form."""

KEEPS = "in clear, which arms were pulled and the sum of their noise; nothing of theta"

T = TypeVar("T", bound=LinUCBTerms)


class LinearForm(Form[LinUCBDS], Generic[T]):
    """The order is the customer's terms, of the kind that the form has; the owner brings a model.

    `protocol` is LinUCB-DS, or SpectralUCB-DS in a subclass.
    """

    terms_kind: type[T]
    paced: ClassVar[bool] = True
    continuable: ClassVar[bool] = True
    keeps: ClassVar[Mapping[str, str]] = {"principal": KEEPS}
    protocol: ClassVar[type[LinUCBDS]] = LinUCBDS
    given_as: ClassVar[str] = "in two shares"
    """How the owner hands out theta, in words."""

    @property
    def owner_role(self) -> str | None:
        return "owner"

    def simulated(self, protocol: LinUCBDS, run: Run) -> Mapping[str, Sequence[Member]]:
        before = protocol.rounds_before(run)
        arms = linear_arms(run, protocol.policy, before)
        # An order that does not fit is refused here, before the seconds that making keys may take.
        linear_layout(arms.vectors, protocol.policy, protocol.slots)
        rounds = before + run.budget
        protocol.policy.start(arms.vectors, budget=rounds, eigenvalues=arms.eigenvalues)
        self.check_size(arms.k, arms.d)
        return {role.name: [Member(role.name)] for role in self.roles}

    def check_size(self, k: int, d: int) -> None:
        """Refuse more arms or dimensions than the form's messages have room for."""

    def stated(self, members: Mapping[str, Sequence[Member]]) -> Mapping[str, Any]:  # noqa: ARG002
        """What the terms say of what the members bring."""
        return {}

    @abstractmethod
    def ordering(
        self,
        protocol: LinUCBDS,
        run: str,
        budget: int,
        identity: Identity,
        said: Mapping[str, Any],
    ) -> tuple[bytes, Party]:
        """The order of a run, whose terms have also said so, and the customer's party."""

    def open(
        self,
        protocol: LinUCBDS,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        return self.ordering(protocol, run, budget, identity, self.stated(members))

    def reopen(
        self,
        protocol: LinUCBDS,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
        earlier: Earlier,
    ) -> tuple[bytes, Party]:
        if not self.continuable:
            return super().reopen(protocol, run, members, budget, identity, earlier)
        terms = terms_from(self.terms_kind, earlier.order)
        if not terms.keep:
            raise InputError(
                f"run {terms.run} was started without keep, so nothing is left of what its "
                "principal knew: start a new run, with keep if it is to be continued"
            )
        check_policy(terms.run, terms.policy, to_text(protocol.policy))
        check_room(terms.rounds, budget)
        continued = ContinuedPulls(terms.run, terms.rounds)
        said = {**self.stated(members), "continued": continued}
        return self.ordering(protocol, run, budget, identity, said)

    def ordered(self, protocol: LinUCBDS, run: str, budget: int, **more: Any) -> T:
        """The terms of an order, with what this form adds to them."""
        terms = self.terms_kind(
            run=run,
            budget=budget,
            policy=to_text(protocol.policy),
            slot_bits=protocol.slots,
            keep=protocol.keep,
            **more,
        )
        try:
            terms.check(run)
        except ProtocolError as error:
            raise InputError(str(error)) from None
        return terms

    def plan(self, order: bytes) -> RunPlan:
        terms = terms_from(self.terms_kind, order)
        policy = terms.check(terms.run)
        kinds = self.protocol.kinds
        if not isinstance(policy, kinds):
            raise ProtocolError(
                f"customer ordered {terms.policy}, which {self.protocol.name} cannot run: "
                f"order {' or '.join(map(POLICIES.name_of, kinds))}, or another protocol"
            )
        continued = terms.continued
        return RunPlan(
            terms.policy,
            terms.budget,
            None,
            self.seats_of({}),
            first_rounds=1 if continued is None else 0,
            keeps=terms.keep,
            continues="" if continued is None else continued.run,
            before=terms.before,
        )

    def model_of(self, assignment: Assignment, terms: T) -> LinearArms:
        """The owner's arms and theta; errors say what is wrong with them without showing them."""
        arms = assignment.data
        if not isinstance(arms, LinearArms):
            raise InputError(
                f"the owner brings a model of type {type(arms).__name__}, and "
                f"{self.protocol.name} needs LinearArms or GraphArms: let it correct `model` under "
                "[owner] in its party.toml"
            )
        fixed = arms.noise is not None or arms.first is not None
        if fixed and assignment.simulated is None:
            raise InputError(
                "the owner's model fixes the noise or the first arm, which the principal draws: "
                "let it leave out noise and first"
            )
        terms.check(assignment.run).check_theta(arms.theta, arms.eigenvalues)
        self.check_size(arms.k, arms.d)
        return arms

    def sized(self, protocol: LinUCBDS, environment: Environment) -> tuple[int, int]:
        """K and d of an environment."""
        if not isinstance(environment, LinearArms):
            raise InputError(f"{protocol.name} needs LinearArms or GraphArms, not {environment!r}")
        return environment.k, environment.d

    def notes(self, protocol: LinUCBDS) -> Sequence[str]:
        return [f"with keep the principal keeps after the run, {KEEPS}"] * protocol.keep

    def shown(self, protocol: LinUCBDS, size: int | None) -> MadeUpArms:
        """The arms of a demonstration."""
        if size is not None:
            raise InputError(
                f"the demonstration of {protocol.name} always has one owner: give no number of "
                "hospitals"
            )
        source = protocol.arms
        return made_up(source.default, graph=issubclass(source, GraphSource))

    def cast(self, protocol: LinUCBDS, budget: int, seed: int, size: int | None) -> Cast:  # noqa: ARG002
        made = self.shown(protocol, size)
        members = {role.name: CastMember(role.name) for role in self.roles}
        members["principal"] = CastMember("principal", draws=True)
        members["owner"] = CastMember(
            "owner", table={"model": "survey:model"}, files={"survey.py": made.module()}
        )
        return Cast(
            story=(
                f"One owner gave a model of {made.arms().k} arms to two clouds, {self.given_as}; "
                f"they chose {budget} times by {to_text(protocol.policy)}, and the customer "
                "learned the total."
            ),
            members=members,
            environment=made.arms(),
            pullers=("principal",),
            arm=arm_in_id,
        )


def principal_given(
    assignment: Assignment, terms: LinUCBTerms, snapshot: bytes | None
) -> dict[str, Any]:
    """What P's role takes of its assignment, in every form; a snapshot has what was kept.

    The keys decide arms, as in plain with the same seed; without one P draws its own. In a
    simulation the environment may fix the noise and the first arm.
    """
    seed, world = assignment.seed, assignment.environment
    fixed = world if isinstance(world, LinearArms) else None
    continued, earlier, kept = terms.continued, assignment.earlier, None
    if continued is not None and snapshot is None:
        data = None if earlier is None else earlier.kept
        kept = kept_linear(data, continued.run)
        check_policy(kept.run, kept.policy, terms.policy)
        if kept.rounds != continued.rounds:
            raise InputError(
                f"run {kept.run} and those before it had {kept.rounds} rounds, and the order says "
                f"{continued.rounds}: let the customer order again"
            )
    return {
        "kept": kept,
        "snapshot": snapshot,
        "keys": {} if seed is None else {purpose: draw_key(seed, purpose) for purpose in PURPOSES},
        "noise": None if fixed is None else fixed.noise,
        "first": None if fixed is None else fixed.first,
        "order": assignment.order,
    }
