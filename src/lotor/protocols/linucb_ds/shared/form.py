"""LinUCB-DS and SpectralUCB-DS on shares of theta: everybody talks to the principal."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lotor.core.wording import counted
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.protocols.form import MODEL, Assignment, Member, Role
from lotor.protocols.leakage import Finding
from lotor.protocols.linucb_ds.form import P_KNOWS_THE_ARMS, LinearForm, principal_given
from lotor.protocols.linucb_ds.protocol import LinUCBDS, SpectralUCBDS
from lotor.protocols.linucb_ds.shared.comp import LinUCBSharedComp
from lotor.protocols.linucb_ds.shared.complexity import SharedLinearCosts
from lotor.protocols.linucb_ds.shared.leakage import MEASURED
from lotor.protocols.linucb_ds.shared.messages import WIRE
from lotor.protocols.linucb_ds.shared.principal import LinUCBSharedPrincipal
from lotor.protocols.linucb_ds.shared.terms import LinUCBSharedTerms
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.linucb_ds.theta.customer import ThetaCustomer
from lotor.protocols.linucb_ds.theta.owner import ThetaOwner
from lotor.protocols.party import Party, Run
from lotor.protocols.report import Counts, Forecast

THETA = "lotor.protocols.linucb_ds.theta.attacks:ThetaFromShares"
SCORES = "lotor.protocols.linucb_ds.shared.attacks:ScoresFromCircuitShares"
ARMS = "lotor.protocols.linucb_ds.shared.attacks:ArmsFromCoveredRows"


class LinUCBDSShared(LinearForm[LinUCBSharedTerms]):
    """P and Comp have a share of theta each; products are made ahead, and argmaxes garbled."""

    name: ClassVar[str] = "shared"
    wire: ClassVar[str] = WIRE.rstrip("/")
    terms_kind = LinUCBSharedTerms
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one("owner", MODEL),
        Role.one("principal"),
        Role.one("comp"),
    )
    hubs: ClassVar[tuple[str, ...]] = ("principal",)
    apart: ClassVar[str] = "principal and comp"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (("principal", "comp"),)
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = {
        "comp": (SCORES, ARMS, THETA),
        "principal": (P_KNOWS_THE_ARMS, THETA),
        "principal+comp": (THETA,),
    }

    def simulated(self, protocol: LinUCBDS, run: Run) -> Mapping[str, Sequence[Member]]:
        members = super().simulated(protocol, run)
        if run.environment is not None:
            # A run that is too long is refused before any key is made.
            places = run.budget + (run.earlier is not None)
            self._costs(protocol, run.environment, places).schedule  # noqa: B018
        return members

    def check_size(self, k: int, d: int) -> None:
        LinUCBSharedTerms.check_size(k, d)

    def ordering(
        self,
        protocol: LinUCBDS,
        run: str,
        budget: int,
        identity: Identity,
        said: Mapping[str, Any],
    ) -> tuple[bytes, Party]:
        key = SealingKey()
        terms = self.ordered(protocol, run, budget, **said, customer_key=key.public)
        return terms.to_bytes(), ThetaCustomer(identity, terms, key)

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        run, order, identity = assignment.run, assignment.order, assignment.identity
        store, terms = assignment.store, terms_from(LinUCBSharedTerms, assignment.order)
        if assignment.seat == "customer" and snapshot is not None:
            return ThetaCustomer.restored(identity, run, LinUCBSharedTerms, snapshot)
        if assignment.seat == "principal":
            given = principal_given(assignment, terms, snapshot)
            return LinUCBSharedPrincipal(run, store, **given)
        if assignment.seat == "comp":
            return LinUCBSharedComp(identity, run, store, order=order, snapshot=snapshot)
        arms = self.model_of(assignment, terms)
        return ThetaOwner(identity, run, arms, LinUCBSharedTerms, order=order, snapshot=snapshot)

    def complexity(self, protocol: LinUCBDS, environment: Environment, budget: int) -> Counts:
        return {"expected": self._costs(protocol, environment, budget).operations()}

    def repeats(self, protocol: LinUCBDS, environment: Environment) -> int:
        return self._costs(protocol, environment, 2).schedule.rounds_each

    def forecast(self, protocol: LinUCBDS, environment: Environment, budget: int) -> Forecast:
        costs = self._costs(protocol, environment, budget)
        schedule = costs.schedule
        circuit = schedule.circuit
        rows = {
            "argmaxes": f"{schedule.turns:,}, each of {circuit.ands:,} AND gates on "
            f"{circuit.levels} levels",
            "garbled together": f"{schedule.size}",
            "rounds of one BFV message": f"{schedule.rounds_each:,}",
            "security of labels": f"{costs.security_bits:.0f} bits",
            "statistical distance": f"2^{costs.distance:.0f} over the whole run",
            "bytes ahead of a round": f"{costs.ahead_bytes:,}",
            "bytes within it": f"{costs.round_bytes:,}",
            "round trips": "1 a round",
        }
        figures = {
            **self.complexity(protocol, environment, budget),
            "security_bits": costs.security_bits,
            "log2_distance": costs.distance,
            "bytes_ahead": costs.ahead_bytes,
            "bytes_within": costs.round_bytes,
            "batch": schedule.size,
            "round_trips": 1,
        }
        title = (
            f"{counted(budget, 'round')}, {counted(costs.k, 'arm')} in "
            f"{counted(costs.d, 'dimension')}, form {self.name}"
        )
        return Forecast(title, rows, figures)

    def _costs(
        self, protocol: LinUCBDS, environment: Environment, budget: int
    ) -> SharedLinearCosts:
        return SharedLinearCosts(*self.sized(protocol, environment), budget)


class SpectralUCBDSShared(LinUCBDSShared):
    """The same, for arms on a graph."""

    protocol: ClassVar[type[LinUCBDS]] = SpectralUCBDS
