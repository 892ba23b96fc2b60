"""SAMBA's parties as processes of their own: everybody talks to Controller, and to nobody else."""

from collections.abc import Mapping, Sequence

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.paillier import SECURE_BITS, generate_keypair
from lotor.crypto.signing import Identity
from lotor.policies import from_text, to_text
from lotor.protocols.deployment import Member, Offer, Place, Plan
from lotor.protocols.party import Party, draw_key
from lotor.protocols.samba.comp import Comp
from lotor.protocols.samba.controller import Controller
from lotor.protocols.samba.customer import Customer
from lotor.protocols.samba.messages import WIRE
from lotor.protocols.samba.owner import Owner
from lotor.protocols.samba.protocol import Samba
from lotor.protocols.samba.terms import Terms, terms_from

SERVERS = ("customer", "controller", "comp")


class SambaDeployment:
    """The order is the customer's terms."""

    name = "samba"
    wire = WIRE.rstrip("/")
    opener = "customer"

    def seats(self, members: Mapping[str, Sequence[Member]]) -> dict[str, Member]:
        seats: dict[str, Member] = {}
        for role in SERVERS:
            if len(members.get(role, ())) != 1:
                raise InputError(
                    f"a SAMBA run has one {role}, but {len(members.get(role, ()))} are named: "
                    f"name one under [members] in party.toml"
                )
            seats[role] = members[role][0]
        for owner in members.get("owner", ()):
            if owner.name in seats:
                raise InputError(f"{owner.name} is named twice among the members of the run")
            seats[owner.name] = owner
        if len(seats) == len(SERVERS):
            raise InputError("a SAMBA run needs owners: name them under [members] in party.toml")
        return seats

    def open(
        self,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        options: Mapping[str, str | int],
        identity: Identity,
    ) -> tuple[bytes, Party]:
        given = {name: value for name, value in options.items() if name != "policy"}
        samba = Samba(from_text(str(options.get("policy", "ucb"))), **given)  # type: ignore[arg-type]
        owners = [owner for owner in self.seats(members).values() if owner in members["owner"]]
        scale = _common_scale(owners)
        key = generate_keypair(samba.key_bits)
        terms = Terms(
            run=run,
            budget=budget,
            owners={owner.name: owner.offer.arms for owner in owners},
            policy=to_text(samba.policy),
            iterations=samba.policy.iterations,
            selection=samba.selection,
            low=scale.low,
            high=scale.high,
            customer_key=key.public.to_bytes(),
        )
        try:
            terms.check(run, samba.policy)
        except ProtocolError as error:
            raise InputError(str(error)) from None
        return terms.to_bytes(), Customer(identity, terms, key)

    def plan(self, order: bytes) -> Plan:
        terms = terms_from(order)
        try:
            policy = from_text(terms.policy)
        except InputError as error:
            raise ProtocolError(
                f"customer ordered a policy that is not known here: {error}"
            ) from None
        terms.check(terms.run, policy)
        if set(terms.owners) & set(SERVERS):
            raise ProtocolError("customer ordered a run in which an owner is named like a server")
        seats = {**{server: server for server in SERVERS}, **dict.fromkeys(terms.owners, "owner")}
        others = [seat for seat in seats if seat != "controller"]
        links = {**dict.fromkeys(others, ("controller",)), "controller": tuple(others)}
        return Plan(terms.policy, terms.budget, terms.k, seats, links, owners=len(terms.owners))

    def party(self, place: Place, snapshot: bytes | None = None) -> Party:
        terms = terms_from(place.order)
        policy = from_text(terms.policy)
        run, order, identity = place.run, place.order, place.identity
        if place.seat == "controller":
            return Controller(run, policy, order=order, snapshot=snapshot)
        if place.seat == "comp":
            return Comp(identity, run, policy, order=order, snapshot=snapshot)
        if place.seat == "customer":
            if snapshot is None:
                raise InputError("the customer's party is made when it orders a run")
            return Customer.restored(identity, run, policy, snapshot, minimum_key_bits=SECURE_BITS)
        if "pull" not in place.brings:
            raise InputError(
                "the owner has no function that answers pulls, and samba needs one: let it set "
                "`pull` under [owner] in its party.toml"
            )
        seed = place.trial_seed
        return Owner(
            identity,
            run,
            policy,
            held=place.offer.arms,
            scale=_scale(place.offer),
            own_key=None if seed is None else draw_key(seed, "owner"),
            coin_key=None if seed is None else draw_key(seed, "coin"),
            order=order,
            snapshot=snapshot,
        )


def _scale(offer: Offer) -> RewardScale:
    return RewardScale(offer.low, offer.high)


def _common_scale(owners: Sequence[Member]) -> RewardScale:
    """The range of rewards that all owners offer."""
    for owner in owners:
        if _scale(owner.offer) != _scale(owners[0].offer):
            raise InputError(
                f"{owner.name} offers rewards from {owner.offer.low} to {owner.offer.high}, and "
                f"{owners[0].name} from {owners[0].offer.low} to {owners[0].offer.high}: owners "
                "of one run agree on reward_range in their party.toml"
            )
    return _scale(owners[0].offer)
