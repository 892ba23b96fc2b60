"""What is said of a run of the paper's form: what it will take, and whether it was right."""

from collections.abc import Mapping, Sequence

from lotor.core.wording import counted
from lotor.protocols.helba.paper.bounds import QuadraticBounds
from lotor.protocols.helba.paper.forecast import HelbaForecast, measured
from lotor.protocols.helba.paper.judging import Judged
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.report import Forecast

# So that prices take seconds where one operation takes a third of one.
REPEATS, POINTS = 2, 3
MEMORY = "estimated memory of the server"
EXPLAINED = (
    "Times are CPU seconds, at prices of single operations measured on this machine just now. A "
    "smaller gap between the two largest indices than the resolution may be decided otherwise."
)
WITHOUT_INVERSE = (
    " It holds for contexts as long as allowed and in all directions alike, and is coarser for "
    "others."
)


def forecast(setting: HelbaSetting) -> Forecast:
    """What a run will cost, at prices measured here."""
    plan, terms = HelbaForecast(setting), setting.terms
    seconds = plan.seconds(measured(setting.parameters, REPEATS, POINTS))
    summary = plan.summary()
    by_adjugate = isinstance(setting.bounds, QuadraticBounds) and setting.bounds.by_adjugate
    return Forecast(
        title=f"{counted(terms.budget, 'round')}, {counted(terms.arms, 'arm')}, d = {terms.d}",
        rows={**_sizes(plan, summary), **_times(seconds)},
        figures={
            **summary,
            **{f"{name}_seconds": value for name, value in seconds.items()},
            "insecure_degree": terms.insecure_degree or None,
        },
        seconds=seconds["run"],
        note=EXPLAINED + (WITHOUT_INVERSE if by_adjugate else ""),
    )


def _sizes(plan: HelbaForecast, summary: Mapping[str, float | int]) -> dict[str, str]:
    terms, switch = plan.setting.terms, plan.switch_resolution()
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
        **({} if switch is None else {"resolution beside C": f"{switch:.2g}"}),
    }


def _times(seconds: Mapping[str, float]) -> dict[str, str]:
    return {
        "a round at the server": _time(seconds["server_round"]),
        "a round at the user": _time(seconds["user_round"]),
        "a new estimate": _time(seconds["update"]),
        "the whole run": _time(seconds["run"]),
    }


def verdict(found: Sequence[Judged]) -> str:
    """Whether every decision is the exact one, or explained by the resolution."""
    different = [one for one in found if not one.same]
    clear = sum(one.clear for one in found)
    if not different:
        return (
            f"Every decision is that of exact arithmetic. {clear} of {len(found)} gaps are above "
            "the resolution: there it had to be."
        )
    wrong = [one for one in different if one.wrong]
    said = (
        "every one of these gaps is below the resolution, where noise may decide"
        if not wrong
        else f"{len(wrong)} of these gaps are ABOVE the resolution, the first in round "
        f"{wrong[0].t}: this is a fault in lotor; please report it"
    )
    return (
        f"{len(different)} of {len(found)} decisions differ from those of exact arithmetic after "
        f"the same rounds, the first in round {different[0].t}: {said}. {clear} of {len(found)} "
        "gaps are above the resolution."
    )


def _size(number: float) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
