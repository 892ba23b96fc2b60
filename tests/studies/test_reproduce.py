"""Every figure of every protocol can be made; here of runs that are as short as can be."""

from pathlib import Path

import pytest

from lotor.core.errors import InputError
from lotor.protocols.figure import DataFiles
from lotor.protocols.samba.protocol import Samba
from lotor.studies.report_page import html, write_page
from lotor.studies.reproduce import figure_names, load_figure, reproduce
from studies.figures import shortened

# Keys and rings of the full size, or many runs, take their time however few rounds there are.
SLOW = {
    *("helba-1", "helba-2", "helba-table1", "linucb-5", "samba-8a", "samba-8b"),
    *("linucb-6a", "linucb-6b", "linucb-6c", "linucb-7"),
    *("ppcb-3", "ppcb-4"),
}
NAMES = [
    pytest.param(name, marks=pytest.mark.long) if name in SLOW else name for name in figure_names()
]
pytestmark = [
    pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning"),
    pytest.mark.filterwarnings("ignore::lotor.crypto.ckks.InsecureParametersWarning"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_drawn_written_and_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made = reproduce(shortened(monkeypatch, name), tmp_path, size="quick", workers=1)
    write_page(made)
    (rows,) = {len(column) for column in made.table.values()}
    assert len(made.file("csv").read_text().splitlines()) == 1 + rows > 1
    assert made.found
    assert all(sentence.endswith(".") and "nan" not in sentence for sentence in made.found)
    assert b"<svg" in made.file("svg").read_bytes()
    assert made.file("png").read_bytes().startswith(b"\x89PNG")
    page = made.file("md").read_text()
    assert made.file("svg").name in page
    for said in (made.figure.paper, made.figure.differs, made.setting.rstrip("."), *made.found):
        assert said in page


@pytest.mark.parametrize("name", figure_names())
def test_look_alikes_are_named(name: str) -> None:
    figure = load_figure(name)
    for size in ("quick", "full"):
        cells = figure.cells(size, DataFiles())
        assert cells
        looks = any("look-alike" in str(value) for cell in cells for value in cell.labels.values())
        assert not looks or "look-alike" in figure.setting(size, DataFiles())


def test_a_page_has_all_that_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be sent as one file: pictures are within, and nothing is fetched."""
    made = reproduce(shortened(monkeypatch, "samba-8c"), tmp_path, size="quick", workers=1)
    page = html([made])
    assert page.count("data:image/svg+xml;base64,") == 1
    assert 'src="http' not in page
    assert "<th>published" not in page
    assert "Published numbers:" in page


def test_an_interrupted_figure_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = shortened(monkeypatch, "samba-8c")
    seen: list[int] = []

    def interrupt(done: int, total: int) -> None:
        seen.append(done)
        if done == 5 < total:
            raise KeyboardInterrupt

    kept = tmp_path / "cells"
    with pytest.raises(KeyboardInterrupt):
        reproduce(figure, tmp_path, size="quick", kept=kept, workers=1, progress=interrupt)
    assert not list(tmp_path.glob("samba-8c.*"))
    seen.clear()
    made = reproduce(
        figure, tmp_path, size="quick", kept=kept, workers=1, progress=lambda n, _: seen.append(n)
    )
    assert seen[0] == 5
    alone = reproduce(figure, tmp_path / "alone", size="quick", workers=1)
    assert alone.table == made.table


def test_two_protocols_cannot_have_the_same_figure() -> None:
    class Other(Samba):
        figures = {"samba-8a": "elsewhere:Figure"}  # noqa: RUF012

    with pytest.raises(InputError, match=r"two protocols have a figure 'samba-8a'"):
        figure_names({"samba": Samba, "other": Other})


def test_a_folder_that_cannot_be_is_refused_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    figure = shortened(monkeypatch, "samba-8c")
    with pytest.raises(InputError, match=r"file cannot be a folder for figures"):
        reproduce(figure, tmp_path / "file")
    (tmp_path / "taken" / "index.html").mkdir(parents=True)
    with pytest.raises(InputError, match=r"index.html is a folder"):
        reproduce(figure, tmp_path / "taken")
