"""Plots, by matplotlib: one look for all of them, and a clear error where it is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lotor.core.errors import InputError
from lotor.core.output_files import check_output_file

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with any colour vision can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH, HEIGHT = 6.4, 4.0

_LOOK: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "grid.color": "#e0e0e0",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": "small",
    "savefig.dpi": 150,
    # The same picture gives the same file.
    "svg.hashsalt": "lotor",
}


def new_figure(columns: int = 1, rows: int = 1, *, height: float = HEIGHT) -> "Figure":
    """An empty figure with room for several plots, which opens no window."""
    with plotting():
        from matplotlib.figure import Figure  # noqa: PLC0415

        figure = Figure(figsize=(WIDTH * columns if columns < 3 else 4.2 * columns, height * rows))
        figure.subplots(rows, columns, squeeze=False)
        return figure


@contextmanager
def plotting() -> Iterator[None]:
    """The look of all plots; draw within it."""
    try:
        import matplotlib as mpl  # noqa: PLC0415
        from cycler import cycler  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "plots need matplotlib, which is not installed: run pip install 'lotor[plot]'"
        ) from None
    with mpl.rc_context({**_LOOK, "axes.prop_cycle": cycler(color=COLOURS)}):
        yield


def number_log_axis(axis: "Axis") -> None:
    """Numbers at 1, 2 and 5 of each power of ten: a range below ten has more than one, too."""
    from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")


def check_picture(path: Path | str) -> Path:
    """Refuse what is no kind of picture or cannot be written, before anything is computed."""
    file = Path(path)
    if file.suffix not in (".svg", ".png", ".pdf"):
        raise InputError(f"{file} is no kind of picture: end its name in .svg, .png or .pdf")
    with plotting():  # which names what is missing
        return check_output_file(file)


def save_figure(figure: "Figure", path: Path | str) -> None:
    """Write a figure as the file's ending says: .svg, .png or .pdf."""
    file = check_picture(path)
    # Without a date, the same figure gives the same file.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(file.suffix)
    try:
        with plotting():
            figure.savefig(file, metadata=metadata)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}") from None
