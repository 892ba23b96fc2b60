"""SAMBA as published: everybody talks to Controller, and to nobody else."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from lotor.crypto.paillier import SECURE_BITS, generate_keypair
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.protocols.form import PULL, Assignment, Member, Role
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party
from lotor.protocols.report import Counts
from lotor.protocols.samba.continued import ContinuedRun
from lotor.protocols.samba.form import SambaForm, owned
from lotor.protocols.samba.messages import WIRE
from lotor.protocols.samba.paper import complexity
from lotor.protocols.samba.paper.comp import SambaPaperComp
from lotor.protocols.samba.paper.controller import SambaPaperController
from lotor.protocols.samba.paper.customer import SambaPaperCustomer
from lotor.protocols.samba.paper.leakage import (
    ATTACKS,
    COALITIONS,
    EXACT_ONLY,
    MEASURED,
    POSITION_SELECTION,
)
from lotor.protocols.samba.paper.owner import SambaPaperOwner
from lotor.protocols.samba.paper.terms import SambaPaperTerms
from lotor.protocols.samba.protocol import Samba
from lotor.protocols.samba.terms import terms_from
from lotor.protocols.samba.tracking import has_exact_scores


class SambaPaper(SambaForm[SambaPaperTerms]):
    """Masked scores, permuted by Controller and compared by Comp; the total under Paillier."""

    name: ClassVar[str] = "paper"
    wire: ClassVar[str] = WIRE.rstrip("/")
    terms_kind = SambaPaperTerms
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one("controller"),
        Role.one("comp"),
        Role("owner", brings=(PULL,)),
    )
    hubs: ClassVar[tuple[str, ...]] = ("controller",)
    apart: ClassVar[str] = (
        "controller and comp, controller and the customer, either server and an owner"
    )
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = ATTACKS
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = COALITIONS
    leaks: ClassVar[bool] = True
    counted_as: ClassVar[Mapping[str, str]] = {"expected": "as Theorem 4 counts"}

    def ordering(
        self,
        protocol: Samba,
        run: str,
        owners: Sequence[Member],
        budget: int,
        identity: Identity,
        continued: ContinuedRun | None,
    ) -> tuple[bytes, Party]:
        key = generate_keypair(protocol.key_bits, insecure_bits=protocol.insecure_key_bits)
        terms = self.ordered(
            protocol,
            run,
            owners,
            budget,
            continued,
            selection=protocol.selection,
            customer_key=key.public.to_bytes(),
        )
        return terms.to_bytes(), SambaPaperCustomer(identity, terms, key)

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        run, order, identity = assignment.run, assignment.order, assignment.identity
        samba = self.simulates(assignment)
        policy = self.policy_of(assignment)
        least = SECURE_BITS if samba is None else samba.minimum_key_bits
        if assignment.seat == "customer" and snapshot is not None:
            return SambaPaperCustomer.restored(
                identity, run, policy, snapshot, minimum_key_bits=least
            )
        if assignment.seat == "controller":
            return SambaPaperController(
                run, policy, minimum_key_bits=least, order=order, snapshot=snapshot
            )
        if assignment.seat == "comp":
            return SambaPaperComp(identity, run, policy, order=order, snapshot=snapshot)
        owner = owned(assignment, policy, terms_from(SambaPaperTerms, order), snapshot)
        return SambaPaperOwner(identity, run, policy, minimum_key_bits=least, **owner)

    def complexity(self, protocol: Samba, environment: Environment, budget: int) -> Counts:
        counts = complexity.operations(
            environment.k,
            budget,
            protocol.policy.iterations,
            owners=protocol.owners,
            selection=protocol.selection,
        )
        return {"expected": counts}

    def repeats(self, protocol: Samba, environment: Environment) -> int:  # noqa: ARG002
        return 1

    def tells(self, protocol: Samba, role: str) -> frozenset[str]:
        """Where owners add noise of their own to all scores, Comp cannot follow the states."""
        told = super().tells(protocol, role)
        return told if has_exact_scores(protocol.policy) else told - EXACT_ONLY

    def notes(self, protocol: Samba) -> Sequence[str]:
        return [POSITION_SELECTION] if protocol.selection == "position" else []
