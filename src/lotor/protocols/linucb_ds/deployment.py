"""The parties of LinUCB-DS and SpectralUCB-DS as processes of their own: everybody talks to P."""

from collections.abc import Mapping, Sequence

from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.paillier import SECURE_BITS, check_key_bits, generate_keypair
from lotor.crypto.signing import Identity
from lotor.environments import LinearArms
from lotor.policies.linear import LINEAR_CATALOGUE, linear_from_text, linear_to_text
from lotor.protocols.deployment import Member, Place, Plan
from lotor.protocols.linear_draws import FIRST, NOISE, TIES
from lotor.protocols.linucb_ds.comp import Comp
from lotor.protocols.linucb_ds.customer import Customer
from lotor.protocols.linucb_ds.messages import WIRE
from lotor.protocols.linucb_ds.owner import Owner
from lotor.protocols.linucb_ds.principal import Principal
from lotor.protocols.linucb_ds.protocol import LinUCBDS
from lotor.protocols.linucb_ds.terms import Terms, terms_from
from lotor.protocols.party import Party, draw_key
from lotor.protocols.received import public_key_from

SEATS = ("customer", "owner", "principal", "comp")


class LinearDeployment:
    """The order is the customer's terms; the owner brings its model."""

    wire = WIRE.rstrip("/")
    opener = "customer"

    def __init__(self, kind: type[LinUCBDS]) -> None:
        self._kind = kind

    @property
    def name(self) -> str:
        return self._kind.name

    def seats(self, members: Mapping[str, Sequence[Member]]) -> dict[str, Member]:
        seats: dict[str, Member] = {}
        for role in SEATS:
            if len(members.get(role, ())) != 1:
                raise InputError(
                    f"a {self.name} run has one {role}, but {len(members.get(role, ()))} are "
                    "named: name one under [members] in party.toml"
                )
            seats[role] = members[role][0]
        return seats

    def open(
        self,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        options: Mapping[str, str | int],
        identity: Identity,
    ) -> tuple[bytes, Party]:
        self.seats(members)
        given = {name: value for name, value in options.items() if name != "policy"}
        if "policy" in options:
            policy = linear_from_text(str(options["policy"]))
            protocol = self._kind(policy, **given)  # type: ignore[arg-type]
        else:
            protocol = self._kind(**given)  # type: ignore[arg-type]
        key = generate_keypair(protocol.key_bits)
        terms = Terms(
            run=run,
            budget=budget,
            policy=linear_to_text(protocol.policy),
            slot_bits=protocol.slot_bits,
            key_bits=protocol.key_bits,
            customer_key=key.public.to_bytes(),
        )
        try:
            terms.check(run)
        except ProtocolError as error:
            raise InputError(str(error)) from None
        return terms.to_bytes(), Customer(identity, terms, key)

    def plan(self, order: bytes) -> Plan:
        terms = terms_from(order)
        policy = terms.check(terms.run)
        if not isinstance(policy, self._kind.kind):
            names = [name for name, kind in LINEAR_CATALOGUE.items() if kind is self._kind.kind]
            raise ProtocolError(
                f"customer ordered {terms.policy}, which is no policy of {self.name}: order "
                f"{' or '.join(names)}, or another protocol"
            )
        try:
            check_key_bits(terms.key_bits)
        except InputError as error:
            raise ProtocolError(f"customer ordered unusable keys: {error}") from None
        if public_key_from(terms.customer_key, SECURE_BITS, "customer").bits != terms.key_bits:
            raise ProtocolError(
                f"customer ordered keys of {terms.key_bits} bits and sent one of another size: "
                "order again"
            )
        others = [seat for seat in SEATS if seat != "principal"]
        links = {**dict.fromkeys(others, ("principal",)), "principal": tuple(others)}
        return Plan(terms.policy, terms.budget, None, {seat: seat for seat in SEATS}, links)

    def party(self, place: Place, snapshot: bytes | None = None) -> Party:
        terms = terms_from(place.order)
        run, order, identity = place.run, place.order, place.identity
        if place.seat == "principal":
            keys, workers = _trial_keys(place.trial_seed), place.workers
            return Principal(run, keys=keys, workers=workers, order=order, snapshot=snapshot)
        if place.seat == "comp":
            bits, workers = terms.key_bits, place.workers
            return Comp(
                identity, run, key_bits=bits, workers=workers, order=order, snapshot=snapshot
            )
        if place.seat == "customer":
            if snapshot is None:
                raise InputError("the customer's party is made when it orders a run")
            return Customer.restored(identity, run, snapshot, minimum_key_bits=SECURE_BITS)
        arms = self._model(place, terms)
        return Owner(identity, run, arms, order=order, snapshot=snapshot)

    def _model(self, place: Place, terms: Terms) -> LinearArms:
        """The owner's arms and theta; what is wrong with them is said without showing them."""
        arms = place.data
        if not isinstance(arms, LinearArms):
            brings = "no model" if arms is None else f"a model of type {type(arms).__name__}"
            raise InputError(
                f"the owner brings {brings}, and {self.name} needs LinearArms or GraphArms: let "
                "it set `model` under [owner] in its party.toml"
            )
        if arms.noise is not None or arms.first is not None:
            raise InputError(
                "the owner's model fixes the noise or the first arm, which the principal draws: "
                "let it leave out noise and first"
            )
        terms.check(place.run).check_theta(arms.theta, arms.eigenvalues)
        return arms


def _trial_keys(seed: int | None) -> dict[str, bytes]:
    """What decides arms, as in plain with the same seed; without one P draws its own."""
    if seed is None:
        return {}
    return {purpose: draw_key(seed, purpose) for purpose in (FIRST, TIES, NOISE)}
