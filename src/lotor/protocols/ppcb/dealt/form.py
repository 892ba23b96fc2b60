"""PPCB with a dealer."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from lotor.environments.base import Environment
from lotor.protocols.form import Role
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party
from lotor.protocols.ppcb.dealt import complexity
from lotor.protocols.ppcb.dealt.actor import PPCBActor
from lotor.protocols.ppcb.dealt.circuits import PPCBCircuits, cheapest_circuits
from lotor.protocols.ppcb.dealt.dealer import PPCBDealer
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.ppcb.form import ATTACKS, MEMBERSHIP, ROLES, PPCBForm
from lotor.protocols.ppcb.leakage import MEASURED
from lotor.protocols.ppcb.messages import WIRE
from lotor.protocols.ppcb.protocol import PPCB
from lotor.protocols.ppcb.terms import PPCBTerms
from lotor.protocols.report import Comparison, Counts, ReportTable

FROM_SHARES = tuple(f"{ATTACKS}:{what}FromShares" for what in ("Arms", "Contexts", "Rewards"))


class PPCBDealt(PPCBForm):
    """A third operator deals all correlated randomness."""

    name: ClassVar[str] = "dealt"
    server_kind: ClassVar[Callable[..., Party]] = PPCBServer
    actor_kind: ClassVar[Callable[..., Party]] = PPCBActor
    helper_kinds: ClassVar[Mapping[str, Callable[..., Party]]] = {"dealer": PPCBDealer}
    wire: ClassVar[str] = WIRE.rstrip("/")
    roles: ClassVar[tuple[Role, ...]] = (*ROLES[:2], Role.one("dealer"), *ROLES[2:])
    apart: ClassVar[str] = "any two of the dealer and the two servers"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (("server", "server"), ("server", "dealer"))
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    attacks: ClassVar[Mapping[str, Sequence[str]]] = {
        "actor": (
            f"{ATTACKS}:ArmsFromShares",
            f"{MEMBERSHIP}:ContextsFromArms",
            f"{ATTACKS}:ContextsFromShares",
            f"{ATTACKS}:RewardsFromShares",
        ),
        "receiver": (f"{ATTACKS}:RewardsPulled", f"{ATTACKS}:ArmsFromShares"),
        "server": FROM_SHARES,
        "dealer": FROM_SHARES,
    }
    counted_as: ClassVar[Mapping[str, str]] = {
        "expected": "as it must be",
        "per_step": "a step",
        "published_program": "authors' program",
    }

    @staticmethod
    def circuits(terms: PPCBTerms) -> PPCBCircuits:
        """What the servers compute, and the dealer deals for."""
        return cheapest_circuits(terms)

    def complexity(self, protocol: PPCB, environment: Environment, budget: int) -> Counts:
        circuits = self.circuits(self.counted_terms(protocol, environment, budget))
        return {
            "expected": complexity.whole_run(circuits),
            "per_step": complexity.per_step(circuits),
            "published_program": {"rounds": complexity.PUBLISHED_PROGRAM},
            "table_1": complexity.TABLE_1,
            "ours": complexity.OURS,
        }

    def repeats(self, protocol: PPCB, environment: Environment) -> int:
        terms = self.counted_terms(protocol, environment, protocol.delay + 1)
        return self.circuits(terms).schedule.batch

    def tables(
        self,
        protocol: PPCB,  # noqa: ARG002
        comparison: Comparison,  # noqa: ARG002
    ) -> Sequence[ReportTable]:
        return [
            ReportTable(
                "Rounds of one operation",
                ("operation", "Table 1 of the paper", "here"),
                [
                    (name, rounds, complexity.OURS[name])
                    for name, rounds in complexity.TABLE_1.items()
                ],
                complexity.EXPLAINED,
            )
        ]
