"""LinUCB-DS and SpectralUCB-DS as published: everybody talks to the principal."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.key_sizes import SECURE_BITS, check_key_bits
from lotor.crypto.paillier import generate_keypair
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.protocols.form import MODEL, Assignment, Role, RunPlan
from lotor.protocols.leakage import Finding
from lotor.protocols.linucb_ds.form import P_KNOWS_THE_ARMS, LinearForm, principal_given
from lotor.protocols.linucb_ds.paper import complexity
from lotor.protocols.linucb_ds.paper.comp import LinUCBComp
from lotor.protocols.linucb_ds.paper.customer import KeyedCustomer, LinUCBCustomer
from lotor.protocols.linucb_ds.paper.leakage import MEASURED
from lotor.protocols.linucb_ds.paper.messages import WIRE
from lotor.protocols.linucb_ds.paper.owner import LinUCBOwner
from lotor.protocols.linucb_ds.paper.principal import KeyedPrincipal, LinUCBPrincipal
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms
from lotor.protocols.linucb_ds.protocol import LinUCBDS, SpectralUCBDS
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.party import Party
from lotor.protocols.received import public_key_from
from lotor.protocols.report import Counts

ATTACKS = "lotor.protocols.linucb_ds.paper.attacks"


T = TypeVar("T", bound=LinUCBPaperTerms)


class PaillierForm(LinearForm[T]):
    """Comp decrypts scores that P computes under its key, whatever is encrypted."""

    customer_kind: ClassVar[type[KeyedCustomer[Any]]]
    principal_kind: ClassVar[type[KeyedPrincipal[Any, Any, Any]]]
    comp_kind: ClassVar[type[LinUCBComp]]
    hubs: ClassVar[tuple[str, ...]] = ("principal",)
    apart: ClassVar[str] = "principal and comp, comp and anybody who knows the arms"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (("principal", "comp"), ("comp", "owner"))
    leaks: ClassVar[bool] = True

    @abstractmethod
    def owner(self, assignment: Assignment, terms: T, least: int, snapshot: bytes | None) -> Party:
        """The data owner, who accepts keys from so many bits on."""

    def ordering(
        self,
        protocol: LinUCBDS,
        run: str,
        budget: int,
        identity: Identity,
        said: Mapping[str, Any],
    ) -> tuple[bytes, Party]:
        key = generate_keypair(protocol.key_bits, insecure_bits=protocol.insecure_key_bits)
        terms = self.ordered(
            protocol,
            run,
            budget,
            key_bits=protocol.insecure_key_bits or protocol.key_bits,
            customer_key=key.public.to_bytes(),
            **said,
        )
        return terms.to_bytes(), self.customer_kind(identity, terms, key)

    def plan(self, order: bytes) -> RunPlan:
        plan, terms = super().plan(order), terms_from(self.terms_kind, order)
        try:
            check_key_bits(terms.key_bits)
        except InputError as error:
            raise ProtocolError(f"customer ordered unusable keys: {error}") from None
        if public_key_from(terms.customer_key, SECURE_BITS, "customer").bits != terms.key_bits:
            raise ProtocolError(
                f"customer ordered keys of {terms.key_bits} bits but sent one of another size: "
                "order again"
            )
        return plan

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        run, order, identity = assignment.run, assignment.order, assignment.identity
        workers, terms = assignment.workers, terms_from(self.terms_kind, order)
        ds = self.simulates(assignment)
        least = SECURE_BITS if ds is None else ds.minimum_key_bits
        if assignment.seat == "customer" and snapshot is not None:
            return self.customer_kind.restored(identity, run, snapshot, minimum_key_bits=least)
        if assignment.seat == "principal":
            return self.principal_kind(
                run,
                minimum_key_bits=least,
                workers=workers,
                **principal_given(assignment, terms, snapshot),
            )
        if assignment.seat == "comp":
            return self.comp_kind(
                identity,
                run,
                key_bits=terms.key_bits,
                insecure_key_bits=None if ds is None else ds.insecure_key_bits,
                workers=workers,
                order=order,
                snapshot=snapshot,
            )
        return self.owner(assignment, terms, least, snapshot)

    def repeats(self, protocol: LinUCBDS, environment: Environment) -> int:  # noqa: ARG002
        return 1


class LinUCBDSPaper(PaillierForm[LinUCBPaperTerms]):
    """Theta under Paillier at P, whose scores Comp decrypts."""

    name: ClassVar[str] = "paper"
    wire: ClassVar[str] = WIRE.rstrip("/")
    terms_kind = LinUCBPaperTerms
    customer_kind = LinUCBCustomer
    principal_kind = LinUCBPrincipal
    comp_kind = LinUCBComp
    given_as: ClassVar[str] = "encrypted"
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one("owner", MODEL),
        Role.one("principal"),
        Role.one("comp"),
    )
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = {
        "comp": (
            f"{ATTACKS}:ScoresDecrypted",
            f"{ATTACKS}:ArmsFromScores",
            f"{ATTACKS}:RewardsFromScores",
            f"{ATTACKS}:ThetaDecrypted",
        ),
        "principal": (P_KNOWS_THE_ARMS, f"{ATTACKS}:ThetaDecrypted"),
    }
    counted_as: ClassVar[Mapping[str, str]] = {
        "expected": "as it must be",
        "figure_4": "Figure 4, transcribed",
        "figure_5": "Figure 5, as printed",
    }
    counts_explained: ClassVar[str] = complexity.EXPLAINED

    def owner(
        self, assignment: Assignment, terms: LinUCBPaperTerms, least: int, snapshot: bytes | None
    ) -> Party:
        return LinUCBOwner(
            assignment.identity,
            assignment.run,
            self.model_of(assignment, terms),
            minimum_key_bits=least,
            order=assignment.order,
            snapshot=snapshot,
        )

    def complexity(self, protocol: LinUCBDS, environment: Environment, budget: int) -> Counts:
        k, d = self.sized(protocol, environment)
        bits = protocol.insecure_key_bits or protocol.key_bits
        return {
            "expected": complexity.ours(
                budget, k, key_bits=bits, slot_bits=protocol.slot_bits, d=d
            ),
            "figure_4": complexity.figure_4(budget, k, d),
            "figure_5": complexity.figure_5(budget, k, d),
        }


class SpectralUCBDSPaper(LinUCBDSPaper):
    """The same, for arms on a graph."""

    protocol: ClassVar[type[LinUCBDS]] = SpectralUCBDS
