import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import DataError, InputError
from lotor.environments.rating_files import (
    RatingCounts,
    count_jester,
    count_movielens,
    read_verified,
)

SOURCE = "https://example.org/data"
stars = st.dictionaries(
    st.tuples(st.integers(1, 9), st.integers(1, 9)), st.integers(1, 5), min_size=1
)
joke_ratings = st.none() | st.integers(-1000, 1000).map(lambda hundredths: hundredths / 100)


@st.composite
def joke_tables(draw: st.DrawFn) -> list[list[float | None]]:
    jokes = draw(st.integers(1, 6))
    row = st.lists(joke_ratings, min_size=jokes, max_size=jokes)
    return draw(st.lists(row, min_size=1, max_size=6))


def test_a_file_comes_with_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"some\r\nbytes")
    digest = hashlib.sha256(b"some\r\nbytes").hexdigest()
    for expected in (None, digest, digest.upper()):
        assert read_verified(path, expected, SOURCE) == (b"some\r\nbytes", digest)
    assert read_verified(str(path), None, SOURCE)[1] == digest


def test_another_digest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"altered")
    digest = hashlib.sha256(b"altered").hexdigest()
    with pytest.raises(
        DataError, match=f"data has sha256 {digest} instead of {'0' * 64}.*{SOURCE}"
    ):
        read_verified(path, "0" * 64, SOURCE)


@pytest.mark.parametrize("digest", ["", "abc", "g" * 64])
def test_what_is_no_digest_is_refused(tmp_path: Path, digest: str) -> None:
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        read_verified(tmp_path / "data", digest, SOURCE)


def test_a_missing_file_or_a_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(DataError, match=f"cannot read {path} .*{SOURCE}"):
            read_verified(path, None, SOURCE)


@given(stars, st.sampled_from([1, 3.5, 4, 5]))
def test_movielens_counts(ratings: dict[tuple[int, int], int], threshold: float) -> None:
    text = "".join(f"{u}\t{i}\t{rating}\t881250949\n" for (u, i), rating in ratings.items())
    counts = count_movielens("u.data", text.encode(), threshold)
    assert counts.users == len({user for user, _ in ratings})
    assert set(counts.rated) == set(counts.liked) == {item for _, item in ratings}
    for item in counts.rated:
        of_item = [rating for (_, i), rating in ratings.items() if i == item]
        assert counts.rated[item] == len(of_item)
        assert counts.liked[item] == sum(rating >= threshold for rating in of_item)


@given(joke_tables(), st.sampled_from([-10, 0, 4.5, 10]))
def test_jester_counts(table: list[list[float | None]], threshold: float) -> None:
    text = "".join(
        f"{sum(rating is not None for rating in row)},"
        + ",".join("99" if rating is None else f"{rating:.2f}" for rating in row)
        + "\n"
        for row in table
    )
    counts = count_jester("jester.csv", text.encode(), threshold)
    assert counts.users == len(table)
    columns = list(zip(*table, strict=True))
    assert list(counts.rated) == list(counts.liked) == list(range(1, len(columns) + 1))
    for item, column in enumerate(columns, start=1):
        given_ratings = [rating for rating in column if rating is not None]
        assert counts.rated[item] == len(given_ratings)
        assert counts.liked[item] == sum(rating >= threshold for rating in given_ratings)


def test_other_line_ends_and_a_byte_order_mark_are_read() -> None:
    expected = RatingCounts(users=2, rated={1: 1, 2: 2}, liked={1: 0, 2: 1})
    assert count_jester("j", b"\xef\xbb\xbf2,1,5\r\n1,99.00,-2\r\n\r\n", 4.5) == expected
    assert count_movielens("u", b"1\t2\t5\t0\r\n2\t2\t1\t0\r\n2\t1\t1\t0", 4) == expected


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"1\t2\t3",
        b"1\t2\t3\t4\t5",
        b"1::2::3::4",
        b"one\t2\t3\t4",
        b"1\t2.5\t3\t4",
        b"1\t2\t\xff\t4",
        b"1\t2\t6\t4",
        b"1\t2\t0\t4",
        b"1\t2\tnan\t4",
        b"1\t2\t-1\t4",
        b"7\t7\t4\t1",
    ],
)
def test_a_bad_movielens_line_is_named(line: bytes) -> None:
    data = b"7\t7\t3\t0\n8\t7\t3\t0\n" + line + b"\n9\t9\t3\t0\n"
    with pytest.raises(DataError, match=r"u\.data, line 3 .*: correct the file or get it again"):
        count_movielens("u.data", data, 4)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"2,1",
        b"2,1,1,1",
        b"2;1;1",
        b"2,,1",
        b"2,one,1",
        b"2,10.01,1",
        b"2,-10.01,1",
        b"2,98,1",
        b"2,nan,1",
        b"2,inf,1",
        b"3,1,1",
        b"-1,1,1",
        b"1.5,1,1",
        b"nan,1,1",
    ],
)
def test_a_bad_jester_line_is_named(line: bytes) -> None:
    with pytest.raises(DataError, match=r"j\.csv, line 2 .*: correct the file or get it again"):
        count_jester("j.csv", b"1,99,3\n" + line + b"\n1,99,3\n", 4.5)


def test_jester_without_ratings_is_refused() -> None:
    with pytest.raises(DataError, match=r"j\.csv, line 1 has 1 columns"):
        count_jester("j.csv", b"0\n0\n", 4.5)


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="f is empty"):
        count_movielens("f", data, 4)
    with pytest.raises(DataError, match="f is empty"):
        count_jester("f", data, 4.5)


@pytest.mark.parametrize("threshold", [-11, 11, float("nan")])
def test_a_threshold_outside_the_ratings_is_refused(threshold: float) -> None:
    with pytest.raises(InputError, match=r"threshold .* 0\.5 to 5"):
        count_movielens("u.data", b"1\t1\t1\t1", threshold)
    with pytest.raises(InputError, match=r"threshold .* -10 to 10"):
        count_jester("j.csv", b"1,1", threshold)
