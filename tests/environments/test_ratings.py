import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypedDict

import pytest

from lotor.core.effects import Decision
from lotor.core.errors import DataError, InputError
from lotor.environments import BernoulliArms, RatingArms

SHARED = Path(__file__).parents[3] / "shared" / "data"
MOVIELENS = SHARED / "movielens-100k" / "u.data"
PUBLISHED = SHARED / "samba" / "MovieLens.txt"

needs_movielens = pytest.mark.skipif(
    not MOVIELENS.exists(),
    reason=f"MovieLens 100K may not be redistributed, and {MOVIELENS} is absent",
)

# Item 5: one of two liked; 7: both of two; 9: two of three; 11: one of one; 13: none of one.
U_DATA = "".join(
    f"{user}\t{item}\t{rating}\t0\n"
    for user, item, rating in [
        *[(1, 9, 4), (2, 9, 5), (3, 9, 1)],
        *[(1, 5, 3), (2, 5, 4)],
        *[(3, 7, 4), (4, 7, 5)],
        *[(4, 11, 5), (4, 13, 2)],
    ]
)
JESTER = "2,5.0,99,4.49\n3,-3.0,9.5,4.5\n1,99,99,-10\n"


class Options(TypedDict, total=False):
    k: int
    minimum_ratings: int
    choose: Literal["top", "first", "published"]
    per: Literal["ratings", "users"]
    threshold: float


def movielens(folder: Path, options: Options) -> RatingArms:
    path = folder / "u.data"
    path.write_text(U_DATA)
    return RatingArms.movielens(
        path, sha256=hashlib.sha256(path.read_bytes()).hexdigest(), **options
    )


def jester(folder: Path, options: Options) -> RatingArms:
    path = folder / "jester.csv"
    path.write_text(JESTER)
    return RatingArms.jester(path, **options)


@pytest.mark.parametrize(
    ("options", "items", "means"),
    [
        (Options(k=4, minimum_ratings=1), (7, 11, 9, 5), (1, 1, 2 / 3, 1 / 2)),
        (Options(k=2, minimum_ratings=2), (7, 9), (1, 2 / 3)),
        (Options(k=3, minimum_ratings=2, choose="first"), (5, 7, 9), (1 / 2, 1, 2 / 3)),
        (
            Options(k=5, minimum_ratings=1, per="users"),
            (7, 9, 5, 11, 13),
            (0.5, 0.5, 0.25, 0.25, 0),
        ),
        (Options(k=1, minimum_ratings=3, threshold=5), (9,), (1 / 3,)),
        (Options(k=3, choose="published"), (7, 9, 5), (0.5, 0.5, 0.25)),
    ],
)
def test_movielens_arms(
    tmp_path: Path, options: Options, items: tuple[int, ...], means: tuple[float, ...]
) -> None:
    arms = movielens(tmp_path, options)
    assert arms.items == items
    assert arms.means == means
    assert arms.k == len(items)


@pytest.mark.parametrize(
    ("options", "items", "means"),
    [
        (Options(k=3, minimum_ratings=1), (2, 1, 3), (1, 1 / 2, 1 / 3)),
        (Options(k=2, minimum_ratings=2), (1, 3), (1 / 2, 1 / 3)),
        (Options(k=2, minimum_ratings=1, choose="first"), (1, 2), (1 / 2, 1)),
        (Options(k=3, minimum_ratings=1, per="users"), (1, 2, 3), (1 / 3, 1 / 3, 1 / 3)),
        (Options(k=1, minimum_ratings=1, threshold=-3), (1,), (1,)),
        (Options(k=2, choose="published", threshold=-3), (1, 3), (2 / 3, 2 / 3)),
    ],
)
def test_jester_arms(
    tmp_path: Path, options: Options, items: tuple[int, ...], means: tuple[float, ...]
) -> None:
    arms = jester(tmp_path, options)
    assert arms.items == items
    assert arms.means == means


def test_they_pay_as_bernoulli_arms_do(tmp_path: Path) -> None:
    arms = jester(tmp_path, Options(k=3, minimum_ratings=1))
    assert arms.reward_range == (0.0, 1.0)
    mine, theirs = arms.start(7), BernoulliArms(arms.means).start(7)
    decisions = [Decision("run", t, t % 3, f"run-{t}") for t in range(300)]
    assert [mine(decision) for decision in decisions] == [theirs(each) for each in decisions]
    assert pickle.loads(pickle.dumps(arms)) == arms  # noqa: S301


