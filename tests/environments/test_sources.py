"""Every text that `--arms` may have, for each kind of arms, and options that would do nothing."""

import contextlib
import hashlib
import re
import warnings
from collections.abc import Mapping
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from environments.test_mnist import IMAGES, LABELS, write
from lotor.core.errors import DataError, InputError
from lotor.core.options import options_of
from lotor.environments import RatingArms, lookalike
from lotor.environments.graph import GraphArms
from lotor.environments.linear_lookalike import linear_lookalike
from lotor.environments.sources import (
    ArmContextSource,
    ArmsSource,
    BanditSource,
    ContextSource,
    GraphSource,
    MadeUpArms,
    VectorSource,
    made_up,
)
from lotor.environments.sources import contexts as contexts_module
from lotor.environments.sources.base import SEED

SOURCES: tuple[type[ArmsSource], ...] = (
    ArmContextSource,
    BanditSource,
    ContextSource,
    GraphSource,
    VectorSource,
)
WITH_DIGITS = pytest.mark.skipif(find_spec("sklearn") is None, reason="needs scikit-learn")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def movielens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = [f"{u}\t{i}\t{(u * i) % 5 + 1}\t0" for u in range(1, 5) for i in range(1, 5)]
    path = tmp_path / "u.data"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def jester(tmp_path: Path) -> Path:
    path = tmp_path / "jester.csv"
    path.write_text("2,-3.1,5.0\n2,6.0,7.5\n2,1.0,-9.0\n")
    return path


# -- arms of which nothing is known ----------------------------------------------------------------


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_means(means: list[float]) -> None:
    arms = BanditSource().environment(",".join(map(repr, means)), 9)
    assert isinstance(arms, lotor.BernoulliArms)
    assert list(arms.means) == means


def test_means_that_change() -> None:
    arms = BanditSource().environment("0.9,0.1/20:0.1,0.9/300:0,1", 9)
    assert arms == lotor.ChangingArms([(1, [0.9, 0.1]), (20, [0.1, 0.9]), (300, [0, 1])])


@pytest.mark.parametrize("text", ["0.9/0.1", "0.9/x:0.1", "0.9/3:", "0.9/3:a", "0.9/:0.1", "/3:1"])
def test_changes_that_cannot_be_read(text: str) -> None:
    with pytest.raises(InputError, match=r"0\.9,0\.5/300:0\.1,0\.5"):
        BanditSource().environment(text, 9)


@pytest.mark.parametrize("name", ["movielens-like", "jester-like"])
@pytest.mark.parametrize("k", [None, 4])
def test_lookalikes(name: str, k: int | None) -> None:
    arms = BanditSource(k=k).environment(name, 9)
    assert arms.k == (k or 10)
    assert arms == lookalike(name, k or 10)


def test_rating_files_with_all_their_options(movielens: Path, jester: Path) -> None:
    digest = sha256(movielens)
    arms = BanditSource(
        k=2, threshold=5, minimum_ratings=1, choose="first", sha256=digest
    ).environment(f"movielens:{movielens}", 9)
    assert arms == RatingArms.movielens(
        movielens, k=2, threshold=5, minimum_ratings=1, choose="first", sha256=digest
    )
    arms = BanditSource(k=2, minimum_ratings=1).environment(f"jester:{jester}", 9)
    assert arms == RatingArms.jester(jester, k=2, minimum_ratings=1)
    arms = BanditSource(k=2, choose="published").environment(f"jester:{jester}", 9)
    assert arms == RatingArms.jester(jester, k=2, choose="published")
    with pytest.raises(DataError, match=digest):
        BanditSource(k=2).environment(f"movielens:{movielens}", 9)


# -- arms that are vectors -------------------------------------------------------------------------


