"""PPCB by two servers alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from lotor.core.errors import InputError, ProtocolError
from lotor.core.wording import counted
from lotor.environments.base import Environment
from lotor.protocols.form import Role
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party
from lotor.protocols.ppcb.form import ROLES, PPCBForm
from lotor.protocols.ppcb.protocol import PPCB
from lotor.protocols.ppcb.shared.actor import PPCBSharedActor
from lotor.protocols.ppcb.shared.circuits import PPCBSharedCircuits
from lotor.protocols.ppcb.shared.costs import BEFORE_THE_ARM, PPCBSharedCosts
from lotor.protocols.ppcb.shared.leakage import ATTACKS, MEASURED
from lotor.protocols.ppcb.shared.messages import WIRE
from lotor.protocols.ppcb.shared.server import PPCBSharedServer
from lotor.protocols.ppcb.terms import PPCBTerms, terms_from
from lotor.protocols.report import Counts, Forecast


class PPCBShared(PPCBForm):
    """The servers make all correlated randomness themselves, and take turns in who does more."""

    name: ClassVar[str] = "shared"
    server_kind: ClassVar[Callable[..., Party]] = PPCBSharedServer
    actor_kind: ClassVar[Callable[..., Party]] = PPCBSharedActor
    wire: ClassVar[str] = WIRE.rstrip("/")
    roles: ClassVar[tuple[Role, ...]] = ROLES
    apart: ClassVar[str] = "the two servers"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (("server", "server"),)
    harmless: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("server", "actor"),
        ("server", "receiver"),
        ("server", "owner"),
    )
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = ATTACKS

    def completed(self, terms: PPCBTerms) -> PPCBTerms:
        return PPCBSharedCircuits.ordered(terms)

    def terms_of(self, order: bytes) -> PPCBTerms:
        terms = terms_from(order)
        if terms.alone is None:
            raise ProtocolError(
                "receiver sent an order for a run with a dealer, and this one has none: let the "
                "receiver order it again"
            )
        if not terms.alone.prepared:
            raise ProtocolError(
                "receiver sent an order that does not say what the servers make for each other: "
                "let the receiver order it again"
            )
        try:
            PPCBSharedCircuits.of(terms)
        except InputError as error:
            raise ProtocolError(f"receiver ordered a run that cannot be: {error}") from None
        return terms

    def _costs(self, protocol: PPCB, environment: Environment, budget: int) -> PPCBSharedCosts:
        return PPCBSharedCosts.of(self.counted_terms(protocol, environment, budget))

    def complexity(self, protocol: PPCB, environment: Environment, budget: int) -> Counts:
        return {"expected": self._costs(protocol, environment, budget).operations()}

    def repeats(self, protocol: PPCB, environment: Environment) -> int:
        # Roles alternate from batch to batch.
        costs = self._costs(protocol, environment, protocol.delay + 1)
        return 2 * costs.circuits.schedule.size

    def forecast(self, protocol: PPCB, environment: Environment, budget: int) -> Forecast:
        costs = self._costs(protocol, environment, budget)
        schedule, each = costs.circuits.schedule, costs.step_bytes()
        choice = costs.circuits.choice.circuit
        rows = {
            "choice": f"{choice.ands:,} AND gates on {choice.levels} levels",
            "reciprocal": "garbled" if costs.circuits.garbles_reciprocal else "on shares",
            "flights": f"{costs.flights} a step; the arm is out after {BEFORE_THE_ARM}, and "
            f"{costs.after_the_reward} follow the reward",
            "prepared together": counted(schedule.size, "step"),
            "security of labels and masks": f"{schedule.security_bits:.0f} bits",
            "bytes ahead of a step": f"{each['ahead']:,}",
            "bytes within it": f"{each['in_the_step']:,}",
        }
        figures = {
            **self.complexity(protocol, environment, budget),
            "flights": costs.flights,
            "flights_before_the_arm": BEFORE_THE_ARM,
            "flights_after_the_reward": costs.after_the_reward,
            "security_bits": schedule.security_bits,
            "bytes_ahead": each["ahead"],
            "bytes_within": each["in_the_step"],
            "batch": schedule.size,
        }
        terms = costs.terms
        title = f"{counted(budget, 'round')}, {counted(terms.arms, 'arm')}, D = {terms.features}"
        return Forecast(f"{title}, form {self.name}", rows, figures)
