"""Bernoulli arms whose means come from a file of ratings that the user has."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from lotor.core.errors import DataError, InputError
from lotor.core.fixed_point import to_float
from lotor.core.vectors import to_items
from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.rating_files import (
    FilePath,
    RatingCounts,
    count_jester,
    count_movielens,
    notice,
    read_verified,
)

Choose: TypeAlias = Literal["top", "first", "published"]
Per: TypeAlias = Literal["ratings", "users"]

PUBLISHED_ITEMS = 100
"""How many items the published experiment of SAMBA chose its arms from."""

MOVIELENS_100K_SHA256 = "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"

_MINIMUM_RATINGS = 20
_MOVIELENS_SOURCE = "https://grouplens.org/datasets/movielens/100k/"
_MOVIELENS_TERMS = (
    "MovieLens, GroupLens Research, University of Minnesota: for research. Acknowledge the data "
    "set in publications (Harper and Konstan, 2015, doi:10.1145/2827872); do not pass the data "
    "on without separate permission; no commercial use without permission from GroupLens; do not "
    "suggest that the university or GroupLens endorses you. The README beside the data prevails."
)
_JESTER_SOURCE = "https://eigentaste.berkeley.edu/dataset/"
_JESTER_TERMS = (
    "Jester, Ken Goldberg, UC Berkeley: free for research that cites Goldberg, Roeder, Gupta and "
    "Perkins, Eigentaste: a constant time collaborative filtering algorithm, Information "
    "Retrieval 4(2), 133-151, 2001."
)


@dataclass(frozen=True, slots=True, init=False)
class RatingArms(BernoulliArms):
    r"""An arm is an item; its mean is the share of its ratings at or above a threshold.

    This is the preprocessing of SAMBA's experiments (Ciucanu et al., 2022; after Kohli et al.,
    2013). `items[i]` is the id of arm i's item. Both constructors take the same options:

    - `choose`: the k items of largest mean, best first (`"top"`, the default), or of lowest id
      (`"first"`), or the arms of SAMBA's published figures (`"published"`): the k largest means,
      best first, among the 100 items of lowest id, with `per="users"` and however few ratings;
    - `minimum_ratings`: leaves out items with fewer, since one that a single user liked has mean 1
      (20 unless you say so);
    - `per`: a mean is a share of the item's `"ratings"` (the default) or of all `"users"`, so that
      items which few have rated look bad. The published program divides by users;
    - `sha256`: the digest that the file must have.

    The first load writes the file's digest and its owner's terms to stderr.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "jester.csv")
    ...     _ = path.write_text("2,-3.1,5.0\n2,6.0,7.5\n")
    ...     arms = RatingArms.jester(path, k=2, minimum_ratings=1)
    >>> arms.items, arms.means
    ((2, 1), (1.0, 0.5))
    """

    items: tuple[int, ...]
    terms: str = field(repr=False)

    def __init__(self, means: Sequence[float], items: Sequence[int], terms: str) -> None:
        # A dataclass with slots is a new class, which super() without arguments does not know.
        BernoulliArms.__init__(self, to_items("the means", means, "a list of each item's mean"))
        ids = to_items("the items", items, "a list with the id of each arm's item")
        if len(ids) != self.k:
            raise InputError(f"{self.k} means but {len(ids)} items: give one item for each mean")
        object.__setattr__(self, "names", tuple(map(str, ids)))
        object.__setattr__(self, "items", ids)
        object.__setattr__(self, "terms", terms)

    @classmethod
    def movielens(
        cls,
        path: FilePath,
        *,
        k: int,
        threshold: float = 4,
        minimum_ratings: int | None = None,
        choose: Choose = "top",
        per: Per | None = None,
        sha256: str | None = None,
    ) -> "RatingArms":
        """From `u.data` of MovieLens 100K: user, item, rating and time, separated by tabs.

        Without `sha256` the file must be the published one; give another version's own digest.
        """
        selection = _Selection.of(k, minimum_ratings, choose, per)
        least = to_float("threshold", threshold)
        expected = MOVIELENS_100K_SHA256 if sha256 is None else sha256
        data, digest = read_verified(path, expected, _MOVIELENS_SOURCE)
        means = selection.means(path, count_movielens(path, data, least))
        notice(path, digest, _MOVIELENS_TERMS)
        return cls(list(means.values()), list(means), _MOVIELENS_TERMS)

    @classmethod
    def jester(
        cls,
        path: FilePath,
        *,
        k: int,
        threshold: float = 4.5,
        minimum_ratings: int | None = None,
        choose: Choose = "top",
        per: Per | None = None,
        sha256: str | None = None,
    ) -> "RatingArms":
        """From a Jester table saved as comma-separated values, one row per user.

        A row is the number of jokes rated, then a rating from -10 to 10 of each joke, 99 if none.
        No digest is published: without `sha256` any file is accepted, and the notice tells its
        digest so that it can be pinned.
        """
        selection = _Selection.of(k, minimum_ratings, choose, per)
        least = to_float("threshold", threshold)
        data, digest = read_verified(path, sha256, _JESTER_SOURCE)
        means = selection.means(path, count_jester(path, data, least))
        notice(path, digest, _JESTER_TERMS)
        return cls(list(means.values()), list(means), _JESTER_TERMS)


@dataclass(frozen=True, slots=True)
class _Selection:
    """Which items become arms, and what their means are shares of."""

    k: int
    minimum_ratings: int
    best: bool
    among: int | None
    per: Per

    @classmethod
    def of(
        cls, k: int, minimum_ratings: int | None, choose: Choose, per: Per | None
    ) -> "_Selection":
        """From the options as they were given; None is an option that was left out."""
        least = _MINIMUM_RATINGS if minimum_ratings is None else minimum_ratings
        for name, count in (("k", k), ("minimum_ratings", least)):
            if not isinstance(count, int | np.integer) or count < 1:
                raise InputError(f"{name} is {count!r}: give a whole number from 1 up")
        if choose not in ("top", "first", "published"):
            raise InputError(f"choose is {choose!r}: give 'top', 'first' or 'published'")
        if per not in (None, "ratings", "users"):
            raise InputError(f"per is {per!r}: give 'ratings' or 'users'")
        if choose != "published":
            return cls(k, least, choose == "top", None, per or "ratings")
        for name, given in (("minimum_ratings", minimum_ratings), ("per", per)):
            if given is not None:
                raise InputError(
                    f"{name} does not go with choose='published', which divides by the number of "
                    f"users and takes items however few their ratings: leave {name} out, or "
                    "choose 'top' or 'first'"
                )
        if k > PUBLISHED_ITEMS:
            raise InputError(
                f"k is {k}, and the published arms are chosen from {PUBLISHED_ITEMS} items: give "
                f"a k up to {PUBLISHED_ITEMS}, or choose 'top' or 'first'"
            )
        return cls(k, 0, best=True, among=PUBLISHED_ITEMS, per="users")

    def means(self, path: FilePath, counts: RatingCounts) -> dict[int, float]:
        """The chosen items' means, in the order of the arms."""
        eligible = sorted(
            item for item, rated in counts.rated.items() if rated >= self.minimum_ratings
        )[: self.among]
        means = {
            item: counts.liked[item] / (counts.users if self.per == "users" else counts.rated[item])
            for item in eligible
        }
        if len(means) < self.k:
            raise DataError(self._too_few(path, len(means)))
        if self.best:
            # Sorting is stable: of equal means the lower id comes first.
            eligible.sort(key=means.__getitem__, reverse=True)
        return {item: means[item] for item in eligible[: self.k]}

    def _too_few(self, path: FilePath, count: int) -> str:
        arms = f"fewer than the {self.k} arms asked for: lower k"
        if self.among is not None:
            return f"{path} has {count} items, {arms}"
        return (
            f"{path} has {count} items with at least {self.minimum_ratings} ratings, {arms} or "
            "minimum_ratings"
        )
