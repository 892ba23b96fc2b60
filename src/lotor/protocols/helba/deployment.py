"""HELBA's parties as processes of their own: user and key authority talk to the server."""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.ckks import InsecureParametersWarning
from lotor.crypto.signing import Identity
from lotor.policies.optimistic import optimistic_from_text
from lotor.protocols.deployment import Member, Place, Plan
from lotor.protocols.helba.messages import KEY_AUTHORITY, WIRE
from lotor.protocols.helba.protocol import Helba
from lotor.protocols.helba.terms import helba_policy, terms_from
from lotor.protocols.party import Party
from lotor.protocols.store import MemoryStore

if TYPE_CHECKING:  # it loads CKKS
    from lotor.protocols.helba.setting import HelbaSetting

SEATS = ("user", "server", KEY_AUTHORITY)
LINKS = {"user": ("server",), "server": ("user", KEY_AUTHORITY), KEY_AUTHORITY: ("server",)}
_WHOLE = ("security", "stages", "noise_bits")
# Numbers with a point, which come as text.
_WITH_POINT = ("mean_bound", "rms_length")


class HelbaDeployment:
    """The order is the terms of the user, who brings contexts and rewards.

    Runs in a ring that can be broken are refused; with `insecure_degree`, for tests, all others.
    """

    name = Helba.name
    wire = WIRE.rstrip("/")
    opener = "user"

    def __init__(self, insecure_degree: int | None = None) -> None:
        self._insecure_degree = insecure_degree

    def seats(self, members: Mapping[str, Sequence[Member]]) -> dict[str, Member]:
        seats: dict[str, Member] = {}
        for role in SEATS:
            named = members.get(role, ())
            if len(named) != 1:
                raise InputError(
                    f"a helba run has one {role}, but {len(named)} are named: name one under "
                    "[members] in party.toml"
                )
            seats[role] = named[0]
        return seats

    def open(
        self,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        options: Mapping[str, str | int],
        identity: Identity,
    ) -> tuple[bytes, Party]:
        from lotor.protocols.helba.user import HelbaUser  # noqa: PLC0415  it loads CKKS

        offer = self.seats(members)["user"].offer
        if offer.arms < 2 or not offer.features or offer.features % offer.arms:
            raise InputError(
                f"the user brings {offer.features} numbers for the contexts of {offer.arms} arms: "
                "let it set `arms` (2 or more) and `dimensions` (arms times the numbers of one "
                "context) under [owner] in its party.toml"
            )
        setting = self._protocol(options).setting(
            run,
            budget=budget,
            arms=offer.arms,
            d=offer.features // offer.arms,
            scale=RewardScale(offer.low, offer.high),
        )
        # It is built again, with a store of its own, from what it writes down first.
        return setting.terms.to_bytes(), HelbaUser(identity, setting, MemoryStore())

    def _protocol(self, options: Mapping[str, str | int]) -> Helba:
        given: dict[str, object] = {**options, "insecure_degree": self._insecure_degree}
        if unknown := set(options) - {"policy", *_WHOLE, *_WITH_POINT}:
            raise InputError(f"helba does not take these options: {', '.join(sorted(unknown))}")
        policy = helba_policy(optimistic_from_text(str(given.pop("policy", "batched-oful"))))
        try:
            given |= {name: float(str(given[name])) for name in _WITH_POINT if name in given}
            with warnings.catch_warnings():
                # Who made this deployment has been told.
                warnings.simplefilter("ignore", InsecureParametersWarning)
                return Helba(policy, **given)  # type: ignore[arg-type]  # the class checks each
        except ValueError as error:
            raise InputError(f"helba does not take these options: {error}") from None

    def plan(self, order: bytes) -> Plan:
        terms = self._setting(order).terms
        seats = {seat: seat for seat in SEATS}
        return Plan(terms.policy, terms.budget, terms.arms, seats, LINKS)

    def _setting(self, order: bytes) -> "HelbaSetting":
        from lotor.protocols.helba.setting import HelbaSetting  # noqa: PLC0415  it loads CKKS

        terms = terms_from(order)
        if terms.insecure_degree != (self._insecure_degree or 0):
            raise ProtocolError(
                f"user ordered a ring of degree {terms.insecure_degree}, which can be broken: that "
                "is for tests within one process; order without it"
            )
        try:
            return HelbaSetting.of(terms)
        except InputError as error:
            raise ProtocolError(f"user ordered what no run can do: {error}") from None

    def party(self, place: Place, snapshot: bytes | None = None) -> Party:
        # These load CKKS.
        from lotor.protocols.helba.authority import HelbaAuthority  # noqa: PLC0415
        from lotor.protocols.helba.helper_processes import useful_workers  # noqa: PLC0415
        from lotor.protocols.helba.server import HelbaServer  # noqa: PLC0415
        from lotor.protocols.helba.user import HelbaUser  # noqa: PLC0415

        setting = self._setting(place.order)
        if place.seat == KEY_AUTHORITY:
            return HelbaAuthority(place.identity, setting, place.store, snapshot=snapshot)
        if place.seat == "server":
            workers = useful_workers(setting, place.workers)
            return HelbaServer(setting, place.store, workers=workers, snapshot=snapshot)
        for kind, does in (
            ("features", "answers with the contexts of a round"),
            ("pull", "answers with the reward of a decision"),
        ):
            if kind not in place.brings:
                raise InputError(
                    f"the user has no function that {does}: let it set `{kind}` under [owner] in "
                    "its party.toml"
                )
        return HelbaUser(place.identity, setting, place.store, snapshot=snapshot)
