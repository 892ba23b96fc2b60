"""Figure 2: regret of HELBA for 128, 192 and 256 bits of security."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from lotor.core.frames import Cell, Columns, number, rows_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, plotting
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.cell import AnyCell, Label, Outcome
from lotor.protocols.figure import DataFiles, Figure, Size
from lotor.protocols.helba.figures.setting import (
    IN_SMALL_RING,
    INSTANCES,
    SMALL_RING,
    TOY,
    UNSAID,
    T,
    by_labels,
    curve,
    encrypted,
    on_instances,
    on_the_same,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

SIZES: dict[Size, tuple[int, int]] = {"quick": (3, 40), "full": (INSTANCES, T)}
LEVELS = (128, 192, 256)
STAGES_OF_ALL = 2
# The paper adds no noise to answers; with the default's 5 bits it would decide many rounds here.
NOISE_BITS = 12
MOST_STAGES = {128: 4, 192: 3}
"""What fits where it is more; 4 is the default."""


class HelbaSecurityLevels(Figure):
    """Figure 2."""

    name: ClassVar[str] = "helba-2"
    title: ClassVar[str] = "regret for 128, 192 and 256 bits of security"
    paper: ClassVar[str] = (
        "Figure 2 has HELBA's regret for 128, 192 and 256 bits of security, everything else as in "
        "Figure 1: the parameter has no influence on it. There are no numbers in the text."
    )
    differs: ClassVar[str] = (
        f"{UNSAID}{IN_SMALL_RING}The largest ring has degree 32768, and at 256 bits it has room "
        "for 8 levels, in which the paper's index does not fit: the curves are for the index "
        "without a root. Two stages of comparison fit at all three, and are the same circuit on "
        "primes of different size; with more stages, which fit at 128 and 192 bits, smaller "
        "gaps are decided right. The noise that covers what an answer says of a gap is 2^-12 here, "
        "not the default's 2^-5, because the paper has none, and with two stages it would decide "
        "many rounds."
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        del data
        instances, rounds = SIZES[size]
        found: list[AnyCell] = []
        found += on_instances({"security": "exact", "stages": 0}, BatchedOFUL(), instances, rounds)
        for bits, stages in [*((bits, STAGES_OF_ALL) for bits in LEVELS), *MOST_STAGES.items()]:
            helba = encrypted(
                security=bits, stages=stages, noise_bits=NOISE_BITS, insecure_degree=SMALL_RING
            )
            labels: dict[str, Label] = {"security": str(bits), "stages": stages}
            found += on_instances(labels, helba, instances, rounds)
        return found

    def setting(self, size: Size, data: DataFiles) -> str:
        del data
        instances, rounds = SIZES[size]
        return f"{TOY}; {rounds} rounds on {instances} instances."

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        grouped = by_labels(outcomes)
        exact = grouped.get(("exact", 0), [])
        table: Columns = {}
        for (security, stages), found in grouped.items():
            rounds, means, errors = curve(found)
            beside = on_the_same(exact, found)
            for t, mean, error, other in zip(rounds, means, errors, beside, strict=True):
                row: dict[str, Cell] = {
                    "security": security,
                    "stages": stages,
                    "round": t,
                    "regret": float(mean),
                    "standard error": float(error),
                    "instances": len(found),
                    "exact on the same instances": other,
                }
                for column, value in row.items():
                    table.setdefault(column, []).append(value)
        return table

    def draw(self, table: Columns) -> "Picture":
        rows = rows_of(table)
        sets = list(dict.fromkeys((str(row["security"]), number(row["stages"])) for row in rows))
        colours = {"exact": COLOURS[6], "128": COLOURS[0], "192": COLOURS[1], "256": COLOURS[2]}
        with plotting():
            figure = new_figure()
            (axes,) = figure.axes
            for i, (security, stages) in enumerate(sets):
                own = [
                    row
                    for row in rows
                    if (str(row["security"]), row["stages"]) == (security, stages)
                ]
                bits = "exact arithmetic" if security == "exact" else f"{security} bits"
                text = bits if security == "exact" else f"{bits}, {stages:.0f} stages"
                axes.plot(
                    [number(row["round"]) for row in own],
                    [number(row["regret"]) for row in own],
                    "-" if stages == STAGES_OF_ALL else "--",
                    color=colours[security],
                    marker=None if security == "exact" else MARKERS[i],
                    markersize=4,
                    markevery=(i % 3, 3),
                    label=text,
                )
            axes.set_ylim(0, 1.1 * axes.get_ylim()[1])
            instances = number(rows[0]["instances"])
            axes.set(xlabel="rounds", ylabel=f"regret, mean of {instances:.0f}", title=self.title)
            axes.legend()
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        last = {(str(row["security"]), number(row["stages"])): row for row in rows_of(table)}
        said = []
        for (security, stages), row in last.items():
            other = row["exact on the same instances"]
            if security != "exact":
                beside = "" if other is None else f", exact arithmetic {number(other):.2f}"
                said.append(
                    f"{security} bits, {stages:.0f} stages: regret {number(row['regret']):.2f} ± "
                    f"{number(row['standard error']):.2f} after {number(row['round']):.0f} "
                    f"rounds{beside} on the same instances ({number(row['instances']):.0f})."
                )
        alike = [row for (_, stages), row in last.items() if stages == STAGES_OF_ALL]
        regrets = [number(row["regret"]) for row in alike]
        if len(regrets) > 1:
            most = max(number(row["standard error"]) for row in alike)
            said.append(
                f"With {STAGES_OF_ALL} stages the regrets of the {len(regrets)} levels of security "
                f"are {max(regrets) - min(regrets):.2f} apart, where one standard error is up to "
                f"{most:.2f}."
            )
        return said
