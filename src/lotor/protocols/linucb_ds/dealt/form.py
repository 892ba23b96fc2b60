"""LinUCB-DS and SpectralUCB-DS with a dealer: everybody talks to P and to Comp."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lotor.core.wording import counted
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.protocols.form import MODEL, Assignment, Role
from lotor.protocols.leakage import Finding
from lotor.protocols.linucb_ds.dealt.circuits import circuits
from lotor.protocols.linucb_ds.dealt.comp import LinUCBDealtComp
from lotor.protocols.linucb_ds.dealt.complexity import DealtCosts
from lotor.protocols.linucb_ds.dealt.customer import LinUCBDealtCustomer
from lotor.protocols.linucb_ds.dealt.dealer import LinUCBDealer
from lotor.protocols.linucb_ds.dealt.leakage import ATTACKS, MEASURED
from lotor.protocols.linucb_ds.dealt.messages import WIRE
from lotor.protocols.linucb_ds.dealt.principal import LinUCBDealtPrincipal
from lotor.protocols.linucb_ds.dealt.terms import LinUCBDealtTerms
from lotor.protocols.linucb_ds.form import LinearForm, principal_given
from lotor.protocols.linucb_ds.protocol import LinUCBDS, SpectralUCBDS
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.linucb_ds.theta.owner import ThetaOwner
from lotor.protocols.party import Party
from lotor.protocols.report import Counts, Forecast


class LinUCBDSDealt(LinearForm[LinUCBDealtTerms]):
    """Theta and scores shared between P and Comp, who compute with a dealer's randomness."""

    name: ClassVar[str] = "dealt"
    wire: ClassVar[str] = WIRE.rstrip("/")
    terms_kind = LinUCBDealtTerms
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one("owner", MODEL),
        Role.one("principal"),
        Role.one("comp"),
        Role.one("dealer"),
    )
    hubs: ClassVar[tuple[str, ...]] = ("principal", "comp")
    apart: ClassVar[str] = "any two of principal, comp and the dealer"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("principal", "comp"),
        ("principal", "dealer"),
        ("comp", "dealer"),
    )
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = ATTACKS
    counts_explained: ClassVar[str] = (
        "Rounds are exchanges between principal and comp, and opened bytes what both send in them. "
        "The dealer sends its corrections ahead of time."
    )

    def check_size(self, k: int, d: int) -> None:
        LinUCBDealtTerms.check_size(k, d)

    def ordering(
        self,
        protocol: LinUCBDS,
        run: str,
        budget: int,
        identity: Identity,
        said: Mapping[str, Any],
    ) -> tuple[bytes, Party]:
        terms = self.ordered(protocol, run, budget, **said)
        return terms.to_bytes(), LinUCBDealtCustomer(identity, terms)

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        run, order, identity = assignment.run, assignment.order, assignment.identity
        terms = terms_from(LinUCBDealtTerms, order)
        terms.check(run)
        if assignment.seat == "customer":
            return LinUCBDealtCustomer(identity, terms, snapshot=snapshot)
        if assignment.seat == "principal":
            return LinUCBDealtPrincipal(run, **principal_given(assignment, terms, snapshot))
        if assignment.seat == "comp":
            return LinUCBDealtComp(identity, run, order=order, snapshot=snapshot)
        if assignment.seat == "dealer":
            return LinUCBDealer(identity, run, order=order, snapshot=snapshot)
        arms = self.model_of(assignment, terms)
        return ThetaOwner(identity, run, arms, LinUCBDealtTerms, order=order, snapshot=snapshot)

    def complexity(self, protocol: LinUCBDS, environment: Environment, budget: int) -> Counts:
        return {"expected": self._costs(protocol, environment, budget).operations()}

    def repeats(self, protocol: LinUCBDS, environment: Environment) -> int:
        return circuits(*self.sized(protocol, environment), 2).schedule.batch

    def forecast(self, protocol: LinUCBDS, environment: Environment, budget: int) -> Forecast:
        costs = self._costs(protocol, environment, budget)
        choices = budget - 1
        rows = {
            "choices": f"{choices:,}, each of {counted(costs.rounds, 'exchange')} between "
            "principal and comp",
            "bytes ahead of a choice": f"{costs.ahead_bytes:,}, from the dealer",
            "bytes within it": f"{costs.within_bytes:,}",
        }
        figures = {
            **self.complexity(protocol, environment, budget),
            "bytes_ahead": costs.ahead_bytes,
            "bytes_within": costs.within_bytes,
            "rounds_of_a_choice": costs.rounds,
        }
        size = f"{counted(costs.k, 'arm')} in {counted(costs.d, 'dimension')}"
        return Forecast(f"{counted(budget, 'round')}, {size}, form {self.name}", rows, figures)

    def _costs(self, protocol: LinUCBDS, environment: Environment, budget: int) -> DealtCosts:
        k, d = self.sized(protocol, environment)
        self.check_size(k, d)
        return DealtCosts(budget, k, d)


class SpectralUCBDSDealt(LinUCBDSDealt):
    """The same, for arms on a graph."""

    protocol: ClassVar[type[LinUCBDS]] = SpectralUCBDS
