"""Figure 1: regret on the toy problem, in plain and encrypted."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from lotor.core.frames import Cell, Columns, number, rows_of
from lotor.core.plotting import COLOURS, new_figure, plotting
from lotor.core.wording import counted
from lotor.policies.optimistic import OFUL, RSOFUL, RSOFULTR, BatchedOFUL, OptimisticPolicy
from lotor.protocols.cell import AnyCell, Label, Outcome
from lotor.protocols.figure import DataFiles, Figure, Size
from lotor.protocols.helba.figures.setting import (
    IN_SMALL_RING,
    INSTANCES,
    PAPERS_POLICY,
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
from lotor.protocols.helba.guarantees import most_updates, regret_bound
from lotor.protocols.helba.protocol import Helba

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

EXACT = "HELBA, exact arithmetic"
ENCRYPTED, SECURE = "HELBA, encrypted", "HELBA, encrypted, 128 bits"
SHARED = "HELBA, shared form"
ROOTLESS, FLAT, DEFAULT = "index without a root", "the same, flat", "default index, shared form"
FEW = 5
"""With so few instances or fewer a curve has no band."""
PLAIN: Mapping[str, OptimisticPolicy] = {
    "OFUL": OFUL(width="union"),
    "RSOFUL": RSOFUL(width="union"),
    "RSOFUL-TR": RSOFULTR(width="union"),
    EXACT: PAPERS_POLICY,
    ROOTLESS: BatchedOFUL(width="union"),
    FLAT: BatchedOFUL(width="union", touch="flat"),
}
ON_SHARES = {
    SHARED: Helba(BatchedOFUL(index="sqrt", width="union", eta=0.1)),
    DEFAULT: Helba(),
}


class HelbaRegret(Figure):
    """Figure 1."""

    name: ClassVar[str] = "helba-1"
    title: ClassVar[str] = f"regret on the toy problem, T = {T}"
    paper: ClassVar[str] = (
        "Figure 1 has the regret of OFUL, RSOFUL and RSOFUL-TR on data in clear and of HELBA on "
        "encrypted data, 25 repetitions of 130 rounds, C = 1 and eta = 0.1. RSOFUL and RSOFUL-TR "
        "renew their estimate 11 times on average and HELBA about 20 times; HELBA's regret is "
        "somewhat higher. A run takes 20 hours and 39 minutes."
    )
    differs: ClassVar[str] = (
        f"{UNSAID}{IN_SMALL_RING}The width of confidence bounds is Algorithm 4's for all, but for "
        "the default of the shared form, which has Theorem 2's of Abbasi-Yadkori et al. eta = 0.1 "
        "alone makes 32 estimates in 130 rounds, so that 20 cannot be reached. Condition (8) "
        "counts round t_j, too. The paper's parameters (degree 2^16 with a modulus of 4,982 bits) "
        "do not have 128 bits of security; those here do, where the legend says so. The shared "
        "form has no condition (8)."
    )
    published: ClassVar[Mapping[str, Sequence[Label]]] = {
        "policy": ("RSOFUL", "RSOFUL-TR", EXACT),
        "updates": (11, 11, 20),
    }

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        del data
        quick = size == "quick"
        found: list[AnyCell] = []
        for name, policy in PLAIN.items():
            found += on_instances({"policy": name}, policy, INSTANCES)
        for name, shared in ON_SHARES.items():
            found += on_instances({"policy": name}, shared, 3 if quick else INSTANCES)
        small = encrypted(PAPERS_POLICY, insecure_degree=SMALL_RING)
        instances, rounds = (1, 20) if quick else (INSTANCES, T)
        found += on_instances({"policy": ENCRYPTED}, small, instances, rounds)
        if not quick:
            found += on_instances({"policy": SECURE}, encrypted(PAPERS_POLICY), 1, 40)
        return found

    def setting(self, size: Size, data: DataFiles) -> str:
        del data
        if size == "quick":
            return (
                f"{TOY}; {T} rounds on {INSTANCES} instances in plain and 3 in the shared form; "
                "20 rounds on one of them encrypted, in the small ring. Bands are standard errors."
            )
        return (
            f"{TOY}; {T} rounds on {INSTANCES} instances, and 40 rounds on one in the ring with "
            "128 bits of security. Bands are standard errors."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        grouped = {str(name): found for (name,), found in by_labels(outcomes).items()}
        exact = grouped.get(EXACT, [])
        table: Columns = {}
        for name, found in grouped.items():
            rounds, means, errors = curve(found)
            beside = on_the_same(exact, found) if "encrypted" in name else [None] * len(rounds)
            made = [one.figures.get("operations updates") for one in found]
            updates = None if None in made else sum(map(number, made)) / len(made)
            for t, mean, error, other in zip(rounds, means, errors, beside, strict=True):
                row: dict[str, Cell] = {
                    "policy": name,
                    "round": t,
                    "regret": float(mean),
                    "standard error": float(error),
                    "instances": len(found),
                    "exact on the same instances": other,
                    "updates": updates if t == rounds[-1] else None,
                }
                for column, value in row.items():
                    table.setdefault(column, []).append(value)
        return table

    def draw(self, table: Columns) -> "Picture":
        rows = rows_of(table)
        with plotting():
            figure = new_figure(2)
            regrets, updates = figure.axes
            _draw_regrets(regrets, rows)
            _draw_updates(updates, rows, self.published)
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        last = {str(row["policy"]): row for row in rows_of(table)}
        said = [_regret_said(name, row) for name, row in last.items()]
        for name in (ENCRYPTED, SECURE):
            if name in last and (other := last[name]["exact on the same instances"]) is not None:
                said.append(
                    f"{name}: {number(last[name]['regret']):.2f} where exact arithmetic has "
                    f"{number(other):.2f} on the same instances and rounds."
                )
        budget = round(number(last[EXACT]["round"]))
        most, bound = (of(PAPERS_POLICY, 2, budget) for of in (most_updates, regret_bound))
        said.append(
            f"Proposition 7 allows {most:.0f} estimates in {budget} rounds, and the proof of "
            f"Theorem 8 ends with a regret of {number(bound):,.0f} at most; no policy can exceed "
            f"{2 * budget} on means from -1 to 1."
        )
        return said


def _regret_said(name: str, row: Mapping[str, Cell]) -> str:
    count, updates = round(number(row["instances"])), row["updates"]
    # One instance alone has no spread.
    error = f" ± {number(row['standard error']):.2f}" if count > 1 else ""
    return (
        f"Regret after {number(row['round']):.0f} rounds, {counted(count, 'instance')}: {name} "
        f"{number(row['regret']):.2f}{error}"
        f"{'' if updates is None else f', {number(updates):.1f} estimates'}."
    )


def _draw_regrets(axes: "Axes", rows: Sequence[Mapping[str, Cell]]) -> None:
    names = list(dict.fromkeys(str(row["policy"]) for row in rows))
    for i, name in enumerate(names):
        own = [row for row in rows if row["policy"] == name]
        x, y, e = (
            [number(row[column]) for row in own] for column in ("round", "regret", "standard error")
        )
        ours = "HELBA" in name or name == DEFAULT
        mark = "o" if "encrypted" in name else None
        colour = COLOURS[i % len(COLOURS)]
        style = "-" if ours else "--"
        text = f"{name} ({number(own[0]['instances']):.0f})"
        axes.plot(x, y, style, color=colour, marker=mark, markersize=4, label=text)
        beside = [row["exact on the same instances"] for row in own]
        if None not in beside:
            same = f"exact, on the same ({number(own[0]['instances']):.0f})"
            axes.plot(x, [number(one) for one in beside], "x", color=COLOURS[6], label=same)
        elif number(own[0]["instances"]) > FEW:
            below, above = ([a + sign * b for a, b in zip(y, e, strict=True)] for sign in (-1, 1))
            axes.fill_between(x, below, above, color=colour, alpha=0.12, linewidth=0)
    axes.set(xlabel="rounds", ylabel="regret", title="Regret, mean of instances")
    # Room for the legend.
    axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
    axes.legend(fontsize="x-small", ncols=2, loc="upper left", title="in brackets: instances")


def _draw_updates(
    axes: "Axes", rows: Sequence[Mapping[str, Cell]], published: Mapping[str, Sequence[Label]]
) -> None:
    shown = {str(row["policy"]): number(row["updates"]) for row in rows if row["updates"]}
    places = range(len(shown))
    axes.barh(places, list(shown.values()), color=COLOURS[0], label="here")
    for place, value in zip(places, shown.values(), strict=True):
        axes.annotate(f"    {value:.1f}", (value, place), va="center")
    names = list(shown)
    theirs = [
        (float(count), names.index(str(name)))
        for name, count in zip(*published.values(), strict=True)
        if name in names
    ]
    if theirs:
        axes.plot(*zip(*theirs, strict=True), "D", color=COLOURS[1], label="published, about")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set(xlabel="estimates in a run", title="How often the estimate is renewed")
    axes.grid(visible=False, axis="y")
    axes.legend(loc="center right")
