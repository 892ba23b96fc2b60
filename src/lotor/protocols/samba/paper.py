"""SAMBA as published: everybody talks to Controller, and to nobody else."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from lotor.core.effects import Decision
from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.core.wording import counted
from lotor.crypto.paillier import SECURE_BITS, generate_keypair
from lotor.crypto.signing import Identity
from lotor.environments import BernoulliArms, Outcomes
from lotor.environments.base import Environment
from lotor.policies import Policy, from_text, to_text
from lotor.protocols.cast import Cast, CastMember, arm_in_id
from lotor.protocols.form import PULL, Assignment, Contribution, Form, Member, Role, RunPlan
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.report import Counts
from lotor.protocols.samba import complexity
from lotor.protocols.samba.comp import SambaComp
from lotor.protocols.samba.controller import SambaController
from lotor.protocols.samba.customer import SambaCustomer
from lotor.protocols.samba.leakage import MEASURED, POSITION_SELECTION
from lotor.protocols.samba.messages import WIRE
from lotor.protocols.samba.owner import SambaOwner
from lotor.protocols.samba.protocol import Samba
from lotor.protocols.samba.terms import SambaTerms, terms_from

# Each hospital of the demonstration tries a treatment of its own, which helps this share of its
# patients.
HOSPITALS = {
    "lyon": 0.45,
    "porto": 0.6,
    "graz": 0.75,
    "turku": 0.5,
    "malmo": 0.35,
    "gdansk": 0.55,
    "bilbao": 0.4,
    "basel": 0.65,
    "torino": 0.3,
    "cork": 0.5,
    "split": 0.6,
    "leuven": 0.25,
    "tartu": 0.45,
    "aarhus": 0.7,
    "patras": 0.35,
    "szeged": 0.55,
    "brno": 0.4,
    "leiden": 0.65,
    "kosice": 0.3,
    "bergen": 0.5,
}
DEMO_HOSPITALS = 3
HOSPITAL_MODULE = '''"""Outcomes of this hospital's patients, each for one decision for ever."""

from pathlib import Path

from lotor.environments import Outcomes

pull = Outcomes(Path(__file__).with_name("patients.db"))
'''


class SambaPaper(Form[Samba]):
    """The order is the customer's terms."""

    name: ClassVar[str] = "paper"
    wire: ClassVar[str] = WIRE.rstrip("/")
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one("controller"),
        Role.one("comp"),
        Role("owner", brings=(PULL,)),
    )
    hubs: ClassVar[tuple[str, ...]] = ("controller",)
    apart: ClassVar[str] = (
        "controller and comp, controller and the customer, either server and an owner"
    )
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    leaks: ClassVar[bool] = True
    counted_as: ClassVar[Mapping[str, str]] = {"expected": "as Theorem 4 counts"}

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
        servers = {role: [Member(role)] for role in ("customer", "controller", "comp")}
        return {**servers, "owner": owners}

    def open(
        self,
        protocol: Samba,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        owners = members["owner"]
        scale = _common_scale(owners)
        key = generate_keypair(protocol.key_bits, insecure_bits=protocol.insecure_key_bits)
        terms = SambaTerms(
            run=run,
            budget=budget,
            owners={owner.name: owner.contribution.arms for owner in owners},
            policy=to_text(protocol.policy),
            iterations=protocol.policy.iterations,
            selection=protocol.selection,
            low=scale.low,
            high=scale.high,
            customer_key=key.public.to_bytes(),
        )
        try:
            terms.check(run, protocol.policy)
        except ProtocolError as error:
            raise InputError(str(error)) from None
        return terms.to_bytes(), SambaCustomer(identity, terms, key)

    def plan(self, order: bytes) -> RunPlan:
        terms = terms_from(order)
        terms.check(terms.run, _policy(terms))
        seats = self.seats_of({"owner": tuple(terms.owners)})
        return RunPlan(terms.policy, terms.budget, terms.k, seats, owners=len(terms.owners))

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        run, order, identity = assignment.run, assignment.order, assignment.identity
        terms = terms_from(order)
        samba = self.simulates(assignment)
        policy = _policy(terms) if samba is None else samba.policy
        least = SECURE_BITS if samba is None else samba.minimum_key_bits
        if assignment.seat == "customer" and snapshot is not None:
            return SambaCustomer.restored(identity, run, policy, snapshot, minimum_key_bits=least)
        if assignment.seat == "controller":
            return SambaController(
                run, policy, minimum_key_bits=least, order=order, snapshot=snapshot
            )
        if assignment.seat == "comp":
            return SambaComp(identity, run, policy, order=order, snapshot=snapshot)
        seed = assignment.seed
        return SambaOwner(
            identity,
            run,
            policy,
            held=assignment.contribution.arms,
            scale=_scale(assignment.contribution),
            minimum_key_bits=least,
            own_key=None if seed is None else draw_key(seed, "owner"),
            coin_key=None if seed is None else draw_key(seed, "coin"),
            order=order,
            snapshot=snapshot,
        )

    def complexity(self, protocol: Samba, environment: Environment, budget: int) -> Counts:
        counts = complexity.operations(
            environment.k,
            budget,
            protocol.policy.iterations,
            owners=protocol.owners,
            selection=protocol.selection,
        )
        return {"expected": counts}

    def notes(self, protocol: Samba) -> Sequence[str]:
        return [POSITION_SELECTION] if protocol.selection == "position" else []

    def cast(self, protocol: Samba, budget: int, seed: int, size: int | None) -> Cast:
        count = DEMO_HOSPITALS if size is None else size
        if not 2 <= count <= len(HOSPITALS):
            raise InputError(f"the demonstration has 2 to {len(HOSPITALS)} hospitals, not {count}")
        means = dict(list(HOSPITALS.items())[:count])
        return hospitals(means, budget=budget, seed=seed, policy=to_text(protocol.policy))


def hospitals(means: Mapping[str, float], *, budget: int, seed: int, policy: str) -> Cast:
    """Hospitals with one arm each, whose outcomes are those of `BernoulliArms` with this seed."""
    arms = BernoulliArms(list(means.values()))
    pull = arms.start(seed)
    members = {name: CastMember(name) for name in ("controller", "comp", "customer")}
    for arm, name in enumerate(means):
        outcomes = [pull(Decision("", t, arm, "")) for t in range(budget)]
        members[name] = CastMember(
            "owner",
            table={"pull": "hospital:pull", "repeatable": True},
            files={"hospital.py": HOSPITAL_MODULE, "patients.db": _recorded(outcomes)},
            draws=True,
        )
    return Cast(
        story=(
            f"{len(means)} hospitals ({', '.join(means)}) treated {budget} patients and chose by "
            f"{policy} among their treatments."
        ),
        members=members,
        environment=arms,
        pullers=tuple(means),
        arm=arm_in_id,
    )


def _recorded(outcomes: Sequence[float]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        Outcomes.create(path, outcomes)

    return write


def _policy(terms: SambaTerms) -> Policy:
    """The policy that the customer ordered."""
    try:
        policy = from_text(terms.policy)
    except InputError as error:
        raise ProtocolError(f"customer ordered a policy that is not known here: {error}") from None
    if not isinstance(policy, Policy):
        raise ProtocolError(
            f"customer ordered {terms.policy}, which samba cannot run: order one such as ucb"
        )
    return policy


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