@given(st.integers(2, 9), st.integers(1, 5))
def test_made_up_vectors(k: int, d: int) -> None:
    text = f"linear:{k},{d}"
    arms = VectorSource().environment(text, 9)
    assert type(arms) is lotor.LinearArms
    assert (arms.k, arms.d) == (k, d)
    assert np.array_equal(arms.vectors, VectorSource().environment(text, 20).vectors)
    lotor.LinUCB().check_theta(arms.theta, arms.eigenvalues)


@given(st.integers(2, 9))
def test_a_ring(k: int) -> None:
    for source in (VectorSource(), GraphSource()):
        arms = source.environment(f"graph:{k}", 9)
        assert isinstance(arms, GraphArms)
        assert arms.k == k
        lotor.SpectralUCB().check_theta(arms.theta, arms.eigenvalues)


def test_vectors_become_a_graph_where_one_is_needed(movielens: Path) -> None:
    digest = sha256(movielens)
    texts: dict[str, VectorSource] = {
        "linear:6,3": GraphSource(),
        "movielens-factors-like": GraphSource(k=4, dimensions=3, user=2),
        f"movielens:{movielens}": GraphSource(k=3, dimensions=2, user=2, sha256=digest),
    }
    for text, source in texts.items():
        assert type(source.environment(text, 9)) is GraphArms


def test_the_lookalike_of_factors() -> None:
    arms = VectorSource().environment("movielens-factors-like", 9)
    assert (arms.k, arms.d) == (10, 5)
    arms = VectorSource(k=4, user=3, dimensions=2).environment("movielens-factors-like", 9)
    same = linear_lookalike("movielens-factors-like", k=4, user=3, d=2)
    assert np.array_equal(arms.vectors, same.vectors)
    assert np.array_equal(arms.theta, same.theta)


def test_factors_of_a_rating_file(movielens: Path) -> None:
    source = VectorSource(k=3, user=2, dimensions=2, sha256=sha256(movielens))
    arms = source.environment(f"movielens:{movielens}", 9)
    assert type(arms) is lotor.LinearArms
    assert (arms.k, arms.d) == (3, 2)
    with pytest.raises(DataError, match="sha256"):
        VectorSource(k=3).environment(f"movielens:{movielens}", 9)


@pytest.mark.parametrize("text", ["linear:7,3", "graph:9"])
@pytest.mark.parametrize("graph", [False, True])
def test_made_up_arms_are_the_same_as_a_module(text: str, graph: bool) -> None:
    made = made_up(text, graph=graph)
    assert made == made_up(text, graph=graph)
    module = ModuleType("survey")
    exec(made.module(), module.__dict__)  # noqa: S102  it is our own text
    assert type(module.model) is type(made.arms())
    assert np.array_equal(module.model.vectors, made.arms().vectors)
    assert np.array_equal(module.model.theta, made.arms().theta)
    assert "pays" not in repr(made)


def test_what_arms_pay_is_not_shown() -> None:
    secret = MadeUpArms(lotor.LinearArms, [[1.0]], [0.6125])
    assert "0.6125" not in repr(secret)


# -- contexts --------------------------------------------------------------------------------------


@WITH_DIGITS
def test_digits_and_their_clusters() -> None:
    digits = ContextSource().environment("digits", 9)
    assert np.array_equal(digits.contexts, lotor.ContextualArms.digits().contexts)
    clusters = ContextSource().environment("kmeans:3", 9)
    same = lotor.ContextualArms.kmeans(digits.contexts, 3, seed=SEED)
    assert clusters.k == 3
    assert np.array_equal(clusters.rewards, same.rewards)


@given(st.integers(2, 6), st.integers(1, 6), st.integers(0, 20))
def test_made_up_contexts(k: int, d: int, budget: int) -> None:
    """There are as many rounds as the budget; what is wrong with a budget of 0, the run says."""
    shared = ContextSource().environment(f"contexts:{k},{d}", budget)
    assert (shared.k, shared.d, shared.rounds) == (k, d, max(budget, 1))
    again = ContextSource().environment(f"contexts:{k},{d}", budget)
    assert np.array_equal(shared.contexts, again.contexts)
    own = ArmContextSource().environment(f"contexts:{k},{d}", budget)
    assert (own.k, own.d, own.rounds) == (k, d, max(budget, 1))


