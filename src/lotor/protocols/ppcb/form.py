"""What all forms of PPCB have in common: everybody talks to two servers."""

from collections.abc import Callable, Mapping, Sequence
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
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.plain.contextual import contextual_arms
from lotor.protocols.ppcb.demo import travel
from lotor.protocols.ppcb.kept_model import check_continues, kept_model
from lotor.protocols.ppcb.leakage import KEPT, PREDICTED
from lotor.protocols.ppcb.owner import PPCBOwner
from lotor.protocols.ppcb.protocol import PPCB
from lotor.protocols.ppcb.receiver import PPCBReceiver
from lotor.protocols.ppcb.terms import FIRST, SECOND, PPCBTerms, terms_from

BOTH = (FIRST, SECOND)
ROLES = (
    Role.one("receiver", PULL),
    Role.one("actor", ACT),
    Role("server", BOTH),
    Role("owner", brings=(FEATURES,)),
)
ATTACKS = "lotor.protocols.ppcb.attacks"
MEMBERSHIP = "lotor.protocols.ppcb.membership_attacks"


class PPCBForm(Form[PPCB]):
    """The order is the receiver's terms."""

    exact: ClassVar[bool] = False
    hubs: ClassVar[tuple[str, ...]] = BOTH
    paced: ClassVar[bool] = True
    continuable: ClassVar[bool] = True
    keeps: ClassVar[Mapping[str, str]] = {
        "server": "its share of the model: random words, which tell nothing without the other's"
    }

    server_kind: ClassVar[Callable[..., Party]]
    actor_kind: ClassVar[Callable[..., Party]]
    helper_kinds: ClassVar[Mapping[str, Callable[..., Party]]] = {}
    """Whoever else has a seat."""

    def completed(self, terms: PPCBTerms) -> PPCBTerms:
        """With what the form itself adds to terms."""
        return terms

    def simulated(self, protocol: PPCB, run: Run) -> Mapping[str, Sequence[Member]]:
        features = protocol.split(contextual_arms(run, protocol.rounds_before(run)).d)
        scale = run.scale
        brings = {
            "receiver": Contribution(low=scale.low, high=scale.high),
            "actor": Contribution(arms=run.k),
        }
        members = {
            role.name: [Member(seat, brings.get(seat, Contribution())) for seat in role.seats]
            for role in self.roles
        }
        owners = [Member(name, Contribution(features=n)) for name, n in features.items()]
        return {**members, "owner": owners}

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

    def _ordered(
        self,
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
        order = self.completed(terms).to_bytes()
        # As everybody else reads them: a budget of 9 becomes 9.0, and all digests agree.
        return order, PPCBReceiver(self.terms_of(order))

    def terms_of(self, order: bytes) -> PPCBTerms:
        """The terms in an order of this form."""
        return terms_from(order)

    def plan(self, order: bytes) -> RunPlan:
        terms = self.terms_of(order)
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
        terms, seat = self.terms_of(assignment.order), assignment.seat
        if seat == "receiver" and snapshot is not None:
            return PPCBReceiver.restored(assignment.run, snapshot)
        if terms.continued is not None and assignment.earlier is not None:
            check_continues(terms, self.terms_of(assignment.earlier.order))
        if seat == "actor":
            _check_arms(terms, assignment)
            return self.actor_kind(terms, snapshot=snapshot)
        if seat in BOTH:
            number, seed = BOTH.index(seat), assignment.seed
            key = None if seed is None else draw_key(seed, SERVERS[number])
            kept = None if snapshot is not None else kept_model(seat, terms, assignment.earlier)
            return self.server_kind(number, terms, draw_key=key, kept=kept, snapshot=snapshot)
        if seat in self.helper_kinds:
            return self.helper_kinds[seat](terms, snapshot=snapshot)
        _check_features(terms, assignment)
        return PPCBOwner(seat, terms, snapshot=snapshot)

    def counted_terms(self, protocol: PPCB, environment: Environment, budget: int) -> PPCBTerms:
        """The terms of a run with so many rounds, for whoever counts what it takes."""
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
            before = learning.terms("earlier", budget=1, **sizes)
            earlier = self.completed(before).to_bytes()
        terms = protocol.terms("", budget=budget, earlier=earlier, **sizes)
        return self.completed(terms)

    def notes(self, protocol: PPCB) -> Sequence[str]:
        return [KEPT] * protocol.keep + [PREDICTED] * protocol.predict

    def cast(self, protocol: PPCB, budget: int, seed: int, size: int | None) -> Cast:  # noqa: ARG002
        if size is not None:
            raise InputError(
                "the demonstration of ppcb always has three firms: give no number of hospitals"
            )
        policy, ours = to_text(protocol.policy), {role.name for role in ROLES}
        helpers = [role.name for role in self.roles if role.name not in ours]
        return travel(budget=budget, policy=policy, helpers=helpers)


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
