"""What the two figures of execution time share: which runs are timed, and how lines look."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from lotor.core.frames import Columns, number, rows_of
from lotor.core.plotting import COLOURS, MARKERS
from lotor.environments.bernoulli import BernoulliArms
from lotor.policies import Policy
from lotor.protocols.cell import Label, RunCell
from lotor.protocols.protocol import Protocol
from lotor.protocols.samba.figures.setting import KEY_BITS, POLICIES
from lotor.protocols.samba.protocol import Samba

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN, PAPER, SHARED = "plain", "paper", "shared"
LINES: Final = {PLAIN: ":", PAPER: "-", SHARED: "--"}
# Every run of a size costs the same, so that any seed would do.
SEED: Final = 7

TIMES: Final = (
    "Times are CPU seconds of all parties together, in one process and without making keys, so "
    "that only their proportions can be compared with the authors' server; they are of one run "
    "each, where the paper has means over 50. One owner holds all arms and computes their scores "
    "as one vector, where the paper has an object for each arm. Plain is vectorised, too, and so "
    "faster than the paper's loop: that alone makes the overhead larger than the paper's. The "
    "shared form, Lotor's default, in which neither server learns anything, stands beside the "
    "paper's form."
)


def protocols_of(policy: Policy) -> dict[str, Protocol]:
    """A policy in plain and in both forms."""
    secure = Samba(policy)
    paper = Samba(policy, form="paper", key_bits=KEY_BITS)
    return {PLAIN: secure.plain(), PAPER: paper, SHARED: secure}


def timed(
    labels: Mapping[str, Label], protocol: Protocol, arms: BernoulliArms, budget: int
) -> RunCell:
    """A run with nothing beside it."""
    return RunCell({**labels, "K": arms.k, "N": budget}, protocol, arms, budget, SEED, alone=True)


def draw_lines(axes: "Axes", table: Columns, data: str, x: str, y: str) -> None:
    """A line for each policy in each form: colours tell policies, strokes tell forms."""
    for i, policy in enumerate(POLICIES):
        for form, stroke in LINES.items():
            rows = rows_of(table, data=data, policy=policy, form=form)
            axes.plot(
                [number(row[x]) for row in rows],
                [number(row[y]) for row in rows],
                stroke,
                color=COLOURS[i],
                marker=MARKERS[i],
                markersize=4,
                label=policy if form == PAPER else None,
            )


def add_form_legend(axes: "Axes") -> None:
    """Say in the legend what the strokes mean."""
    for form, stroke in LINES.items():
        axes.plot([], [], stroke, color="black", label=form)


def overheads(table: Columns, form: str, y: str, **at: Label) -> dict[str, float]:
    """How many times plain's cost each policy has in a form."""
    found = {}
    for policy in POLICIES:
        own, plain = (
            {(row["K"], row["N"]): number(row[y]) for row in rows_of(table, policy=policy, **one)}
            for one in ({**at, "form": form}, {**at, "form": PLAIN})
        )
        (size,) = list(own)[-1:]
        found[policy] = own[size] / plain[size]
    return found


def range_said(ratios: Sequence[float]) -> str:
    return f"{min(ratios):.0f} to {max(ratios):.0f}"