def test_mnist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: dict[str, object] = {}

    def noted(folder: str, *, sha256: tuple[str, str] | None) -> str:
        asked.update(folder=folder, sha256=sha256)
        return "arms"

    images, labels = write(tmp_path, IMAGES, LABELS)
    with pytest.raises(DataError):
        ContextSource(sha256=f"{labels},{images}").environment(f"mnist:{tmp_path}", 9)
    monkeypatch.setattr(lotor.ContextualArms, "mnist", noted)
    ContextSource(sha256=f"{images},{labels}").environment(f"mnist:{tmp_path}", 9)
    assert asked == {"folder": str(tmp_path), "sha256": (images, labels)}
    ContextSource().environment("mnist:C:\\data", 9)
    assert asked == {"folder": "C:\\data", "sha256": None}


@pytest.mark.parametrize("digests", ["0", "0,", ",0", ""])
def test_mnist_has_two_digests(digests: str) -> None:
    with pytest.raises(InputError, match="--sha256 of MNIST is IMAGES,LABELS"):
        ContextSource(sha256=digests).environment("mnist:folder", 9)


def test_without_the_digits_contexts_are_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts_module, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match=r"lotor\[data\]"):
        text = ContextSource.default_text()
    assert ContextSource().environment(text, 9).k == 10
    monkeypatch.setattr(contexts_module, "find_spec", lambda name: object())
    assert ContextSource.default_text() == "digits"


@pytest.mark.parametrize(("text", "seed"), [("toy", SEED), ("toy:5", 5)])
def test_the_papers_problem(text: str, seed: int) -> None:
    arms = ArmContextSource().environment(text, 7)
    assert arms.rounds == 7
    assert np.array_equal(arms.contexts, lotor.LinearContexts.toy(7, seed=seed).contexts)


@pytest.mark.parametrize("noise_sd", [None, 0.25])
def test_files_of_contexts(tmp_path: Path, noise_sd: float | None) -> None:
    contexts, theta = np.arange(12.0).reshape(2, 3, 2), np.array([0.5, -0.25])
    packed, table = tmp_path / "a.npz", tmp_path / "a.csv"
    np.savez(packed, contexts=contexts, theta=theta)
    rows = [f"{t + 1},{a},{x[0]},{x[1]}" for t in range(2) for a, x in enumerate(contexts[t])]
    table.write_text("\n".join(["round,arm,x1,x2", "theta,,0.5,-0.25", *rows]))
    for path, kind in ((packed, "npz"), (table, "csv")):
        source = ArmContextSource(noise_sd=noise_sd, sha256=sha256(path))
        arms = source.environment(f"{kind}:{path}", 9)
        assert np.array_equal(arms.contexts, contexts)
        assert arms.noise_sd == (0.5 if noise_sd is None else noise_sd)
        with pytest.raises(DataError, match="sha256"):
            ArmContextSource(sha256="0" * 64).environment(f"{kind}:{path}", 9)


# -- what is refused -------------------------------------------------------------------------------

NO_FILE: dict[str, object] = {"sha256": "0" * 64}
RATED: dict[str, object] = {"threshold": 3.0, "minimum_ratings": 5, "choose": "top", **NO_FILE}
WITHOUT_EFFECT: list[tuple[type[ArmsSource], str, Mapping[str, object]]] = [
    (BanditSource, "movielens-like", RATED),
    (BanditSource, "jester-like", RATED),
    (BanditSource, "0.9,0.1", {**RATED, "k": 2}),
    (VectorSource, "linear:4,2", {"k": 3, "user": 1, "dimensions": 2, **NO_FILE}),
    (VectorSource, "graph:4", {"k": 3, "user": 1, "dimensions": 2, **NO_FILE}),
    (VectorSource, "movielens-factors-like", NO_FILE),
    (GraphSource, "linear:4,2", {"k": 3, "user": 1, "dimensions": 2, **NO_FILE}),
    (GraphSource, "graph:4", {"k": 3, "user": 1, "dimensions": 2, **NO_FILE}),
    (GraphSource, "movielens-factors-like", NO_FILE),
    (ContextSource, "digits", NO_FILE),
    (ContextSource, "kmeans:3", NO_FILE),
    (ContextSource, "contexts:3,2", NO_FILE),
    (ArmContextSource, "toy", {"noise_sd": 0.1, **NO_FILE}),
    (ArmContextSource, "toy:3", {"noise_sd": 0.1, **NO_FILE}),
    (ArmContextSource, "contexts:3,2", {"noise_sd": 0.1, **NO_FILE}),
]


