"""SAMBA with a dealer: everybody talks to both servers."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.policies import to_text
from lotor.protocols.form import PULL, Assignment, Member, Role
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, draw_key
from lotor.protocols.report import Counts
from lotor.protocols.samba.continued import ContinuedRun
from lotor.protocols.samba.dealt import complexity
from lotor.protocols.samba.dealt.circuit import schedule
from lotor.protocols.samba.dealt.comp import SambaDealtComp
from lotor.protocols.samba.dealt.controller import SambaDealtController
from lotor.protocols.samba.dealt.customer import SambaDealtCustomer
from lotor.protocols.samba.dealt.dealer import SambaDealtDealer
from lotor.protocols.samba.dealt.leakage import ATTACKS, MEASURED
from lotor.protocols.samba.dealt.messages import WIRE
from lotor.protocols.samba.dealt.owner import SambaDealtOwner
from lotor.protocols.samba.dealt.terms import SambaDealtTerms
from lotor.protocols.samba.form import SambaForm, owned
from lotor.protocols.samba.protocol import Samba
from lotor.protocols.samba.terms import terms_from


class SambaDealt(SambaForm[SambaDealtTerms]):
    """Scores shared between Controller and Comp, who compare them with a dealer's randomness."""

    name: ClassVar[str] = "dealt"
    wire: ClassVar[str] = WIRE.rstrip("/")
    terms_kind = SambaDealtTerms
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one("controller"),
        Role.one("comp"),
        Role.one("dealer"),
        Role("owner", brings=(PULL,)),
    )
    hubs: ClassVar[tuple[str, ...]] = ("controller", "comp")
    apart: ClassVar[str] = "any two of controller, comp and the dealer"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("controller", "comp"),
        ("controller", "dealer"),
        ("comp", "dealer"),
    )
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = ATTACKS
    counted_as: ClassVar[Mapping[str, str]] = {
        "expected": "as it must be",
        "per_iteration": "an iteration",
    }
    counts_explained: ClassVar[str] = (
        "The bytes opened in an iteration are those of one server; counted are those of both."
    )

    def ordering(
        self,
        protocol: Samba,
        run: str,
        owners: Sequence[Member],
        budget: int,
        identity: Identity,
        continued: ContinuedRun | None,
    ) -> tuple[bytes, Party]:
        terms = self.ordered(protocol, run, owners, budget, continued)
        return terms.to_bytes(), SambaDealtCustomer(identity, terms)

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        seat, identity, seed = assignment.seat, assignment.identity, assignment.seed
        policy = self.policy_of(assignment)
        terms = terms_from(SambaDealtTerms, assignment.order)
        terms.check(assignment.run, policy)
        if seat == "customer":
            return SambaDealtCustomer(identity, terms, snapshot=snapshot)
        if seat == "controller":
            # As plain draws them, and as owners draw them in other forms.
            tie_key = None if seed is None else draw_key(seed, "owner")
            return SambaDealtController(terms, tie_key=tie_key, snapshot=snapshot)
        if seat == "comp":
            return SambaDealtComp(terms, snapshot=snapshot)
        if seat == "dealer":
            return SambaDealtDealer(terms, snapshot=snapshot)
        return SambaDealtOwner(
            identity, assignment.run, policy, **owned(assignment, policy, terms, snapshot)
        )

    def complexity(self, protocol: Samba, environment: Environment, budget: int) -> Counts:
        terms = _counted_terms(protocol, environment, budget)
        return {
            "expected": complexity.whole_run(terms),
            "per_iteration": complexity.per_turn(terms),
        }

    def repeats(self, protocol: Samba, environment: Environment) -> int:
        return schedule(_counted_terms(protocol, environment, environment.k)).batch


def _counted_terms(protocol: Samba, environment: Environment, budget: int) -> SambaDealtTerms:
    # How the arms are spread over owners, and their rewards, change none of the counts.
    return SambaDealtTerms(
        run="",
        budget=budget,
        owners={"owners": environment.k},
        policy=to_text(protocol.policy),
        iterations=protocol.policy.iterations,
        low=0.0,
        high=1.0,
        reveal=protocol.reveal,
    )
