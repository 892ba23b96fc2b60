"""SAMBA on a garbled argmax: everybody talks to Controller, and to nobody else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from lotor.core.wording import counted
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.protocols.form import PULL, Assignment, Member, Role, RunPlan
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, draw_key
from lotor.protocols.report import Counts, Forecast
from lotor.protocols.revealing import takes_argmax
from lotor.protocols.samba.continued import ContinuedRun
from lotor.protocols.samba.form import SambaForm, owned
from lotor.protocols.samba.protocol import Samba
from lotor.protocols.samba.shared.comp import SambaSharedComp
from lotor.protocols.samba.shared.complexity import SharedCosts
from lotor.protocols.samba.shared.controller import SambaSharedController
from lotor.protocols.samba.shared.customer import SambaSharedCustomer
from lotor.protocols.samba.shared.leakage import ATTACKS, MEASURED
from lotor.protocols.samba.shared.messages import WIRE
from lotor.protocols.samba.shared.owner import SambaSharedOwner
from lotor.protocols.samba.shared.schedule import argmax_of, size_of
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.terms import terms_from


class SambaShared(SambaForm[SambaSharedTerms]):
    """Scores stay shared between Controller, who garbles, and Comp, who evaluates blindly."""

    name: ClassVar[str] = "shared"
    wire: ClassVar[str] = WIRE.rstrip("/")
    terms_kind = SambaSharedTerms
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("customer"),
        Role.one("controller"),
        Role.one("comp"),
        Role("owner", brings=(PULL,)),
    )
    hubs: ClassVar[tuple[str, ...]] = ("controller",)
    apart: ClassVar[str] = "controller and comp"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (("controller", "comp"),)
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = ATTACKS

    def ordering(
        self,
        protocol: Samba,
        run: str,
        owners: Sequence[Member],
        budget: int,
        identity: Identity,
        continued: ContinuedRun | None,
    ) -> tuple[bytes, Party]:
        sealing = SealingKey()
        size = size_of(sum(owner.contribution.arms for owner in owners))
        terms = self.ordered(
            protocol,
            run,
            owners,
            budget,
            continued,
            batch=size.circuits,
            gates=size.gates,
            customer_key=sealing.public,
            exclude_after=protocol.lost_after,
        )
        return terms.to_bytes(), SambaSharedCustomer.ordering(identity, terms, sealing)

    def plan(self, order: bytes) -> RunPlan:
        after = terms_from(SambaSharedTerms, order).exclude_after
        plan = super().plan(order)
        owners = tuple(seat for seat, role in plan.seats.items() if role == "owner")
        return replace(plan, exclude_after=after, excludable=owners if after is not None else ())

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        run, order, identity = assignment.run, assignment.order, assignment.identity
        policy, seed = self.policy_of(assignment), assignment.seed
        if assignment.seat == "customer" and snapshot is not None:
            return SambaSharedCustomer.restored(identity, run, policy, snapshot)
        if assignment.seat == "controller":
            # Ties are drawn as plain draws them.
            tie_key = None if seed is None else draw_key(seed, "owner")
            return SambaSharedController(
                run, policy, tie_key=tie_key, order=order, snapshot=snapshot
            )
        if assignment.seat == "comp":
            return SambaSharedComp(identity, run, policy, order=order, snapshot=snapshot)
        terms = terms_from(SambaSharedTerms, order)
        return SambaSharedOwner(identity, run, policy, **owned(assignment, policy, terms, snapshot))

    def complexity(self, protocol: Samba, environment: Environment, budget: int) -> Counts:
        return {"expected": _costs(protocol, environment, budget).operations()}

    def repeats(self, protocol: Samba, environment: Environment) -> int:
        return _costs(protocol, environment, 0).batch

    def forecast(self, protocol: Samba, environment: Environment, budget: int) -> Forecast:
        costs = _costs(protocol, environment, budget)
        circuit = argmax_of(costs.k)
        rows = {
            "argmaxes": f"{costs.turns:,}, each of {circuit.ands:,} AND gates on {circuit.levels} "
            "levels",
            "security of labels": f"{costs.security_bits:.0f} bits",
            "garbled together": f"{costs.batch}",
            "bytes ahead of an argmax": f"{costs.ahead_bytes:,}",
            "bytes within it": f"{costs.turn_bytes:,}",
        }
        figures = {
            **self.complexity(protocol, environment, budget),
            "security_bits": costs.security_bits,
            "bytes_ahead": costs.ahead_bytes,
            "bytes_within": costs.turn_bytes,
            "batch": costs.batch,
        }
        title = f"{counted(budget, 'round')}, {counted(costs.k, 'arm')}, form {self.name}"
        return Forecast(title, rows, figures)


def _costs(protocol: Samba, environment: Environment, budget: int) -> SharedCosts:
    k = environment.k
    turns = max(0, budget - k) * protocol.policy.iterations
    return SharedCosts(k, turns + takes_argmax(protocol.reveal))
