"""Makes figures of the papers: runs what they need, and writes picture, data and a page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lotor.core.errors import InputError
from lotor.core.frames import Columns, write_csv
from lotor.core.output_files import check_output_file
from lotor.core.plotting import plotting, save_figure
from lotor.core.registry import load
from lotor.protocols.cell import AnyCell
from lotor.protocols.figure import DataFiles, Figure, Size
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.studies.kept_cells import KeptCells
from lotor.studies.sweep import CellProgress, sweep


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A figure that was made; its files lie in one folder and are called after it."""

    figure: Figure
    size: Size
    setting: str
    cells: tuple[AnyCell, ...]
    table: Columns
    found: tuple[str, ...]
    folder: Path

    def file(self, ending: str) -> Path:
        """Its picture (svg, png), data (csv) or page (md)."""
        return self.folder / f"{self.figure.name}.{ending}"


def figure_names(protocols: Mapping[str, type[SecureProtocol]] = PROTOCOLS) -> dict[str, str]:
    """All figures of all protocols' papers, each as module:Class."""
    found: dict[str, str] = {}
    for kind in protocols.values():
        for name, place in kind.figures.items():
            if found.setdefault(name, place) != place:
                raise InputError(
                    f"two protocols have a figure {name!r} ({found[name]} and {place}): uninstall "
                    "one of them"
                )
    return found


def load_figure(name: str) -> Figure:
    """A figure by its name on the command line."""
    known = figure_names()
    if name not in known:
        raise InputError(f"no figure is called {name!r}: choose one of {', '.join(known)}")
    kind = load(known[name], "figure")
    if not isinstance(kind, type) or not issubclass(kind, Figure):
        raise InputError(f"{known[name]} is not a figure: it must be a class derived from Figure")
    return kind()


def check_folder(folder: Path) -> None:
    """Refuse, before anything is computed, what nothing can be drawn or written with."""
    with plotting():  # which names what is missing
        pass
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be a folder for figures: {error.strerror}; give another"
        ) from None
    check_output_file(folder / "index.html")


def reproduce(
    figure: Figure,
    folder: Path,
    *,
    size: Size = "full",
    data: DataFiles = DataFiles(),  # noqa: B008
    kept: Path | None = None,
    workers: int | None = None,
    progress: CellProgress | None = None,
) -> Reproduced:
    """Run a figure's cells and write its picture (SVG and PNG) and its data (CSV) to a folder.

    `kept` is where finished cells are, so that an interrupted figure goes on; see `forget_times`.
    """
    check_folder(folder)
    cells = figure.cells(size, data)
    outcomes = sweep(cells, kept=kept, workers=workers, progress=progress)
    table = figure.table(outcomes)
    made = Reproduced(
        figure=figure,
        size=size,
        setting=figure.setting(size, data),
        cells=tuple(cells),
        table=table,
        found=tuple(figure.found(table)),
        folder=folder,
    )
    picture = figure.draw(table)
    save_figure(picture, made.file("svg"))
    save_figure(picture, made.file("png"))
    write_csv(made.file("csv"), table)
    return made


def forget_times(made: Iterable[Reproduced], kept: Path) -> None:
    """Forget the kept cells whose times count: whoever asks for a figure again wants other times.

    Call it after all figures are made, as some share cells.
    """
    KeptCells(kept, [cell for one in made for cell in one.cells if cell.alone]).forget()