@pytest.mark.parametrize(
    ("source", "text", "options"),
    WITHOUT_EFFECT,
    ids=[f"{source.__name__}-{text}" for source, text, _ in WITHOUT_EFFECT],
)
def test_an_option_without_effect_is_refused_by_its_flag(
    source: type[ArmsSource], text: str, options: Mapping[str, object]
) -> None:
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        with pytest.raises(InputError, match=rf"^{flag} (belongs to|does not go with)"):
            source(**{name: value}).environment(text, 9)


def test_all_options_without_effect_are_named_at_once() -> None:
    with pytest.raises(InputError, match=r"^--threshold, --minimum-ratings belong to rating files"):
        BanditSource(threshold=3, minimum_ratings=2).environment("jester-like", 9)
    with pytest.raises(
        InputError, match=r"^--minimum-ratings belongs to --choose top and --choose"
    ):
        BanditSource(choose="published", minimum_ratings=2).environment("jester:any.csv", 9)


WRONG: list[tuple[type[ArmsSource], str]] = [
    *((BanditSource, text) for text in ("nope", "0.9,x", "movielens", "movielens:", "linear:4,2")),
    *(
        (source, text)
        for source in (VectorSource, GraphSource)
        for text in (
            *("nope", "linear", "linear:", "linear:4", "linear:4,x", "linear:1,2", "linear:4,0"),
            *("graph:1", "graph:x", "graph:4,2", "movielens:", "0.9,0.1", "linear:4,2,2"),
        )
    ),
    *(
        (ContextSource, text)
        for text in ("nope", "kmeans", "kmeans:x", "kmeans:3,4", "contexts:4", "mnist:", "toy")
    ),
    *(
        (ArmContextSource, text)
        for text in ("nope", "toy:x", "toy:", "toy:1,2", "contexts:4", "npz:", "csv", "digits")
    ),
]


@pytest.mark.parametrize(
    ("source", "text"), WRONG, ids=[f"{source.__name__}-{text}" for source, text in WRONG]
)
def test_other_texts_are_refused_with_what_may_be_written(
    source: type[ArmsSource], text: str
) -> None:
    with pytest.raises(
        InputError, match=rf"^--arms {re.escape(repr(text))} (is|does not) "
    ) as caught:
        source().environment(text, 9)
    assert any(form in str(caught.value) for form in ("linear:K,D", "contexts:K,D", "means"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
@given(text=st.text(max_size=12))
def test_no_text_ends_in_a_python_error(source: type[ArmsSource], text: str) -> None:
    with warnings.catch_warnings(action="ignore"), contextlib.suppress(InputError, DataError):
        source().environment(text, 3)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_every_field_is_an_option_that_nobody_has_to_give(source: type[ArmsSource]) -> None:
    assert [one.name for one in options_of(source)] == [one.name for one in fields(source)]
    assert all(one.default is None for one in fields(source))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_the_default_is_among_the_texts_that_help_shows(source: type[ArmsSource]) -> None:
    kind = source.default.partition(":")[0]
    assert f"'{kind}" in source.text
    if source is not ContextSource or find_spec("sklearn") is not None:
        assert source().environment(source.default_text(), 5).k > 1
