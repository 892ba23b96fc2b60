"""Draws the pictures of architecture.md: `python docs/draw.py` writes docs/pictures/*.svg."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

HERE = Path(__file__).with_name("pictures")
INK, LINE, PAPER = "#1f2933", "#7b8794", "#ffffff"
BLUE, GREEN, SAND, ROSE = "#d9e8f6", "#dcefdc", "#f6ecd4", "#f7dedd"


def canvas(width: float, height: float) -> Axes:
    """A blank sheet, measured in its own units."""
    figure = plt.figure(figsize=(width / 100, height / 100), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    return axes


def box(
    axes: Axes,
    place: tuple[float, float, float, float],
    title: str,
    *lines: str,
    fill: str = BLUE,
    size: float = 10,
) -> None:
    """A named box at (left, top, width, height), with lines below its name."""
    left, top, width, height = place
    axes.add_patch(
        FancyBboxPatch(
            (left, top),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=7",
            facecolor=fill,
            edgecolor=LINE,
        )
    )
    rows = [title, *lines]
    step = 17
    first = top + height / 2 - step * (len(rows) - 1) / 2
    for number, text in enumerate(rows):
        axes.text(
            left + width / 2,
            first + step * number,
            text,
            ha="center",
            va="center",
            color=INK,
            fontsize=size if number == 0 else size - 1.5,
            fontweight="bold" if number == 0 else "normal",
        )


def arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    text: str = "",
    *,
    above: float = 8,
    style: str = "-|>",
    dashed: bool = False,
) -> None:
    """From one point to another, with words beside its middle."""
    axes.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops={
            "arrowstyle": style,
            "color": INK,
            "linewidth": 1.1,
            "linestyle": "--" if dashed else "-",
        },
    )
    if text:
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        axes.text(x, y - above, text, ha="center", va="center", color=INK, fontsize=8.5)


def note(axes: Axes, x: float, y: float, text: str, *, align: str = "left") -> None:
    axes.text(x, y, text, ha=align, va="center", color=INK, fontsize=8.5)


def save(name: str) -> None:
    HERE.mkdir(exist_ok=True)
    plt.gcf().savefig(HERE / f"{name}.svg", metadata={"Date": None})
    plt.close("all")


def layers() -> None:
    """Who may import whom."""
    axes = canvas(760, 624)
    rows: Sequence[tuple[str, str, str]] = (
        ("cli", "commands, derived from what protocols say of themselves", SAND),
        ("auditing", "attacks on recorded views, held against what forms state", SAND),
        ("sandbox", "federations on loopback, for demonstrations, tests and benchmarks", SAND),
        ("testing", "suites for those who add a policy", SAND),
        ("runtime", "drives parties: in process, durable, as daemons", BLUE),
        ("transport", "moves bytes between named parties", BLUE),
        (
            "protocols",
            "a class for each protocol, a class for each form, a file for each role",
            GREEN,
        ),
    )
    for number, (name, what, fill) in enumerate(rows):
        box(axes, (60, 20 + 64 * number, 640, 52), name, what, fill=fill)
    for number, (name, what) in enumerate(
        (
            ("policies", "in the clear"),
            ("environments", "rewards"),
            ("crypto", "primitives, workers"),
            ("privacy", "the accountant"),
        )
    ):
        box(axes, (60 + 163 * number, 468, 151, 52), name, what, fill=GREEN)
    box(
        axes,
        (60, 532, 640, 52),
        "core",
        "effects, draws, fixed point, errors, options, registry, results",
        fill=ROSE,
    )
    arrow(axes, (30, 30), (30, 579))
    axes.text(18, 302, "imports", rotation=90, ha="center", va="center", color=INK, fontsize=9)
    note(
        axes,
        380,
        606,
        "A layer imports those below it, never one above or beside it.",
        align="center",
    )
    save("layers")


def samba_round() -> None:
    """One round of SAMBA, from lotor.run."""
    axes = canvas(900, 560)
    box(
        axes,
        (20, 20, 250, 70),
        "lotor.run(Samba(), arms)",
        "asks the protocol for parties",
        fill=SAND,
    )
    box(
        axes,
        (320, 20, 270, 70),
        "SambaShared.party(assignment)",
        "the same builder as in daemons",
        fill=GREEN,
    )
    box(axes, (640, 20, 240, 70), "drive()", "one loop: performs every effect")
    arrow(axes, (270, 55), (320, 55))
    arrow(axes, (590, 55), (640, 55))
    lanes = {"owner": 120, "controller": 370, "comp": 620, "environment": 800}
    for name, x in lanes.items():
        box(axes, (x - 70, 120, 140, 36), name, fill=SAND if name == "environment" else BLUE)
        axes.plot([x, x], [156, 500], color=LINE, linewidth=0.8, linestyle=":")
    steps = (
        ("owner", "controller", "7  CoveredScores, under a pad"),
        ("controller", "comp", "8  InputLabels of a garbled argmax"),
        ("comp", "controller", "9  ResultBits, which it cannot read"),
        ("controller", "owner", "10  ResultShares: to each owner its own"),
        ("owner", "environment", "Pull(decision), if its bit is 1"),
        ("environment", "owner", "the reward: policy.learn(arms, i, reward)"),
    )
    for number, (sender, to, text) in enumerate(steps):
        y = 195 + 50 * number
        arrow(axes, (lanes[sender], y), (lanes[to], y), text, above=9)
    note(
        axes,
        450,
        525,
        "Every arrow is one effect that a role yields (Send, Receive, Pull); a Checkpoint comes "
        "before each round.",
        align="center",
    )
    save("samba-round")


def message() -> None:
    """The life of one message between two daemons."""
    axes = canvas(900, 470)
    for x, who in ((20, "party A"), (480, "party B")):
        axes.add_patch(
            FancyBboxPatch(
                (x, 20),
                400,
                400,
                boxstyle="round,pad=0,rounding_size=9",
                facecolor=PAPER,
                edgecolor=LINE,
                linestyle="--",
            )
        )
        axes.text(x + 200, 38, who, ha="center", va="center", color=INK, fontsize=10)
    left = (
        ("role", "yields Send(B, message)", GREEN),
        ("durable host", "encodes it, gives it a number", BLUE),
        ("link and outbox", "keeps it until B has it durably", BLUE),
        ("connections", "a frame: run, number, bytes", BLUE),
        ("network transport", "TLS 1.3, both sides certified", SAND),
    )
    right = (
        ("role", "goes on: Receive(A, kind) returns", GREEN),
        ("durable host", "decodes it as the awaited kind", BLUE),
        ("link", "the next number, or known, or an error", BLUE),
        ("node", "which run, which seat, is it its peer?", BLUE),
        ("network transport", "frames in order, within limits", SAND),
    )
    for x, rows in ((70, left), (530, right)):
        for number, (name, what, fill) in enumerate(rows):
            box(axes, (x, 56 + 72 * number, 300, 50), name, what, fill=fill)
            if number:
                ends = ((x + 150, 34 + 72 * number), (x + 150, 56 + 72 * number))
                arrow(axes, *(ends if x == 70 else ends[::-1]))
    arrow(axes, (370, 362), (530, 362), "frame", above=9)
    arrow(axes, (530, 225), (370, 225), "acknowledged", above=9, dashed=True)
    note(
        axes,
        450,
        444,
        "B acknowledges what it consumed before its last checkpoint; until then A sends it again.",
        align="center",
    )
    save("message")


def crash() -> None:
    """What a crash replays."""
    axes = canvas(900, 330)
    axes.plot([40, 860], [120, 120], color=INK, linewidth=1.4)
    marks = (
        (70, "checkpoint\nround 32", ROSE),
        (230, "messages\nreceived", BLUE),
        (370, "reward of\nround 33", SAND),
        (510, "messages\nsent", BLUE),
        (650, "reward of\nround 34", SAND),
    )
    for x, text, fill in marks:
        box(axes, (x - 55, 40, 110, 52), *text.split("\n"), fill=fill, size=9)
        axes.plot([x, x], [92, 120], color=LINE, linewidth=1)
    axes.plot([760, 760], [40, 150], color="#b3261e", linewidth=2)
    note(axes, 768, 50, "kill -9")
    arrow(axes, (760, 175), (70, 175), "it is built again from its last checkpoint", above=10)
    for x, text in (
        (70, "read from\nthe journal"),
        (230, "their senders\nsend them again"),
        (370, "read from\nthe journal"),
        (510, "computed again;\npeers drop doubles"),
        (650, "read from\nthe journal"),
    ):
        axes.text(x, 222, text, ha="center", va="center", color=INK, fontsize=8.5)
    note(
        axes,
        450,
        290,
        "From a checkpoint on, a party is a function of what it is handed: the same messages and "
        "answers give the same run.",
        align="center",
    )
    save("crash")


def main() -> None:
    mpl.rcParams["svg.hashsalt"] = "lotor"
    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["font.family"] = "DejaVu Sans"
    layers()
    samba_round()
    message()
    crash()


if __name__ == "__main__":
    main()
