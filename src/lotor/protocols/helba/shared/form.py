"""HELBA on sums under pads, products on transfers and a garbled choice."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.core.wording import counted
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.policies import to_text
from lotor.protocols.form import Assignment, Member, RunPlan
from lotor.protocols.helba.form import HelbaForm, contexts_of
from lotor.protocols.helba.protocol import Helba
from lotor.protocols.helba.regrets import regret_table
from lotor.protocols.helba.shared.authority import HelbaSharedAuthority
from lotor.protocols.helba.shared.costs import HelbaSharedCosts
from lotor.protocols.helba.shared.leakage import ATTACKS, MEASURED
from lotor.protocols.helba.shared.messages import WIRE
from lotor.protocols.helba.shared.server import HelbaSharedServer
from lotor.protocols.helba.shared.setting import HelbaSharedSetting
from lotor.protocols.helba.shared.terms import HelbaSharedTerms, shared_terms_from
from lotor.protocols.helba.shared.user import HelbaSharedUser
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, draw_key
from lotor.protocols.plain.optimistic import TIES
from lotor.protocols.report import Comparison, Counts, Forecast, ReportTable


class HelbaShared(HelbaForm):
    """The server holds sums under pads; a garbled circuit shows the user the arm."""

    name: ClassVar[str] = "shared"
    wire: ClassVar[str] = WIRE.rstrip("/")
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = ATTACKS
    how: ClassVar[str] = (
        "on sums under pads that only users know: it read nothing, and the user learned the arm "
        "and nothing else"
    )

    def open(
        self,
        protocol: Helba,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        arms, d, scale = self.brought(members)
        setting = ordered_setting(protocol, run, budget=budget, arms=arms, d=d, scale=scale)
        return setting.terms.to_bytes(), HelbaSharedUser(identity, setting)

    def plan(self, order: bytes) -> RunPlan:
        terms = _setting(order).terms
        return RunPlan(terms.policy, terms.budget, terms.arms, self.seats_of({}))

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        setting, identity = _setting(assignment.order), assignment.identity
        if assignment.seat == "user":
            return HelbaSharedUser(identity, setting, snapshot=snapshot)
        if assignment.seat == "server":
            return HelbaSharedServer(setting, snapshot=snapshot)
        # Ties are drawn as plain draws them.
        tie_key = None if assignment.seed is None else draw_key(assignment.seed, TIES)
        return HelbaSharedAuthority(identity, setting.terms, tie_key=tie_key, snapshot=snapshot)

    def tables(self, protocol: Helba, comparison: Comparison) -> Sequence[ReportTable]:
        contexts, note = contexts_of(comparison.environment), ""
        if comparison.secure.agrees_with(comparison.plain):
            note = "Every decision is that of plain, on the same whole numbers."
        return [regret_table(protocol.policy, contexts, comparison, "HELBA, on shares", note)]

    def costs(self, protocol: Helba, environment: Environment, budget: int) -> HelbaSharedCosts:
        """What a run will take."""
        arms = contexts_of(environment)
        scale = RewardScale(*arms.reward_range)
        return HelbaSharedCosts(
            ordered_setting(protocol, "", budget=budget, arms=arms.k, d=arms.d, scale=scale)
        )

    def complexity(self, protocol: Helba, environment: Environment, budget: int) -> Counts:
        return {"expected": self.costs(protocol, environment, budget).operations()}

    def forecast(self, protocol: Helba, environment: Environment, budget: int) -> Forecast:
        costs = self.costs(protocol, environment, budget)
        setting, circuit = costs.setting, costs.setting.circuit
        each, first = costs.round_bytes(starts=False), costs.round_bytes(starts=True)
        trips, renewing = costs.round_trips(starts=False), costs.round_trips(starts=True)
        rows = {
            "circuit": f"{circuit.ands:,} AND gates on {circuit.levels} levels, "
            f"{setting.schedule.size} garbled together",
            "numbers": f"modulo {setting.modulus.count} primes of 61 bits",
            "new estimates": f"{setting.batches:,}",
            "security of labels": f"{setting.garbling_security:.0f} bits",
            "security of products": f"{setting.product_security:.0f} bits",
            "distance of views": f"2^{setting.word_distance:.0f} from uniform in the whole run",
            "chance to stop": f"2^{setting.stop_chance:.0f}, if a prime divides a determinant",
            "bytes ahead of a round": f"{first['ahead']:,}",
            "bytes of an update": f"{each['update']:,}, or {first['update']:,} with a new estimate",
            "bytes up and down in a round": f"{each['up']:,} and {each['down']:,}",
            "round trips": f"{trips} a round, {renewing} with a new estimate; "
            f"{costs.run_round_trips():,} in all",
        }
        figures = {
            **self.complexity(protocol, environment, budget),
            "security_bits": min(setting.garbling_security, setting.product_security),
            "distance": setting.distance,
            "stop_chance": setting.stop_chance,
            "bytes_ahead": first["ahead"],
            "bytes_update": first["update"],
            "bytes_up": each["up"],
            "bytes_down": each["down"],
            "bytes_in_all": costs.run_bytes(),
            "updates": setting.batches,
            "round_trips": trips,
            "round_trips_new_estimate": renewing,
            "round_trips_in_all": costs.run_round_trips(),
        }
        terms = setting.terms
        title = f"{counted(budget, 'round')}, {counted(terms.arms, 'arm')}, d = {terms.d}"
        return Forecast(f"{title}, form {self.name}", rows, figures)


def ordered_terms(
    protocol: Helba, run: str, *, budget: int, arms: int, d: int, scale: RewardScale
) -> HelbaSharedTerms:
    """What the protocol and the parties say of a run."""
    return HelbaSharedTerms(
        run=run,
        budget=budget,
        arms=arms,
        d=d,
        policy=to_text(protocol.policy),
        context_bits=protocol.context_bits,
        reward_bits=protocol.reward_bits,
        low=scale.low,
        high=scale.high,
    )


def ordered_setting(
    protocol: Helba, run: str, *, budget: int, arms: int, d: int, scale: RewardScale
) -> HelbaSharedSetting:
    """What all parties agree on; refuses an impossible run before any key is made."""
    terms = ordered_terms(protocol, run, budget=budget, arms=arms, d=d, scale=scale)
    return HelbaSharedSetting.ordered(terms)


def _setting(order: bytes) -> HelbaSharedSetting:
    try:
        return HelbaSharedSetting.of(shared_terms_from(order))
    except InputError as error:
        raise ProtocolError(f"user ordered an impossible run: {error}") from None
