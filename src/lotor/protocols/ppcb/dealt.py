"""PPCB with a dealer: everybody talks to both servers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import Identity
from lotor.environments import ContextualArms
from lotor.environments.base import Environment
from lotor.policies import to_text
from lotor.protocols.cast import Cast
from lotor.protocols.contextual_draws import SERVERS
from lotor.protocols.earlier import Earlier
from lotor.protocols.form import (
    ACT,
    FEATURES,
    PULL,
    REWARD,
    Assignment,
    Contribution,
    Form,
    Member,
    Role,
    RunPlan,
)
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.plain.contextual import contextual_arms
from lotor.protocols.ppcb import complexity
from lotor.protocols.ppcb.actor import PPCBActor
from lotor.protocols.ppcb.circuits import PPCBCircuits
from lotor.protocols.ppcb.dealer import PPCBDealer
from lotor.protocols.ppcb.demo import travel
from lotor.protocols.ppcb.kept_model import check_continues, kept_model
from lotor.protocols.ppcb.leakage import KEPT, MEASURED, PREDICTED
from lotor.protocols.ppcb.messages import WIRE
from lotor.protocols.ppcb.owner import PPCBOwner
from lotor.protocols.ppcb.protocol import PPCB
from lotor.protocols.ppcb.receiver import PPCBReceiver
from lotor.protocols.ppcb.server import PPCBServer
from lotor.protocols.ppcb.terms import FIRST, SECOND, PPCBTerms, terms_from
from lotor.protocols.report import Comparison, Counts, ReportTable

BOTH = (FIRST, SECOND)
ATTACKS = "lotor.protocols.ppcb.attacks"
MEMBERSHIP = "lotor.protocols.ppcb.membership_attacks"
FROM_SHARES = tuple(f"{ATTACKS}:{what}FromShares" for what in ("Arms", "Contexts", "Rewards"))


class PPCBDealt(Form[PPCB]):
    """The order is the receiver's terms."""

    name: ClassVar[str] = "dealt"
    exact: ClassVar[bool] = False
    wire: ClassVar[str] = WIRE.rstrip("/")
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("receiver", PULL),
        Role.one("actor", ACT),
        Role.one("dealer"),
        Role("server", BOTH),
        Role("owner", brings=(FEATURES,)),
    )
    hubs: ClassVar[tuple[str, ...]] = BOTH
    paced: ClassVar[bool] = True
    continuable: ClassVar[bool] = True
    keeps: ClassVar[Mapping[str, str]] = {
        "server": "its share of the model: random words, which tell nothing without the other's"
    }
    apart: ClassVar[str] = "any two of the dealer and the two servers"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (("server", "server"), ("server", "dealer"))
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = {
        "actor": (
            f"{ATTACKS}:ArmsFromShares",
            f"{MEMBERSHIP}:ContextsFromArms",
            f"{ATTACKS}:ContextsFromShares",
            f"{ATTACKS}:RewardsFromShares",
        ),
        "receiver": (f"{ATTACKS}:RewardsPulled", f"{ATTACKS}:ArmsFromShares"),
        "server": FROM_SHARES,
        "dealer": FROM_SHARES,
    }
    counted_as: ClassVar[Mapping[str, str]] = {
        "expected": "as it must be",
        "per_step": "a step",
        "published_program": "authors' program",
    }

    def simulated(self, protocol: PPCB, run: Run) -> Mapping[str, Sequence[Member]]:
        features = protocol.split(contextual_arms(run, protocol.rounds_before(run)).d)
        scale = run.scale
        return {
            "receiver": [Member("receiver", Contribution(low=scale.low, high=scale.high))],
            "actor": [Member("actor", Contribution(arms=run.k))],
            "dealer": [Member("dealer")],
            "server": [Member(seat) for seat in BOTH],
            "owner": [
                Member(name, Contribution(features=count)) for name, count in features.items()
            ],
        }

    def open(
        self,
        protocol: PPCB,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,  # noqa: ARG002
    ) -> tuple[bytes, Party]:
        return self._ordered(protocol, run, members, budget, None)

    def reopen(
        self,
        protocol: PPCB,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,  # noqa: ARG002
        earlier: Earlier,
    ) -> tuple[bytes, Party]:
        return self._ordered(protocol, run, members, budget, earlier.order)

    @staticmethod
    def _ordered(
        protocol: PPCB,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        earlier: bytes | None,
    ) -> tuple[bytes, Party]:
        for owner in members["owner"]:
            if owner.contribution.features < 1:
                raise InputError(
                    f"{owner.name} brings no features: let it set `features` and `dimensions` "
                    "under [owner] in its party.toml"
                )
        (receiver,), (actor,) = members["receiver"], members["actor"]
        paid = receiver.contribution
        terms = protocol.terms(
            run,
            budget=budget,
            arms=actor.contribution.arms,
            owners={owner.name: owner.contribution.features for owner in members["owner"]},
            scale=RewardScale(paid.low, paid.high),
            earlier=earlier,
        )
        order = terms.to_bytes()
        # As everybody else reads them: a budget of 9 becomes 9.0, and all digests agree.
        return order, PPCBReceiver(terms_from(order))

    def plan(self, order: bytes) -> RunPlan:
        terms = terms_from(order)
        # Features are not added up, so that few owners show no more than many.
        return RunPlan(
            terms.policy,
            terms.steps,
            terms.arms,
            self.seats_of({"owner": tuple(terms.owners)}),
            # What earlier runs told is charged already: what this one adds is at most this, since
            # each arm is a randomised response whatever was learnt before.
            privacy=terms.accountant.total(terms.steps),
            delta=terms.delta,
            account=terms.account(),
            keeps=terms.keep,
            continues="" if terms.continued is None else terms.continued.run,
            before=terms.before,
            counts="decisions" if terms.predicts else REWARD,
        )

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        terms, seat = terms_from(assignment.order), assignment.seat
        if seat == "receiver" and snapshot is not None:
            return PPCBReceiver.restored(assignment.run, snapshot)
        if terms.continued is not None and assignment.earlier is not None:
            check_continues(terms, terms_from(assignment.earlier.order))
        if seat == "actor":
            _check_arms(terms, assignment)
            return PPCBActor(terms, snapshot=snapshot)
        if seat == "dealer":
            return PPCBDealer(terms, snapshot=snapshot)
        if seat in BOTH:
            number, seed = BOTH.index(seat), assignment.seed
            key = None if seed is None else draw_key(seed, SERVERS[number])
            kept = None if snapshot is not None else kept_model(seat, terms, assignment.earlier)
            return PPCBServer(number, terms, draw_key=key, kept=kept, snapshot=snapshot)
        _check_features(terms, assignment)
        return PPCBOwner(seat, terms, snapshot=snapshot)

    def complexity(self, protocol: PPCB, environment: Environment, budget: int) -> Counts:
        terms = _counted_terms(protocol, environment, budget)
        return {
            "expected": complexity.whole_run(terms),
            "per_step": complexity.per_step(terms),
            "published_program": {"rounds": complexity.PUBLISHED_PROGRAM},
            "table_1": complexity.TABLE_1,
            "ours": complexity.OURS,
        }

    def repeats(self, protocol: PPCB, environment: Environment) -> int:
        return PPCBCircuits(
            _counted_terms(protocol, environment, protocol.delay + 1)
        ).schedule.batch

    def tables(
        self,
        protocol: PPCB,  # noqa: ARG002
        comparison: Comparison,  # noqa: ARG002
    ) -> Sequence[ReportTable]:
        return [
            ReportTable(
                "Rounds of one operation",
                ("operation", "Table 1 of the paper", "here"),
                [
                    (name, rounds, complexity.OURS[name])
                    for name, rounds in complexity.TABLE_1.items()
                ],
                complexity.EXPLAINED,
            )
        ]

    def notes(self, protocol: PPCB) -> Sequence[str]:
        return [KEPT] * protocol.keep + [PREDICTED] * protocol.predict

    def cast(self, protocol: PPCB, budget: int, seed: int, size: int | None) -> Cast:  # noqa: ARG002
        if size is not None:
            raise InputError(
                "the demonstration of ppcb always has three firms: give no number of hospitals"
            )
        return travel(budget=budget, policy=to_text(protocol.policy))


