"""Tables for people, of HELBA."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console

from lotor.cli.study import Outcome
from lotor.cli.tables import small_table
from lotor.environments import LinearContexts
from lotor.protocols.helba.bounds import QuadraticBounds
from lotor.protocols.helba.forecast import HelbaForecast, Prices
from lotor.protocols.helba.judging import Judged

MEMORY = "estimated memory of the server"
EXPLAINED = (
    "Times are CPU seconds, at prices of single operations measured on this machine just now. A "
    "smaller gap between the two largest indices than the resolution may be decided otherwise."
)
WITHOUT_INVERSE = (
    " It holds for contexts as long as allowed and in all directions alike, and is coarser for "
    "others."
)


@dataclass(frozen=True, slots=True)
class PlanShown:
    """What a run will take, at measured prices."""

    plan: HelbaForecast
    prices: Prices

    @property
    def seconds(self) -> float:
        return self.plan.seconds(self.prices)["run"]

    def figures(self) -> Mapping[str, object]:
        times = {f"{name}_seconds": value for name, value in self._times().items()}
        degree = self.plan.setting.terms.insecure_degree
        return {**self.plan.summary(), **times, "insecure_degree": degree or None}

    def _times(self) -> Mapping[str, float]:
        return self.plan.seconds(self.prices)

    def show(self, out: Console) -> None:
        summary, terms = self.plan.summary(), self.plan.setting.terms
        table = small_table(
            f"What the run takes: {terms.budget} rounds, {terms.arms} arms, d = {terms.d}"
        )
        table.add_column("")
        table.add_column("", justify="right")
        for name, value in {**self._sizes(summary), **self._said_times()}.items():
            table.add_row(name, value)
        out.print(table)
        bounds = self.plan.setting.bounds
        by_adjugate = isinstance(bounds, QuadraticBounds) and bounds.by_adjugate
        out.print(f"{EXPLAINED}{WITHOUT_INVERSE if by_adjugate else ''}\n", highlight=False)

    def _sizes(self, summary: Mapping[str, float | int]) -> dict[str, str]:
        terms = self.plan.setting.terms
        safe = f"{summary['security']} bits"
        return {
            "security": "NONE: for teaching" if terms.insecure_degree else safe,
            "levels": f"{summary['levels']} of {summary['prime_bits']} bits",
            "modulus, ring": f"{summary['modulus_bits']} bits, N = {summary['ring_degree']}",
            "stages of a comparison": f"{summary['stages']}",
            "estimates": f"{summary['updates']}",
            "sent to the server in a round": _size(summary["round_bytes_up"]),
            "sent back in a round": _size(summary["round_bytes_down"]),
            "keys of the server, once": _size(summary["evaluation_key_bytes"]),
            MEMORY: _size(summary["server_memory_bytes"]),
            f"resolution in round {terms.budget}": f"{summary['resolution_last_round']:.2g}",
            **self._switch(),
        }

    def _switch(self) -> dict[str, str]:
        resolution = self.plan.switch_resolution()
        return {} if resolution is None else {"resolution beside C": f"{resolution:.2g}"}

    def _said_times(self) -> dict[str, str]:
        times = self._times()
        return {
            "a round at the server": _time(times["server_round"]),
            "a round at the user": _time(times["user_round"]),
            "a new estimate": _time(times["update"]),
            "the whole run": _time(times["run"]),
        }


def show_regrets(out: Console, contexts: LinearContexts, outcome: Outcome) -> None:
    """What each has missed on the same draws."""
    secure = outcome.secure
    table = small_table(
        f"Regret on the same draws: {secure.k} arms, {secure.rounds} rounds, seed {secure.seed}"
    )
    table.add_column("")
    for heading in ("regret", "total reward", "estimates", "CPU s"):
        table.add_column(heading, justify="right")
    for name, result in {
        "HELBA, encrypted": secure,
        "the same in plain": outcome.plain,
        **outcome.others,
    }.items():
        table.add_row(
            name,
            f"{contexts.regret(result.arms or []):.3f}",
            f"{result.reward:.3f}",
            str(result.operations["updates"]) if "updates" in result.operations else "",
            f"{result.cpu_seconds:.2f}",
        )
    out.print(table)


def show_judged(out: Console, found: Sequence[Judged]) -> None:
    """Whether every decision is the exact one, or explained by the resolution."""
    different = [one for one in found if not one.same]
    clear = sum(one.gap > one.resolution for one in found)
    if not different:
        out.print(
            f"Every decision is that of exact arithmetic. {clear} of {len(found)} gaps are above "
            "the resolution: there it had to be.\n",
            highlight=False,
        )
        return
    wrong = [one for one in different if one.wrong]
    said = (
        "every one of these gaps is below the resolution, where noise may decide"
        if not wrong
        else f"[red]{len(wrong)} of these gaps are ABOVE the resolution, the first in round "
        f"{wrong[0].t}: this is a fault in lotor; please report it[/red]"
    )
    out.print(
        f"{len(different)} of {len(found)} decisions differ from those of exact arithmetic after "
        f"the same rounds, the first in round {different[0].t}: {said}. {clear} of {len(found)} "
        "gaps are above the resolution.\n",
        highlight=False,
    )


def _size(number: float) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
