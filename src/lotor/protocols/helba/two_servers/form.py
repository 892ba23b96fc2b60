"""HELBA with two servers, between which everything that users bring is shared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from msgspec.structs import asdict

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.policies import to_text
from lotor.protocols.cast import Cast
from lotor.protocols.form import FEATURES, PULL, Assignment, Contribution, Member, Role, RunPlan
from lotor.protocols.helba.demo import several_users
from lotor.protocols.helba.form import contexts_of
from lotor.protocols.helba.protocol import Helba
from lotor.protocols.helba.shared.form import HelbaShared, ordered_terms
from lotor.protocols.helba.two_servers.costs import HelbaTwoServersCosts
from lotor.protocols.helba.two_servers.customer import HelbaTwoServersCustomer
from lotor.protocols.helba.two_servers.leakage import ATTACKS, MEASURED
from lotor.protocols.helba.two_servers.messages import WIRE
from lotor.protocols.helba.two_servers.pad_server import HelbaTwoServersPadServer
from lotor.protocols.helba.two_servers.server import HelbaTwoServersServer
from lotor.protocols.helba.two_servers.setting import PAD_SERVER, SERVER, HelbaTwoServersSetting
from lotor.protocols.helba.two_servers.terms import HelbaTwoServersTerms, two_servers_terms_from
from lotor.protocols.helba.two_servers.user import HelbaTwoServersUser
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.plain.optimistic import TIES, linear_contexts


class HelbaTwoServers(HelbaShared):
    """Users take turns. They have no key in common, and a customer learns the total."""

    name: ClassVar[str] = "two-servers"
    wire: ClassVar[str] = WIRE.rstrip("/")
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one(SERVER),
        Role.one(PAD_SERVER),
        Role("user", brings=(FEATURES, PULL)),
    )
    hubs: ClassVar[tuple[str, ...]] = (SERVER, PAD_SERVER)
    apart: ClassVar[str] = "the server and the pad server"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = ((SERVER, PAD_SERVER),)
    harmless: ClassVar[tuple[tuple[str, ...], ...]] = (
        (SERVER, "user"),
        (PAD_SERVER, "user"),
        ("user", "user"),
        ("customer", SERVER),
        ("customer", PAD_SERVER),
    )
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = ATTACKS

    def audited(self, protocol: Helba, environment: Environment) -> Helba:  # noqa: ARG002
        """So many users that two of them leave others whom they could learn something of."""
        return protocol if protocol.users > 2 else replace(protocol, users=3)

    def simulated(self, protocol: Helba, run: Run) -> Mapping[str, Sequence[Member]]:
        arms = linear_contexts(run, protocol.policy)
        brings = Contribution(run.k, run.scale.low, run.scale.high, run.k * arms.d)
        names = user_names(protocol.users)
        return {
            "customer": [Member("customer")],
            SERVER: [Member(SERVER)],
            PAD_SERVER: [Member(PAD_SERVER)],
            "user": [Member(name, brings) for name in names],
        }

    def brought(self, members: Mapping[str, Sequence[Member]]) -> tuple[int, int, RewardScale]:
        """Arms, numbers of a context and the range of rewards, in which all users must agree."""
        first, *others = members["user"]
        for other in others:
            if other.contribution != first.contribution:
                raise InputError(
                    f"{other.name} brings other arms, numbers of a context or rewards than "
                    f"{first.name}: let all users set the same `arms`, `dimensions` and "
                    "`reward_range` under [owner] in their party.toml"
                )
        return super().brought({"user": [first]})

    def open(
        self,
        protocol: Helba,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,  # noqa: ARG002
    ) -> tuple[bytes, Party]:
        arms, d, scale = self.brought(members)
        users = [member.name for member in members["user"]]
        setting = _ordered(protocol, run, users, budget=budget, arms=arms, d=d, scale=scale)
        return setting.terms.to_bytes(), HelbaTwoServersCustomer(setting.terms)

    def plan(self, order: bytes) -> RunPlan:
        terms = _setting(order).terms
        seats = self.seats_of({"user": terms.users})
        return RunPlan(terms.policy, terms.budget, terms.arms, seats, owners=len(terms.users))

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        setting, seat = _setting(assignment.order), assignment.seat
        if seat == "customer":
            return HelbaTwoServersCustomer(setting.terms, snapshot=snapshot)
        if seat == SERVER:
            return HelbaTwoServersServer(setting, snapshot=snapshot)
        if seat == PAD_SERVER:
            return HelbaTwoServersPadServer(setting, snapshot=snapshot)
        # Ties are drawn as plain draws them.
        tie_key = None if assignment.seed is None else draw_key(assignment.seed, TIES)
        return HelbaTwoServersUser(seat, setting, tie_key=tie_key, snapshot=snapshot)

    def cast(self, protocol: Helba, budget: int, seed: int, size: int | None) -> Cast:
        policy = to_text(protocol.policy)
        return several_users(budget=budget, seed=seed, policy=policy, size=size)

    def costs(self, protocol: Helba, environment: Environment, budget: int) -> HelbaTwoServersCosts:
        arms = contexts_of(environment)
        scale = RewardScale(*arms.reward_range)
        users = user_names(protocol.users)
        return HelbaTwoServersCosts(
            _ordered(protocol, "", users, budget=budget, arms=arms.k, d=arms.d, scale=scale)
        )


def user_names(count: int) -> list[str]:
    """Of the users of a simulation."""
    return [f"user-{number}" for number in range(1, count + 1)]


def _ordered(
    protocol: Helba,
    run: str,
    users: Sequence[str],
    *,
    budget: int,
    arms: int,
    d: int,
    scale: RewardScale,
) -> HelbaTwoServersSetting:
    """What all parties agree on; refuses an impossible run before any key is made."""
    common = ordered_terms(protocol, run, budget=budget, arms=arms, d=d, scale=scale)
    terms = HelbaTwoServersTerms(**asdict(common), users=tuple(users))
    return HelbaTwoServersSetting.ordered(terms)


def _setting(order: bytes) -> HelbaTwoServersSetting:
    try:
        return HelbaTwoServersSetting.of(two_servers_terms_from(order))
    except InputError as error:
        raise ProtocolError(f"customer ordered an impossible run: {error}") from None
