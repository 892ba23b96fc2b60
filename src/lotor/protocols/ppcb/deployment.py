"""PPCB's parties as processes of their own: everybody talks to both servers."""

from collections.abc import Mapping, Sequence

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import Identity
from lotor.policies.contextual import LinearEpsilonGreedy, contextual_from_text
from lotor.protocols.contextual_draws import SERVERS
from lotor.protocols.deployment import Member, Place, Plan
from lotor.protocols.party import Party, draw_key
from lotor.protocols.ppcb.actor import PPCBActor
from lotor.protocols.ppcb.dealer import PPCBDealer
from lotor.protocols.ppcb.messages import WIRE
from lotor.protocols.ppcb.owner import PPCBOwner
from lotor.protocols.ppcb.protocol import PPCB
from lotor.protocols.ppcb.receiver import PPCBReceiver
from lotor.protocols.ppcb.server import PPCBServer
from lotor.protocols.ppcb.terms import FIRST, SECOND, PPCBTerms, terms_from

# How many a run has of each role, and the seats that they take.
SINGLE = ("receiver", "actor", "dealer")
BOTH = (FIRST, SECOND)


class PPCBDeployment:
    """The order is the receiver's terms."""

    name = PPCB.name
    wire = WIRE.rstrip("/")
    opener = "receiver"

    def seats(self, members: Mapping[str, Sequence[Member]]) -> dict[str, Member]:
        seats: dict[str, Member] = {}
        for role, wanted in (*((role, (role,)) for role in SINGLE), ("server", BOTH)):
            named = members.get(role, ())
            if len(named) != len(wanted):
                raise InputError(
                    f"a ppcb run has {len(wanted)} of role {role}, but {len(named)} are named: "
                    "correct [members] in party.toml"
                )
            seats.update(zip(wanted, named, strict=True))
        if not members.get("owner"):
            raise InputError(
                "a ppcb run needs feature parties: name them as owner under [members] in party.toml"
            )
        for owner in members["owner"]:
            if owner.name in seats:
                raise InputError(
                    f"{owner.name} is the name of a seat: a feature party needs another"
                )
            seats[owner.name] = owner
        return seats

    def open(
        self,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        options: Mapping[str, str | int],
        identity: Identity,  # noqa: ARG002
    ) -> tuple[bytes, Party]:
        seats = self.seats(members)
        for owner in members["owner"]:
            if owner.offer.features < 1:
                raise InputError(
                    f"{owner.name} brings no features: let it set `features` and `dimensions` "
                    "under [owner] in its party.toml"
                )
        paid, arms = seats["receiver"].offer, seats["actor"].offer.arms
        terms = _protocol(options).terms(
            run,
            budget=budget,
            arms=arms,
            owners={owner.name: owner.offer.features for owner in members["owner"]},
            scale=RewardScale(paid.low, paid.high),
        )
        return terms.to_bytes(), PPCBReceiver(terms)

    def plan(self, order: bytes) -> Plan:
        terms = terms_from(order)
        if set(terms.owners) & {*SINGLE, *BOTH}:
            raise ProtocolError("receiver ordered a run in which a feature party has a seat's name")
        seats = {
            **{seat: seat for seat in SINGLE},
            **dict.fromkeys(BOTH, "server"),
            **dict.fromkeys(terms.owners, "owner"),
        }
        links: dict[str, tuple[str, ...]] = dict.fromkeys(seats, BOTH)
        for server in BOTH:
            links[server] = tuple(seat for seat in seats if seat != server)
        # Features are not added up, so that few owners show no more than many.
        told = terms.accountant.total(terms.steps)
        return Plan(terms.policy, terms.steps, terms.arms, seats, links, privacy=told)

    def party(self, place: Place, snapshot: bytes | None = None) -> Party:
        terms = terms_from(place.order)
        if place.seat == "receiver":
            _require(place, "pull", "answers with the reward of a decision")
            if snapshot is None:
                raise InputError("the receiver's party is made when it orders a run")
            return PPCBReceiver.restored(place.run, snapshot)
        if place.seat == "actor":
            _require(place, "act", "carries out a decision")
            if place.offer.arms != terms.arms:
                raise InputError(
                    f"the actor has {place.offer.arms} arms, and the order counts on {terms.arms}: "
                    "order anew"
                )
            return PPCBActor(terms, snapshot=snapshot)
        if place.seat == "dealer":
            return PPCBDealer(terms, snapshot=snapshot)
        if place.seat in BOTH:
            number, seed = BOTH.index(place.seat), place.trial_seed
            key = None if seed is None else draw_key(seed, SERVERS[number])
            return PPCBServer(number, terms, draw_key=key, snapshot=snapshot)
        _require(place, "features", "answers with its features of a context")
        _check_features(terms, place)
        return PPCBOwner(place.seat, terms, snapshot=snapshot)


def _protocol(options: Mapping[str, str | int]) -> PPCB:
    """The protocol that was asked for; numbers with a point come as text."""
    given: dict[str, object] = {**options}
    policy = contextual_from_text(str(given.pop("policy", "linear-epsilon-greedy")))
    if not isinstance(policy, LinearEpsilonGreedy):
        raise InputError(f"ppcb runs linear-epsilon-greedy, not {options['policy']}")
    try:
        for name in ("privacy_budget", "delta"):
            if name in given:
                given[name] = float(str(given[name]))
        return PPCB(policy, **given)  # type: ignore[arg-type]  # the class checks each
    except (TypeError, ValueError) as error:
        raise InputError(f"ppcb does not take these options: {error}") from None


def _require(place: Place, kind: str, does: str) -> None:
    if kind not in place.brings:
        raise InputError(
            f"{place.seat} has no function that {does}: let it set `{kind}` under [owner] in its "
            "party.toml"
        )


def _check_features(terms: PPCBTerms, place: Place) -> None:
    if place.offer.features != terms.owners[place.seat]:
        raise InputError(
            f"{place.seat} brings {place.offer.features} features, and the order counts on "
            f"{terms.owners[place.seat]}: order anew"
        )
