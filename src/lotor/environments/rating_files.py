"""Files of ratings, read into what each item received: how many ratings, how many good ones."""

import hashlib
import sys
from codecs import BOM_UTF8
from collections import Counter
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np

from lotor.core.errors import DataError, InputError
from lotor.core.fixed_point import Floats

FilePath: TypeAlias = str | PathLike[str]

# The 100K set has whole stars from 1; later sets have half stars too.
_MOVIELENS_RANGE = (0.5, 5.0)
_JESTER_RANGE = (-10.0, 10.0)
_JESTER_NOT_RATED = 99.0


@dataclass(frozen=True, slots=True)
class RatingCounts:
    """Ratings received (`rated`) and those at or above the threshold (`liked`), by item id."""

    users: int
    rated: dict[int, int]
    liked: dict[int, int]


def to_path(path: FilePath) -> Path:
    """A path that was given as text or as a Path."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"a path cannot be of type {type(path).__name__}: give a text or a Path")
    return Path(path)


def read_verified(path: FilePath, sha256: str | None, source: str) -> tuple[bytes, str]:
    """The file's bytes and their digest, which must be `sha256` if that is given.

    >>> data, digest = read_verified(__file__, None, source="https://example.org")
    >>> read_verified(__file__, digest, source="https://example.org") == (data, digest)
    True
    """
    check_digest(sha256)
    file = to_path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError(
            f"cannot read {path} ({error.strerror}): check the path, or get the data from {source}"
        ) from error
    return data, verified(path, data, sha256, source)


def verified(path: FilePath, data: bytes, sha256: str | None, source: str) -> str:
    """The digest of a file's data, which must be `sha256` if that is given."""
    digest = hashlib.sha256(data).hexdigest()
    if sha256 is not None and digest != sha256.lower():
        raise DataError(
            f"{path} has sha256 {digest} instead of {sha256.lower()}: it was altered, cut short "
            f"or is another version; get it again from {source}, or pass sha256={digest!r} "
            "if it is the file that you mean"
        )
    return digest


def check_digest(sha256: str | None) -> None:
    """Refuse, before a file is read, a text that cannot be a digest."""
    if sha256 is None or (len(sha256) == 64 and set(sha256.lower()) <= set("0123456789abcdef")):
        return
    raise InputError(f"sha256 {sha256!r} is not a digest: give its 64 hexadecimal digits")


NOTICES: set[str] = set()
"""What this process has said of its data."""


def notice(path: FilePath, digest: str, terms: str) -> None:
    """Say on stderr which data was loaded and under which terms, once in a process."""
    said = f"{path}: sha256 {digest}\n{terms}\n"
    if said not in NOTICES:
        NOTICES.add(said)
        sys.stderr.write(said)


def count_movielens(path: FilePath, data: bytes, threshold: float) -> RatingCounts:
    """Count lines of user, item, rating and time, separated by tabs.

    >>> count_movielens("u.data", b"1\\t9\\t5\\t0\\n2\\t9\\t3\\t0\\n", threshold=4)
    RatingCounts(users=2, rated={9: 2}, liked={9: 1})
    """
    low, high = _checked_range(_MOVIELENS_RANGE, threshold)
    rated: Counter[int] = Counter()
    liked: Counter[int] = Counter()
    users: set[int] = set()
    seen: set[tuple[int, int]] = set()
    for number, line in enumerate(_lines(path, data), start=1):
        try:
            user, item, stars, _ = line.split(b"\t")
            pair, rating = (int(user), int(item)), float(stars)
        except ValueError:
            raise _malformed(
                path, number, "is not user, item, rating and time separated by tabs"
            ) from None
        if not low <= rating <= high:
            raise _malformed(path, number, f"has rating {rating:g}, outside {low:g} to {high:g}")
        if pair in seen:
            raise _malformed(path, number, "rates an item that its user rated on an earlier line")
        seen.add(pair)
        users.add(pair[0])
        rated[pair[1]] += 1
        liked[pair[1]] += rating >= threshold
    return RatingCounts(len(users), dict(rated), dict(liked))


def count_jester(path: FilePath, data: bytes, threshold: float) -> RatingCounts:
    """Count rows of a user's number of ratings, then a rating of each joke or 99 for none.

    >>> count_jester("jester.csv", b"2,5.0,-3\\n1,99,7.5\\n", threshold=4.5)
    RatingCounts(users=2, rated={1: 1, 2: 2}, liked={1: 1, 2: 1})
    """
    low, high = _checked_range(_JESTER_RANGE, threshold)
    lines = _lines(path, data)
    jokes = lines[0].count(b",")
    rated = np.zeros(jokes, dtype=np.int64)
    liked = np.zeros(jokes, dtype=np.int64)
    for number, line in enumerate(lines, start=1):
        ratings = _jester_row(path, number, line, jokes)
        given = ratings != _JESTER_NOT_RATED
        # Written so that nan is outside as well.
        outside = given & ~((ratings >= low) & (ratings <= high))
        if outside.any():
            value = ratings[outside][0]
            raise _malformed(path, number, f"has rating {value:g}, outside {low:g} to {high:g}")
        rated += given
        liked += given & (ratings >= threshold)
    items = range(1, jokes + 1)
    return RatingCounts(
        len(lines),
        dict(zip(items, rated.tolist(), strict=True)),
        dict(zip(items, liked.tolist(), strict=True)),
    )


def _jester_row(path: FilePath, number: int, line: bytes, jokes: int) -> Floats:
    try:
        count, *ratings = map(float, line.split(b","))
    except ValueError:
        raise _malformed(
            path, number, "is not numbers separated by commas (99 for a joke not rated)"
        ) from None
    if len(ratings) != jokes or jokes == 0:
        raise _malformed(
            path,
            number,
            f"has {len(ratings) + 1} columns and line 1 has {jokes + 1}, where every line needs "
            "the number of jokes rated, then one rating per joke",
        )
    if not (0 <= count <= jokes and count.is_integer()):
        raise _malformed(path, number, f"starts with {count:g}, not with a number of jokes rated")
    return np.array(ratings)


def _checked_range(ratings: tuple[float, float], threshold: float) -> tuple[float, float]:
    low, high = ratings
    if not low <= threshold <= high:
        raise InputError(
            f"threshold {threshold} lies outside the ratings, which go from {low:g} to {high:g}: "
            "give the lowest rating that counts as a success"
        )
    return ratings


def _lines(path: FilePath, data: bytes) -> list[bytes]:
    lines = data.removeprefix(BOM_UTF8).rstrip(b"\r\n").splitlines()
    if not lines:
        raise DataError(f"{path} is empty: get the data again")
    return lines


def _malformed(path: FilePath, number: int, what: str) -> DataError:
    return DataError(f"{path}, line {number} {what}: correct the file or get it again")
