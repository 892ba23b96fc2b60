"""HELBA as published: user and key authority talk to the server."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.ckks import InsecureParametersWarning
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.protocols.form import Assignment, Member, RunPlan
from lotor.protocols.helba.form import HelbaForm, contexts_of
from lotor.protocols.helba.paper import complexity, report
from lotor.protocols.helba.paper.authority import HelbaAuthority
from lotor.protocols.helba.paper.helper_processes import check_workers, useful_workers
from lotor.protocols.helba.paper.judging import Judged, judged
from lotor.protocols.helba.paper.leakage import MEASURED
from lotor.protocols.helba.paper.messages import WIRE
from lotor.protocols.helba.paper.server import HelbaServer
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.paper.user import HelbaUser
from lotor.protocols.helba.protocol import Helba
from lotor.protocols.helba.regrets import regret_table
from lotor.protocols.helba.terms import KEY_AUTHORITY, terms_from
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, Run
from lotor.protocols.report import Comparison, Counts, Forecast, ReportTable
from lotor.protocols.store import MemoryStore

ATTACKS = "lotor.protocols.helba.paper.attacks"


class HelbaPaper(HelbaForm):
    """The order is the terms of the user, who brings contexts and rewards.

    A federation refuses a ring that can be broken; one made with `insecure_degree`, for tests,
    refuses all others.
    """

    name: ClassVar[str] = "paper"
    wire: ClassVar[str] = WIRE.rstrip("/")
    leakage: ClassVar[Mapping[str, Finding]] = MEASURED
    leaks: ClassVar[bool] = True
    attacks: ClassVar[Mapping[str, Sequence[str]]] = {
        "user": (f"{ATTACKS}:GapsFromAnswers", f"{ATTACKS}:GapsFromRepeats"),
        "server": (f"{ATTACKS}:UpdatesDecrypted", f"{ATTACKS}:GapsFromAnswers"),
        KEY_AUTHORITY: (f"{ATTACKS}:UpdatesDecrypted",),
        # The authority forgets the secret key once it is sealed: nothing recorded shows it.
        f"server+{KEY_AUTHORITY}": (),
    }
    exact: ClassVar[bool] = False
    how: ClassVar[str] = "all under CKKS encryption with 128-bit security: it saw ciphertexts only"
    # SEAL packs its ciphertexts, whose lengths differ by some bytes.
    fixed_widths: ClassVar[bool] = False
    takes_long: ClassVar[bool] = True
    demo_budget: ClassVar[int | None] = 10

    def __init__(self, insecure_degree: int | None = None) -> None:
        self._insecure_degree = insecure_degree

    def simulated(self, protocol: Helba, run: Run) -> Mapping[str, Sequence[Member]]:
        members = super().simulated(protocol, run)
        arms = contexts_of(run.environment)
        protocol.check_means(arms.means[: run.budget])
        return members

    def open(
        self,
        protocol: Helba,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        arms, d, scale = self.brought(members)
        setting = self._ringed(protocol).setting(run, budget=budget, arms=arms, d=d, scale=scale)
        # A daemon rebuilds it with its own store, from its first snapshot.
        return setting.terms.to_bytes(), HelbaUser(identity, setting, MemoryStore())

    def _ringed(self, helba: Helba) -> Helba:
        """The protocol in the ring of this form's tests, if it has one."""
        if self._insecure_degree is None:
            return helba
        with warnings.catch_warnings():
            # The maker of this form has had this warning already.
            warnings.simplefilter("ignore", InsecureParametersWarning)
            return replace(helba, insecure_degree=self._insecure_degree)

    def plan(self, order: bytes) -> RunPlan:
        terms = self._setting(order, self._insecure_degree).terms
        return RunPlan(terms.policy, terms.budget, terms.arms, self.seats_of({}))

    def _setting(self, order: bytes, insecure_degree: int | None) -> HelbaSetting:
        terms = terms_from(order)
        if terms.insecure_degree != (insecure_degree or 0):
            raise ProtocolError(
                f"user ordered a ring of degree {terms.insecure_degree}, which can be broken: that "
                "is for tests within one process; order without it"
            )
        try:
            return HelbaSetting.of(terms)
        except InputError as error:
            raise ProtocolError(f"user ordered an impossible run: {error}") from None

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        identity, store = assignment.identity, assignment.store
        simulated = self.simulates(assignment)
        degree = self._insecure_degree if simulated is None else simulated.insecure_degree
        setting = self._setting(assignment.order, degree)
        if assignment.seat == KEY_AUTHORITY:
            return HelbaAuthority(identity, setting, store, snapshot=snapshot)
        if assignment.seat == "user":
            return HelbaUser(identity, setting, store, snapshot=snapshot)
        workers = assignment.workers
        if simulated is None:
            workers = useful_workers(setting, workers)
        else:
            check_workers(setting, workers)
        return HelbaServer(
            setting, store, workers=workers, tries_keys=simulated is None, snapshot=snapshot
        )

    def complexity(self, protocol: Helba, environment: Environment, budget: int) -> Counts:
        setting = _setting_of(protocol, environment, budget)
        counts = complexity.whole_run(setting)
        # A run counts squares apart.
        products = {"ckks_multiply_and_square": counts.pop("multiply")}
        return {"expected": {f"ckks_{name}": count for name, count in counts.items()} | products}

    def forecast(self, protocol: Helba, environment: Environment, budget: int) -> Forecast:
        setting = _setting_of(protocol, environment, budget)
        check_workers(setting, protocol.workers)
        return report.forecast(setting)

    def holds(self, protocol: Helba, comparison: Comparison) -> bool:
        return not any(one.wrong for one in _judged(protocol, comparison))

    def details(self, protocol: Helba, comparison: Comparison) -> Mapping[str, object]:
        found = _judged(protocol, comparison)
        return {
            **super().details(protocol, comparison),
            "decisions": {
                "different": sum(not one.same for one in found),
                "different_above_resolution": sum(one.wrong for one in found),
                "above_resolution": sum(one.clear for one in found),
                "beyond_corollary_5": sum(one.beyond_near for one in found),
            },
        }

    def tables(self, protocol: Helba, comparison: Comparison) -> Sequence[ReportTable]:
        verdict = report.verdict(_judged(protocol, comparison))
        contexts = contexts_of(comparison.environment)
        return [regret_table(protocol.policy, contexts, comparison, "HELBA, encrypted", verdict)]


def _setting_of(helba: Helba, environment: Environment, budget: int) -> HelbaSetting:
    arms = contexts_of(environment)
    scale = RewardScale(*arms.reward_range)
    return helba.setting("", budget=budget, arms=arms.k, d=arms.d, scale=scale)


def _judged(protocol: Helba, comparison: Comparison) -> list[Judged]:
    secure, contexts = comparison.secure, contexts_of(comparison.environment)
    setting = _setting_of(protocol, contexts, secure.budget)
    return judged(setting, contexts, secure.seed, secure.arms or [])
