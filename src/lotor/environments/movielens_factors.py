"""Factors of MovieLens ratings: users and movies as vectors whose products are the ratings."""

import hashlib
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import to_uniform
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.environments.rating_files import FilePath, count_movielens, notice, read_verified
from lotor.environments.ratings import (
    _MOVIELENS_SOURCE,
    _MOVIELENS_TERMS,
    MOVIELENS_100K_SHA256,
)

ITERATIONS = 15
REGULARISATION = 0.1
LARGEST_DIMENSION = 200
# Changes whenever the same ratings give other factors.
_VERSION = 1
_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Factors:
    """A row for each user and each item, in the order of their ids."""

    user_ids: NDArray[np.int64]
    item_ids: NDArray[np.int64]
    users: Floats
    items: Floats

    def __repr__(self) -> str:
        return f"<Factors of {len(self.users)} users and {len(self.items)} items>"

    def first_items(self, k: int) -> Floats:
        """The k items of lowest id."""
        if not isinstance(k, int | np.integer) or not 1 <= k <= len(self.items):
            raise InputError(f"k is {k!r}: give a number from 1 to {len(self.items)}, the movies")
        return self.items[:k]

    def user(self, user: int) -> Floats:
        """The user of this id."""
        places = np.flatnonzero(self.user_ids == user)
        if len(places) != 1:
            raise InputError(
                f"no user {user!r}: ids go from {self.user_ids.min()} to {self.user_ids.max()}"
            )
        row: Floats = self.users[int(places[0])]
        return row


def movielens_factors(
    path: FilePath,
    *,
    d: int,
    sha256: str | None = None,
    cache: FilePath | Literal["user"] | None = "user",
) -> Factors:
    """Factors of d dimensions by alternating ridge regression (Zhou et al., 2008).

    15 iterations, each row's penalty 0.1 times its number of ratings. `cache` is the folder where
    the result is kept ("user": lotor's in $XDG_CACHE_HOME, or ~/.cache; None: nothing is kept),
    under a name made of the file's digest and d. Without `sha256` the file must be the published
    one. The first load writes the file's digest and its owner's terms to stderr.
    """
    if not isinstance(d, int | np.integer) or not 1 <= d <= LARGEST_DIMENSION:
        raise InputError(f"d is {d!r}: give a number of dimensions from 1 to {LARGEST_DIMENSION}")
    expected = MOVIELENS_100K_SHA256 if sha256 is None else sha256
    data, digest = read_verified(path, expected, _MOVIELENS_SOURCE)
    notice(path, digest, _MOVIELENS_TERMS)
    if cache is None:
        return _factorise(path, data, int(d))
    folder = _user_cache() if cache == "user" else Path(cache)
    place = folder / f"movielens-factors-{_VERSION}-{digest}-{d}.factors"
    factors = _load(place)
    if factors is None:
        factors = _factorise(path, data, int(d))
        # Ignored: without a cache the next load only takes a second longer.
        with suppress(OSError):
            _store(place, factors)
    return factors


def _factorise(path: FilePath, data: bytes, d: int) -> Factors:
    # Counting checks every line, with an error that names the first bad one.
    count_movielens(path, data, threshold=4)
    columns = np.array(data.decode("utf-8-sig").split(), dtype=np.float64).reshape(-1, 4)
    user_ids, user = np.unique(columns[:, 0].astype(np.int64), return_inverse=True)
    item_ids, item = np.unique(columns[:, 1].astype(np.int64), return_inverse=True)
    ratings = columns[:, 2]
    items = _first_guess(len(item_ids), d)
    items[:, 0] = np.bincount(item, ratings) / np.bincount(item)
    by_user, by_item = _grouped(user, item, ratings), _grouped(item, user, ratings)
    for _ in range(ITERATIONS):
        users = _regress(by_user, items)
        items = _regress(by_item, users)
    return Factors(user_ids, item_ids, users, items)


def _first_guess(rows: int, d: int) -> Floats:
    bits = np.random.PCG64(np.random.SeedSequence(d))
    return 0.1 * (to_uniform(bits.random_raw(rows * d)).reshape(rows, d) - 0.5)


def _grouped(
    rows: NDArray[np.int64], columns: NDArray[np.int64], ratings: Floats
) -> list[tuple[NDArray[np.int64], Floats]]:
    """For each row the columns that it rated, and how."""
    order = np.argsort(rows, kind="stable")
    cuts = np.cumsum(np.bincount(rows))[:-1]
    return list(zip(np.split(columns[order], cuts), np.split(ratings[order], cuts), strict=True))


def _regress(groups: list[tuple[NDArray[np.int64], Floats]], others: Floats) -> Floats:
    """Each row's ridge regression of its ratings on the others' factors."""
    identity = np.eye(others.shape[1])
    design = np.empty((len(groups), *identity.shape))
    target = np.empty((len(groups), len(identity)))
    for i, (rated, ratings) in enumerate(groups):
        x = others[rated]
        design[i] = x.T @ x + (REGULARISATION * len(rated)) * identity
        target[i] = ratings @ x
    return np.linalg.solve(design, target[:, :, np.newaxis])[:, :, 0].astype(np.float64)


def _user_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says to ignore a relative path.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "lotor"


class _Kept(msgspec.Struct, frozen=True):
    """Factors as little-endian bytes."""

    user_ids: bytes
    item_ids: bytes
    users: bytes
    items: bytes


def _load(place: Path) -> Factors | None:
    """The factors in a cache file; None if there is no such file, or it is damaged."""
    try:
        written = place.read_bytes()
    except OSError:
        return None
    digest, payload = written[:_DIGEST_BYTES], written[_DIGEST_BYTES:]
    if digest != hashlib.sha256(payload).digest():
        return None
    kept = msgspec.msgpack.decode(payload, type=_Kept)
    user_ids, item_ids = (np.frombuffer(ids, "<i8") for ids in (kept.user_ids, kept.item_ids))
    users, items = (np.frombuffer(rows, "<f8") for rows in (kept.users, kept.items))
    return Factors(
        user_ids, item_ids, users.reshape(len(user_ids), -1), items.reshape(len(item_ids), -1)
    )


def _store(place: Path, factors: Factors) -> None:
    """Write all of it or nothing, readable by its owner alone."""
    kept = _Kept(
        factors.user_ids.astype("<i8").tobytes(),
        factors.item_ids.astype("<i8").tobytes(),
        factors.users.astype("<f8").tobytes(),
        factors.items.astype("<f8").tobytes(),
    )
    payload = msgspec.msgpack.encode(kept)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place.parent, suffix=".part", delete=False) as file:
        try:
            file.write(hashlib.sha256(payload).digest() + payload)
            file.flush()
            os.replace(file.name, place)
        except BaseException:
            os.unlink(file.name)
            raise
