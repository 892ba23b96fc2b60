"""LinUCB-DS and SpectralUCB-DS with live rewards: the owner pulls, and the clouds learn."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.environments import LinearArms, VectorArms
from lotor.environments.base import Environment
from lotor.policies import to_text
from lotor.policies.linear import LiveLayout
from lotor.protocols.cast import Cast
from lotor.protocols.form import MODEL, PULL, Assignment, Contribution, Member, Role
from lotor.protocols.kept_linear import LIVE_NOT_CONTINUED
from lotor.protocols.leakage import Finding
from lotor.protocols.linucb_ds.live.comp import LiveComp
from lotor.protocols.linucb_ds.live.complexity import live_counts
from lotor.protocols.linucb_ds.live.customer import LiveCustomer
from lotor.protocols.linucb_ds.live.demo import shop
from lotor.protocols.linucb_ds.live.leakage import MEASURED
from lotor.protocols.linucb_ds.live.messages import WIRE
from lotor.protocols.linucb_ds.live.owner import LiveOwner
from lotor.protocols.linucb_ds.live.principal import LivePrincipal
from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.linucb_ds.paper.form import PaillierForm
from lotor.protocols.linucb_ds.protocol import PAPER_LIVE, LinUCBDS, SpectralUCBDS
from lotor.protocols.party import Party, Run
from lotor.protocols.plain.linear import live_arms
from lotor.protocols.report import Counts

ATTACKS = "lotor.protocols.linucb_ds.live.attacks"


class LinUCBDSLive(PaillierForm[LiveTerms]):
    """Rewards under Paillier at P, whose scores Comp decrypts. Nobody has a theta."""

    name: ClassVar[str] = PAPER_LIVE
    wire: ClassVar[str] = WIRE.rstrip("/")
    continuable: ClassVar[bool] = False
    why_not_continued: ClassVar[str] = LIVE_NOT_CONTINUED
    keeps: ClassVar[Mapping[str, str]] = {}
    terms_kind = LiveTerms
    customer_kind = LiveCustomer
    principal_kind = LivePrincipal
    comp_kind = LiveComp
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one("owner", MODEL, PULL),
        Role.one("principal"),
        Role.one("comp"),
    )
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = {
        "comp": (
            f"{ATTACKS}:LiveScoresDecrypted",
            f"{ATTACKS}:LiveArmsFromScores",
            f"{ATTACKS}:LiveRewardsFromScores",
            f"{ATTACKS}:RewardsDecrypted",
        ),
        "principal": (
            f"{ATTACKS}:ArmsHandedOn",
            f"{ATTACKS}:LiveDirectionFromPulls",
            f"{ATTACKS}:RewardsDecrypted",
        ),
        "owner": (f"{ATTACKS}:ArmsHandedOn", f"{ATTACKS}:LiveRewardsPulled"),
    }

    def simulated(self, protocol: LinUCBDS, run: Run) -> Mapping[str, Sequence[Member]]:
        arms = live_arms(run, protocol.policy)
        # An order that does not fit is refused here, before the seconds that making keys may take.
        model = protocol.policy.start(arms.vectors, budget=run.budget, eigenvalues=arms.eigenvalues)
        LiveLayout(arms.vectors, model.least_penalty, run.scale, run.budget)
        owner = Member("owner", Contribution(arms.k, run.scale.low, run.scale.high))
        others = {role.name: [Member(role.name)] for role in self.roles}
        return {**others, "owner": [owner]}

    def stated(self, members: Mapping[str, Sequence[Member]]) -> Mapping[str, Any]:
        (owner,) = members["owner"]
        return {"low": owner.contribution.low, "high": owner.contribution.high}

    def owner(
        self, assignment: Assignment, terms: LiveTerms, least: int, snapshot: bytes | None
    ) -> Party:
        terms.check(assignment.run)
        arms, stated = assignment.data, assignment.contribution
        if not isinstance(arms, LinearArms | VectorArms):
            raise InputError(
                f"the owner brings a model of type {type(arms).__name__}, and "
                f"{self.protocol.name} with live rewards needs VectorArms: let it correct `model` "
                "under [owner] in its party.toml"
            )
        owner = LiveOwner(
            assignment.identity,
            assignment.run,
            arms,
            RewardScale(stated.low, stated.high),
            minimum_key_bits=least,
            order=assignment.order,
            snapshot=snapshot,
        )
        # What does not fit is refused in the owner's name, before the run begins.
        owner.layout_of(terms)
        return owner

    def complexity(self, protocol: LinUCBDS, environment: Environment, budget: int) -> Counts:
        if not isinstance(environment, LinearArms | VectorArms):
            raise InputError(
                f"{protocol.name} needs VectorArms, LinearArms or GraphArms, not {environment!r}"
            )
        bits = protocol.insecure_key_bits or protocol.key_bits
        return {"expected": live_counts(budget, environment.k, key_bits=bits)}

    def cast(self, protocol: LinUCBDS, budget: int, seed: int, size: int | None) -> Cast:
        made, seats = self.shown(protocol, size), [role.name for role in self.roles]
        return shop(made, seats, budget=budget, seed=seed, policy=to_text(protocol.policy))


class SpectralUCBDSLive(LinUCBDSLive):
    """The same, for arms on a graph."""

    protocol: ClassVar[type[LinUCBDS]] = SpectralUCBDS