@pytest.mark.parametrize(
    ("load", "name", "owner"),
    [(movielens, "u.data", "GroupLens"), (jester, "jester.csv", "Goldberg")],
)
def test_a_load_tells_digest_and_terms_on_stderr(
    load: Callable[[Path, Options], RatingArms],
    name: str,
    owner: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arms = load(tmp_path, Options(k=1, minimum_ratings=1))
    output = capsys.readouterr()
    digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert output.out == ""
    assert output.err == f"{tmp_path / name}: sha256 {digest}\n{arms.terms}\n"
    assert owner in arms.terms
    assert arms.terms not in repr(arms)


def test_without_a_digest_only_the_published_movielens_file_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "u.data"
    path.write_text(U_DATA)
    with pytest.raises(DataError, match=r"u\.data has sha256 .* instead of 06416e59"):
        RatingArms.movielens(path, k=1)
    assert capsys.readouterr() == ("", "")


def test_a_pinned_jester_file_must_be_that_file(tmp_path: Path) -> None:
    path = tmp_path / "jester.csv"
    path.write_text(JESTER)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert RatingArms.jester(path, k=1, minimum_ratings=1, sha256=digest).k == 1
    path.write_text(JESTER + "1,99,99,3\n")
    with pytest.raises(DataError, match=f"instead of {digest}"):
        RatingArms.jester(path, k=1, minimum_ratings=1, sha256=digest)


@pytest.mark.parametrize("load", [movielens, jester])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(k=0), "k is 0"),
        (Options(k="3"), "k is '3'"),  # type: ignore[typeddict-item]
        (Options(k=1, minimum_ratings=0), "minimum_ratings is 0"),
        (Options(k=1, choose="best"), "choose is 'best': give 'top', 'first' or 'pub"),  # type: ignore[typeddict-item]
        (Options(k=1, per="items"), "per is 'items': give 'ratings' or 'users'"),  # type: ignore[typeddict-item]
        (Options(k=1, threshold=12), "threshold 12"),
        (Options(k=101, choose="published"), "k is 101, and the published arms .* 100 items"),
        (
            Options(k=1, choose="published", minimum_ratings=20),
            "minimum_ratings does not go with choose='published'",
        ),
        (Options(k=1, choose="published", per="users"), "per does not go with choose='published'"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    load: Callable[[Path, Options], RatingArms], options: Options, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        load(tmp_path, options)


def test_too_few_items_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"3 items with at least 2 ratings.*the 4 arms.*lower k"):
        movielens(tmp_path, Options(k=4, minimum_ratings=2))
    with pytest.raises(DataError, match="0 items with at least 20 ratings"):
        jester(tmp_path, Options(k=1))
    with pytest.raises(DataError, match=r"has 3 items, fewer than the 4 arms asked for: lower k$"):
        jester(tmp_path, Options(k=4, choose="published"))


def test_published_arms_come_from_the_hundred_lowest_ids(tmp_path: Path) -> None:
    path = tmp_path / "jester.csv"
    path.write_text(",".join(["103", *["1"] * 99, "9.5", *["10"] * 3]) + "\n")
    arms = RatingArms.jester(path, k=100, choose="published")
    assert arms.items == (100, *range(1, 100))
    assert arms.means == (1.0, *[0.0] * 99)


def test_every_arm_has_an_item() -> None:
    with pytest.raises(InputError, match="2 means but 1 items"):
        RatingArms([0.5, 0.5], items=[1], terms="none")


@needs_movielens
def test_movielens_best_hundred(capsys: pytest.CaptureFixture[str]) -> None:
    arms = RatingArms.movielens(MOVIELENS, k=100)
    assert len(arms.means) == 100
    assert list(arms.means) == sorted(arms.means, reverse=True)
    # 61 of the 67 ratings of movie 114, and 283 users rated movie 64, of whom 255 gave 4 or 5.
    assert arms.items[0] == 114
    assert arms.means[0] == 61 / 67
    assert arms.means[arms.items.index(64)] == 255 / 283
    output = capsys.readouterr()
    assert output.out == ""
    assert "06416e597f82b734" in output.err
    assert "no commercial use" in output.err


@needs_movielens
@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"{PUBLISHED} is absent")
@pytest.mark.parametrize("k", [1, 10, 100])
def test_the_published_arms_are_those_of_the_authors(k: int) -> None:
    count, *means = map(float, PUBLISHED.read_text().split())
    assert len(means) == count == 100
    arms = RatingArms.movielens(MOVIELENS, k=k, choose="published")
    assert list(arms.means) == sorted(means, reverse=True)[:k]
    assert [means[item - 1] for item in arms.items] == list(arms.means)
