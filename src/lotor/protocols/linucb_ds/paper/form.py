"""LinUCB-DS and SpectralUCB-DS as published: everybody talks to the principal."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.key_sizes import SECURE_BITS, check_key_bits
from lotor.crypto.paillier import generate_keypair
from lotor.crypto.signing import Identity
from lotor.environments import LinearArms
from lotor.environments.base import Environment
from lotor.environments.sources import GraphSource, made_up
from lotor.policies import POLICIES, to_text
from lotor.protocols.cast import Cast, CastMember, arm_in_id
from lotor.protocols.form import MODEL, Assignment, Form, Member, Role, RunPlan
from lotor.protocols.leakage import Finding
from lotor.protocols.linear_draws import FIRST, NOISE, TIES
from lotor.protocols.linucb_ds.paper import complexity
from lotor.protocols.linucb_ds.paper.comp import LinUCBComp
from lotor.protocols.linucb_ds.paper.customer import LinUCBCustomer
from lotor.protocols.linucb_ds.paper.leakage import MEASURED
from lotor.protocols.linucb_ds.paper.messages import WIRE
from lotor.protocols.linucb_ds.paper.owner import LinUCBOwner
from lotor.protocols.linucb_ds.paper.principal import LinUCBPrincipal
from lotor.protocols.linucb_ds.paper.terms import LinUCBTerms, terms_from
from lotor.protocols.linucb_ds.protocol import LinUCBDS, SpectralUCBDS
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.plain.linear import linear_arms, linear_layout
from lotor.protocols.received import public_key_from
from lotor.protocols.report import Counts

ATTACKS = "lotor.protocols.linucb_ds.paper.attacks"


class LinUCBDSPaper(Form[LinUCBDS]):
    """The order is the customer's terms; the owner brings its model."""

    name: ClassVar[str] = "paper"
    wire: ClassVar[str] = WIRE.rstrip("/")
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one("owner", MODEL),
        Role.one("principal"),
        Role.one("comp"),
    )
    hubs: ClassVar[tuple[str, ...]] = ("principal",)
    apart: ClassVar[str] = "principal and comp, comp and anybody who knows the arms"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (("principal", "comp"), ("comp", "owner"))
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    leaks: ClassVar[bool] = True
    attacks: ClassVar[Mapping[str, Sequence[str]]] = {
        "comp": (
            f"{ATTACKS}:ScoresDecrypted",
            f"{ATTACKS}:ArmsFromScores",
            f"{ATTACKS}:RewardsFromScores",
            f"{ATTACKS}:ThetaDecrypted",
        ),
        "principal": (f"{ATTACKS}:DirectionFromPulls", f"{ATTACKS}:ThetaDecrypted"),
    }
    counted_as: ClassVar[Mapping[str, str]] = {
        "expected": "as it must be",
        "figure_4": "Figure 4, transcribed",
        "figure_5": "Figure 5, as printed",
    }
    counts_explained: ClassVar[str] = complexity.EXPLAINED

    protocol: ClassVar[type[LinUCBDS]] = LinUCBDS

    @property
    def owner_role(self) -> str | None:
        return "owner"

    def simulated(self, protocol: LinUCBDS, run: Run) -> Mapping[str, Sequence[Member]]:
        arms = linear_arms(run, protocol.policy)
        # An order that does not fit is refused here, before the seconds that making keys takes.
        linear_layout(arms.vectors, protocol.policy, protocol.slot_bits)
        protocol.policy.start(arms.vectors, budget=run.budget, eigenvalues=arms.eigenvalues)
        return {role.name: [Member(role.name)] for role in self.roles}

    def open(
        self,
        protocol: LinUCBDS,
        run: str,
        members: Mapping[str, Sequence[Member]],  # noqa: ARG002
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        key = generate_keypair(protocol.key_bits, insecure_bits=protocol.insecure_key_bits)
        terms = LinUCBTerms(
            run=run,
            budget=budget,
            policy=to_text(protocol.policy),
            slot_bits=protocol.slot_bits,
            key_bits=protocol.insecure_key_bits or protocol.key_bits,
            customer_key=key.public.to_bytes(),
        )
        try:
            terms.check(run)
        except ProtocolError as error:
            raise InputError(str(error)) from None
        return terms.to_bytes(), LinUCBCustomer(identity, terms, key)

    def plan(self, order: bytes) -> RunPlan:
        terms = terms_from(order)
        policy = terms.check(terms.run)
        kind = self.protocol.kind
        if not isinstance(policy, kind):
            raise ProtocolError(
                f"customer ordered {terms.policy}, which {self.protocol.name} cannot run: "
                f"order {POLICIES.name_of(kind)}, or another protocol"
            )
        try:
            check_key_bits(terms.key_bits)
        except InputError as error:
            raise ProtocolError(f"customer ordered unusable keys: {error}") from None
        if public_key_from(terms.customer_key, SECURE_BITS, "customer").bits != terms.key_bits:
            raise ProtocolError(
                f"customer ordered keys of {terms.key_bits} bits but sent one of another size: "
                "order again"
            )
        return RunPlan(terms.policy, terms.budget, None, self.seats_of({}))

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        run, order, identity = assignment.run, assignment.order, assignment.identity
        workers, terms = assignment.workers, terms_from(order)
        ds = self.simulates(assignment)
        least = SECURE_BITS if ds is None else ds.minimum_key_bits
        if assignment.seat == "customer" and snapshot is not None:
            return LinUCBCustomer.restored(identity, run, snapshot, minimum_key_bits=least)
        if assignment.seat == "principal":
            # In a simulation the environment may fix them.
            world = assignment.environment
            fixed = world if isinstance(world, LinearArms) else None
            return LinUCBPrincipal(
                run,
                keys=_draw_keys(assignment.seed),
                noise=None if fixed is None else fixed.noise,
                first=None if fixed is None else fixed.first,
                minimum_key_bits=least,
                workers=workers,
                order=order,
                snapshot=snapshot,
            )
        if assignment.seat == "comp":
            return LinUCBComp(
                identity,
                run,
                key_bits=terms.key_bits,
                insecure_key_bits=None if ds is None else ds.insecure_key_bits,
                workers=workers,
                order=order,
                snapshot=snapshot,
            )
        arms = self._model(assignment, terms)
        return LinUCBOwner(
            identity, run, arms, minimum_key_bits=least, order=order, snapshot=snapshot
        )

    def _model(self, assignment: Assignment, terms: LinUCBTerms) -> LinearArms:
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
        return arms

    def complexity(self, protocol: LinUCBDS, environment: Environment, budget: int) -> Counts:
        if not isinstance(environment, LinearArms):
            raise InputError(f"{protocol.name} needs LinearArms or GraphArms, not {environment!r}")
        k, d = environment.k, environment.d
        bits = protocol.insecure_key_bits or protocol.key_bits
        return {
            "expected": complexity.ours(
                budget, k, key_bits=bits, slot_bits=protocol.slot_bits, d=d
            ),
            "figure_4": complexity.figure_4(budget, k, d),
            "figure_5": complexity.figure_5(budget, k, d),
        }

    def cast(self, protocol: LinUCBDS, budget: int, seed: int, size: int | None) -> Cast:  # noqa: ARG002
        if size is not None:
            raise InputError(
                f"the demonstration of {protocol.name} always has one owner: give no number of "
                "hospitals"
            )
        source = protocol.arms
        made = made_up(source.default, graph=issubclass(source, GraphSource))
        members = {name: CastMember(name) for name in ("comp", "customer")}
        members["principal"] = CastMember("principal", draws=True)
        members["owner"] = CastMember(
            "owner", table={"model": "survey:model"}, files={"survey.py": made.module()}
        )
        return Cast(
            story=(
                f"One owner gave a model of {made.arms().k} arms to two clouds, encrypted; they "
                f"chose {budget} times by {to_text(protocol.policy)}, and the customer learned the "
                "total."
            ),
            members=members,
            environment=made.arms(),
            pullers=("principal",),
            arm=arm_in_id,
        )


class SpectralUCBDSPaper(LinUCBDSPaper):
    """The same, for arms on a graph."""

    protocol: ClassVar[type[LinUCBDS]] = SpectralUCBDS


def _draw_keys(seed: int | None) -> dict[str, bytes]:
    """What decides arms, as in plain with the same seed; without one P draws its own."""
    if seed is None:
        return {}
    return {purpose: draw_key(seed, purpose) for purpose in (FIRST, TIES, NOISE)}