def _check_arms(terms: PPCBTerms, assignment: Assignment) -> None:
    if assignment.contribution.arms != terms.arms:
        raise InputError(
            f"the actor has {assignment.contribution.arms} arms, and the order counts on "
            f"{terms.arms}: order anew"
        )


def _check_features(terms: PPCBTerms, assignment: Assignment) -> None:
    wanted, seat = terms.owners.get(assignment.seat), assignment.seat
    if assignment.contribution.features != wanted:
        raise InputError(
            f"{seat} brings {assignment.contribution.features} features, and the order counts on "
            f"{wanted}: order anew"
        )


def _counted_terms(protocol: PPCB, environment: Environment, budget: int) -> PPCBTerms:
    if not isinstance(environment, ContextualArms):
        raise InputError(f"ppcb needs ContextualArms, not {environment!r}")
    sizes: dict[str, Any] = {
        "arms": environment.k,
        # How the features are split changes none of the counts.
        "owners": {"owners": environment.d},
        "scale": RewardScale(*environment.reward_range),
    }
    earlier = None
    if protocol.predict:
        learning = replace(protocol, predict=False, keep=True, privacy_budget=None)
        earlier = learning.terms("earlier", budget=1, **sizes).to_bytes()
    return protocol.terms("", budget=budget, earlier=earlier, **sizes)
