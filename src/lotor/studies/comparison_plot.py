"""How a comparison is drawn."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from lotor.core.plotting import COLOURS, MARKERS, WIDTH, new_figure, plotting
from lotor.studies.compared_runs import Measure, RunGroup
from lotor.studies.statistics import MeanBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS = 3
_LINES = ("-", "--", ":", "-.")
_WORDS: dict[Measure, str] = {"reward": "total reward", "regret": "expected regret"}
_BAND_ALPHA = 0.15


def comparison_plot(groups: Sequence[RunGroup], measure: Measure) -> "Figure":
    """A plot for each environment: curves over the rounds, or points over several budgets."""
    environments = list(dict.fromkeys(one.environment for one in groups))
    protocols = list(dict.fromkeys(one.protocol for one in groups))
    budgets = list(dict.fromkeys(one.budget for one in groups))
    across = min(len(environments), _ACROSS)
    figure = new_figure(across, ceil(len(environments) / across))
    if across == 1:
        figure.set_size_inches(WIDTH * 1.25, figure.get_figheight())
    with plotting():
        for place, environment in enumerate(environments):
            axes = figure.axes[place]
            for number, protocol in enumerate(protocols):
                own = [
                    one
                    for one in groups
                    if (one.environment, one.protocol) == (environment, protocol)
                ]
                points = _over_budgets(own, measure) if len(budgets) > 1 else own[0].curve(measure)
                _draw(axes, points, number, protocol, marked=len(budgets) > 1)
            label = "budget" if len(budgets) > 1 else "round"
            axes.set(xlabel=label, ylabel=_WORDS[measure], title=environment)
        for empty in figure.axes[len(environments) :]:
            empty.set_visible(False)
        figure.axes[0].legend()
        runs = len(groups[0].outcomes)
        band = ", bands: 95 % of the mean" if runs > 1 else ""
        figure.suptitle(f"mean of {runs} runs{band}" if runs > 1 else "one run")
    return figure


def _over_budgets(groups: Sequence[RunGroup], measure: Measure) -> dict[int, MeanBand]:
    found = {one.budget: one.figure(measure) for one in sorted(groups, key=lambda one: one.budget)}
    return {budget: value for budget, value in found.items() if value is not None}


def _draw(
    axes: "Axes", points: dict[int, MeanBand], number: int, label: str, *, marked: bool
) -> None:
    colour = COLOURS[number % len(COLOURS)]
    # Secure and plain curves are the same: dashes let both be seen.
    line = _LINES[number % len(_LINES)]
    marker = MARKERS[number % len(MARKERS)] if marked else None
    x, found = list(points), list(points.values())
    means = [one.mean for one in found]
    axes.plot(x, means, color=colour, linestyle=line, marker=marker, label=label)
    lows = [one.mean if one.low is None else one.low for one in found]
    highs = [one.mean if one.high is None else one.high for one in found]
    axes.fill_between(x, lows, highs, color=colour, alpha=_BAND_ALPHA, linewidth=0)
