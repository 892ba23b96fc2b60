"""The figures of LinUCB-DS: what they run, and what they say of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import lotor
from lotor.protocols.cell import Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure
from lotor.protocols.linucb_ds.figures.both_algorithms import (
    LINEAR,
    SPECTRAL,
    LinUCBBothAlgorithms,
)
from lotor.protocols.linucb_ds.figures.cores import LinUCBManyArms, LinUCBManyDimensions
from lotor.protocols.linucb_ds.figures.growth import ENCRYPTED, LinUCBGrowth
from lotor.protocols.linucb_ds.figures.operations import (
    COUNTED,
    HEADLINE,
    PRINTED,
    TRANSCRIBED,
    LinUCBOperations,
)
from lotor.protocols.linucb_ds.figures.setting import data_said, movie_arms, movie_graph
from lotor.protocols.protocol import Protocol
from lotor.studies.outcomes import outcome_of

NONE = DataFiles()
MOVIELENS = Path(__file__).parents[5] / "shared" / "data" / "movielens-100k" / "u.data"


def timed(
    labels: Mapping[str, str | int], seconds: float, rounds: int = 200, waited: float = 1.0
) -> Outcome:
    figures = {"seconds": waited * seconds, "rounds": rounds, "cpu_seconds": seconds}
    if labels.get("form") not in ("plain", None):
        figures |= {"cpu of principal": seconds, "cpu of comp": seconds / 2}
    if str(labels.get("form")).startswith("paper"):
        figures |= {f"operations {name}": 10.0 for name in COUNTED}
    return Outcome(labels=dict(labels), figures=figures)


def options_of(cell: RunCell) -> Mapping[str, str | int]:
    assert isinstance(cell.protocol, Protocol)
    return cell.protocol.options()


def runs(cells: Sequence[object]) -> list[RunCell]:
    assert all(isinstance(cell, RunCell) for cell in cells)
    return [cell for cell in cells if isinstance(cell, RunCell)]


@pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")
def test_operations_are_counted_beside_those_of_the_paper() -> None:
    figure = LinUCBOperations()
    cells = {cell.labels["form"]: cell for cell in runs(figure.cells("quick", NONE))}
    assert cells[HEADLINE].budget == 1000
    assert options_of(cells[HEADLINE])["key_bits"] == 1024
    outcomes = [
        outcome_of(RunCell(cell.labels, cell.protocol, cell.environment, budget=12, seed=1))
        for form, cell in cells.items()
        if form in (HEADLINE, "shared", "plain")
    ]
    same = {one.figures["reward"] for one in outcomes}
    assert max(same) - min(same) < 1e-4
    table = figure.table(outcomes)
    rows = dict(zip(table["form"], table["operations paillier_decryptions"], strict=True))
    assert rows == {HEADLINE: 13, "shared": None, "plain": None, PRINTED: 167, TRANSCRIBED: 167}
    encryptions = dict(zip(table["form"], table["operations paillier_encryptions"], strict=True))
    assert (encryptions[HEADLINE], encryptions[PRINTED], encryptions[TRANSCRIBED]) == (4, 16, 183)


def test_the_published_time_is_set_beside_a_run_of_its_length_alone() -> None:
    figure = LinUCBOperations()
    forms = (HEADLINE, "paper, 2048 bits", "paper, 3072 bits", "shared", "plain")
    for rounds in (1000, 40):
        outcomes = [timed({"form": form}, 2.0, rounds) for form in forms]
        said = " ".join(figure.found(figure.table(outcomes)))
        assert ("115 s are 58 times" in said) == (rounds == 1000)


@pytest.mark.parametrize(
    ("figure", "size"), [(LinUCBManyArms(), (50, 5)), (LinUCBManyDimensions(), (6, 18))]
)
def test_times_against_cores_have_the_papers_sizes(
    figure: LinUCBManyArms, size: tuple[int, int]
) -> None:
    for cell in runs(figure.cells("full", NONE)):
        assert isinstance(cell.environment, lotor.LinearArms)
        assert (cell.environment.k, cell.environment.d, cell.budget) == (*size, 200)
        assert cell.alone
        if cell.labels["form"] == "paper":
            options = options_of(cell)
            assert options["workers"] == cell.labels["cores"]
            assert options["key_bits"] == 2048


@pytest.mark.parametrize(("two", "said"), [(3.0, "not faster than one"), (1.0, "faster than one")])
def test_whether_two_workers_are_faster_is_computed(two: float, said: str) -> None:
    figure = LinUCBManyArms()
    seconds = {("paper", 1): 2.0, ("paper", 2): two, ("shared", 1): 0.5, ("plain", 1): 0.1}
    outcomes = [
        timed({"form": form, "cores": cores}, value) for (form, cores), value in seconds.items()
    ]
    table = figure.table(outcomes)
    assert f": {said} at this size" in figure.found(table)[1]
    assert len(figure.draw(table).axes) == 1


@pytest.mark.parametrize(
    ("figure", "missing"),
    [
        (LinUCBManyArms(), "cpu of comp"),
        (LinUCBOperations(), "seconds"),
        (LinUCBOperations(), "operations paillier_decryptions"),
    ],
)
def test_what_was_not_measured_is_never_0(figure: Figure, missing: str) -> None:
    forms = ("paper", "shared", HEADLINE, "paper, 2048 bits", "paper, 3072 bits", "plain")
    measured = [timed({"form": form, "cores": 1}, 2.0) for form in forms]
    table = figure.table(measured)
    assert figure.found(table)
    figure.draw(table)
    table[missing][table["form"].index(HEADLINE if "operations" in missing else "paper")] = None
    for use in (figure.found, figure.draw):
        with pytest.raises(ValueError, match="empty"):
            use(table)


def test_growth_is_set_beside_that_of_k_times_d() -> None:
    figure = LinUCBGrowth()
    assert all(
        cell.labels["K"] == 10 * int(cell.labels["d"]) for cell in figure.cells("full", NONE)
    )
    forms = (*ENCRYPTED, "shared", "plain")
    outcomes = [
        timed({"form": form, "K": k, "d": k // 10}, k / 1000) for form in forms for k in (50, 100)
    ]
    said = figure.found(figure.table(outcomes))
    assert "2.0 times as much, where K d is 4.0 times as large" in said[0]
    assert "1.00 at K = 50, 1.00 at K = 100" in said[1]


def test_neither_algorithm_is_said_to_be_faster_unless_it_is() -> None:
    figure = LinUCBBothAlgorithms()
    cells = runs(figure.cells("quick", NONE))
    assert all(cell.budget == cell.environment.k == cell.labels["K"] for cell in cells)
    for spectral, count in ((1.0, 0), (0.5, 2)):
        outcomes = [
            timed({"algorithm": algorithm, "form": form, "K": k}, seconds)
            for form in ("paper", "shared", "plain")
            for k in (15, 20)
            for algorithm, seconds in ((LINEAR, 1.0), (SPECTRAL, spectral))
        ]
        assert f"at {count} of 2 sizes" in figure.found(figure.table(outcomes))[-1]


def test_look_alikes_are_named() -> None:
    assert "look-alike" in data_said(NONE)
    assert movie_arms(NONE, 15, 3).noise_sd == 0.01
    assert movie_graph(NONE, 20).d == 20


@pytest.mark.skipif(not MOVIELENS.exists(), reason="MovieLens 100K is not here")
def test_movielens_gives_the_arms_where_it_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    data = DataFiles(movielens=MOVIELENS)
    assert "u.data" in data_said(data)
    arms = movie_arms(data, 15, 3)
    assert 0 < arms.means.mean() < 5
    assert (arms.vectors != movie_arms(NONE, 15, 3).vectors).any()


def test_times_on_a_busy_machine_are_not_compared() -> None:
    figure = LinUCBManyArms()
    kinds = [("paper", 1), ("paper", 2), ("shared", 1), ("plain", 1)]
    outcomes = [timed({"form": form, "cores": cores}, 1.0, waited=2.0) for form, cores in kinds]
    said = figure.found(figure.table(outcomes))
    assert "OTHER PROGRAMS USED THE MACHINE" in said[-1]
    assert "up to 2.0 times the CPU time" in said[-1]
    assert not any("faster" in one for one in said)


def test_runs_that_are_compared_take_turns() -> None:
    cells = runs(LinUCBManyArms().cells("quick", NONE))
    order = [(cell.labels["form"], cell.labels["cores"]) for cell in cells]
    assert order[: len(order) // 2] == order[len(order) // 2 :]
