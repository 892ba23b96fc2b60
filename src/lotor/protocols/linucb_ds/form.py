"""What all forms of LinUCB-DS and SpectralUCB-DS have in common: who brings what, and the terms."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from lotor.core.errors import InputError, ProtocolError
from lotor.environments import LinearArms
from lotor.environments.base import Environment
from lotor.environments.sources import GraphSource, MadeUpArms, made_up
from lotor.policies import POLICIES, to_text
from lotor.protocols.cast import Cast, CastMember, arm_in_id
from lotor.protocols.form import Assignment, Form, Member, RunPlan
from lotor.protocols.linear_draws import PURPOSES
from lotor.protocols.linucb_ds.protocol import LinUCBDS
from lotor.protocols.linucb_ds.terms import LinUCBTerms, terms_from
from lotor.protocols.party import Run, draw_key
from lotor.protocols.plain.linear import linear_arms, linear_layout

P_KNOWS_THE_ARMS = "lotor.protocols.linucb_ds.attacks:DirectionFromPulls"
"""The attack on P that works in every form."""

T = TypeVar("T", bound=LinUCBTerms)


class LinearForm(Form[LinUCBDS], Generic[T]):
    """The order is the customer's terms, of the kind that the form has; the owner brings a model.

    `protocol` is LinUCB-DS, or SpectralUCB-DS in a subclass.
    """

    terms_kind: type[T]
    paced: ClassVar[bool] = True
    protocol: ClassVar[type[LinUCBDS]] = LinUCBDS
    given_as: ClassVar[str] = "in two shares"
    """How the owner hands out theta, in words."""

    @property
    def owner_role(self) -> str | None:
        return "owner"

    def simulated(self, protocol: LinUCBDS, run: Run) -> Mapping[str, Sequence[Member]]:
        arms = linear_arms(run, protocol.policy)
        # An order that does not fit is refused here, before the seconds that making keys may take.
        linear_layout(arms.vectors, protocol.policy, protocol.slots)
        protocol.policy.start(arms.vectors, budget=run.budget, eigenvalues=arms.eigenvalues)
        self.check_size(arms.k, arms.d)
        return {role.name: [Member(role.name)] for role in self.roles}

    def check_size(self, k: int, d: int) -> None:
        """Refuse more arms or dimensions than the form's messages have room for."""

    def ordered(self, protocol: LinUCBDS, run: str, budget: int, **more: Any) -> T:
        """The terms of an order, with what this form adds to them."""
        terms = self.terms_kind(
            run=run,
            budget=budget,
            policy=to_text(protocol.policy),
            slot_bits=protocol.slots,
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
        return RunPlan(terms.policy, terms.budget, None, self.seats_of({}), first_rounds=1)

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


def principal_given(assignment: Assignment) -> dict[str, Any]:
    """What P's role takes of its assignment, in every form.

    The keys decide arms, as in plain with the same seed; without one P draws its own. In a
    simulation the environment may fix the noise and the first arm.
    """
    seed, world = assignment.seed, assignment.environment
    fixed = world if isinstance(world, LinearArms) else None
    return {
        "keys": {} if seed is None else {purpose: draw_key(seed, purpose) for purpose in PURPOSES},
        "noise": None if fixed is None else fixed.noise,
        "first": None if fixed is None else fixed.first,
        "order": assignment.order,
    }
