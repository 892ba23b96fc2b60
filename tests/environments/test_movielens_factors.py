import hashlib
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from lotor.core.errors import DataError, InputError
from lotor.environments import Factors, GraphArms, LinearArms, movielens_factors

MOVIELENS = Path(__file__).parents[3] / "shared" / "data" / "movielens-100k" / "u.data"

needs_movielens = pytest.mark.skipif(
    not MOVIELENS.exists(),
    reason=f"MovieLens 100K may not be redistributed, and {MOVIELENS} is absent",
)


def write_ratings(path: Path, *, users: int = 40, items: int = 30) -> str:
    """Ratings that two hidden factors explain, but for their rounding; ids have gaps."""
    generator = np.random.default_rng(3)
    hidden = 3 + generator.normal(size=(users, 2)) @ generator.normal(size=(2, items))
    stars = np.clip(np.rint(2 * hidden) / 2, 0.5, 5)
    lines = [
        f"{2 * user + 1}\t{3 * item + 1}\t{stars[user, item]:g}\t0\n"
        for user in range(users)
        for item in range(items)
        if generator.random() < 0.7
    ]
    path.write_text("".join(lines))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rmse(factors: Factors, lines: list[str]) -> float:
    rows = np.array([line.split() for line in lines], dtype=np.float64)
    users = np.searchsorted(factors.user_ids, rows[:, 0])
    items = np.searchsorted(factors.item_ids, rows[:, 1])
    guesses = (factors.users[users] * factors.items[items]).sum(axis=1)
    return float(np.sqrt(np.square(guesses - rows[:, 2]).mean()))


def test_factors_explain_the_ratings(tmp_path: Path) -> None:
    path = tmp_path / "u.data"
    digest = write_ratings(path)
    lines = path.read_text().splitlines()
    factors = movielens_factors(path, d=3, sha256=digest, cache=None)
    mean_only = movielens_factors(path, d=1, sha256=digest, cache=None)
    assert rmse(factors, lines) < 0.6 * rmse(mean_only, lines)
    assert factors.users.shape == (40, 3)
    assert factors.first_items(5).tolist() == factors.items[:5].tolist()
    assert factors.user(3).tolist() == factors.users[1].tolist()
    assert repr(factors) == "<Factors of 40 users and 30 items>"


def test_the_cache_gives_the_same_and_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "u.data"
    digest = write_ratings(path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = movielens_factors(path, d=2, sha256=digest)
    (kept,) = (tmp_path / "cache" / "lotor").iterdir()
    assert digest in kept.name
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    again = movielens_factors(path, d=2, sha256=digest)
    fresh = movielens_factors(path, d=2, sha256=digest, cache=None)
    for one in (again, fresh):
        assert one.users.tobytes() == first.users.tobytes()
        assert one.items.tobytes() == first.items.tobytes()
    movielens_factors(path, d=3, sha256=digest)
    assert len(list(kept.parent.iterdir())) == 2


@pytest.mark.parametrize("content", [b"", b"text", bytes(100)])
def test_a_damaged_cache_is_replaced(tmp_path: Path, content: bytes) -> None:
    path, cache = tmp_path / "u.data", tmp_path / "cache"
    digest = write_ratings(path)
    first = movielens_factors(path, d=2, sha256=digest, cache=cache)
    (kept,) = cache.iterdir()
    good = kept.read_bytes()
    kept.write_bytes(content)
    again = movielens_factors(path, d=2, sha256=digest, cache=cache)
    assert again.items.tobytes() == first.items.tobytes()
    assert len(kept.read_bytes()) == len(good)
    kept.write_bytes(good[: len(good) // 2])
    again = movielens_factors(path, d=2, sha256=digest, cache=cache)
    assert again.items.tobytes() == first.items.tobytes()


def test_a_cache_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    path, blocked = tmp_path / "u.data", tmp_path / "file"
    digest = write_ratings(path)
    blocked.write_text("not a folder")
    assert movielens_factors(path, d=2, sha256=digest, cache=blocked / "x").users.shape == (40, 2)


def test_nothing_half_written_remains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, cache = tmp_path / "u.data", tmp_path / "cache"
    digest = write_ratings(path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    movielens_factors(path, d=2, sha256=digest, cache=cache)
    assert list(cache.iterdir()) == []


def test_a_load_states_digest_and_terms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "u.data"
    digest = write_ratings(path)
    movielens_factors(path, d=2, sha256=digest, cache=None)
    told = capsys.readouterr().err
    assert digest in told
    assert "no commercial use" in told


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "u.data"
    write_ratings(path)
    with pytest.raises(DataError, match="altered, cut short or is another version"):
        movielens_factors(path, d=2, cache=None)
    with pytest.raises(DataError, match="cannot read"):
        movielens_factors(tmp_path / "none", d=2, cache=None)
    path.write_text("1\t2\tgood\t0\n")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(DataError, match="line 1"):
        movielens_factors(path, d=2, sha256=digest, cache=None)


def test_impossible_sizes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "u.data"
    digest = write_ratings(path)
    for d in (0, 201, 2.5):
        with pytest.raises(InputError, match="from 1 to 200"):
            movielens_factors(path, d=d, sha256=digest, cache=None)  # type: ignore[arg-type]
    for k, user, complaint in ((31, 1, "from 1 to 30"), (0, 1, "k is 0"), (5, 2, "no user 2")):
        with pytest.raises(InputError, match=complaint):
            LinearArms.movielens(path, k=k, user=user, d=2, sha256=digest, cache=None)


def test_arms_and_graphs_of_movies(tmp_path: Path) -> None:
    path = tmp_path / "u.data"
    digest = write_ratings(path)
    factors = movielens_factors(path, d=3, sha256=digest, cache=None)
    arms = LinearArms.movielens(path, k=12, user=5, d=3, sha256=digest, cache=None, first=4)
    assert arms.vectors.tolist() == factors.items[:12].tolist()
    assert arms.theta.tolist() == factors.users[2].tolist()
    assert arms.first == 4
    graph = GraphArms.movielens(path, k=12, user=5, d=3, sha256=digest, cache=None, neighbours=4)
    assert graph.means == pytest.approx(arms.means)
    assert graph.weights.sum(axis=1).min() >= 4


@needs_movielens
def test_held_out_ratings_of_movielens_are_foreseen(tmp_path: Path) -> None:
    lines = MOVIELENS.read_text().splitlines(keepends=True)
    held_out = np.random.default_rng(1).random(len(lines)) < 0.1
    path = tmp_path / "u.data"
    path.write_text("".join(line for line, out in zip(lines, held_out, strict=True) if not out))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    factors = movielens_factors(path, d=5, sha256=digest, cache=None)
    seen = set(factors.item_ids.tolist())
    judged = [line for line, out in zip(lines, held_out, strict=True) if out]
    judged = [line for line in judged if int(line.split()[1]) in seen]
    assert len(judged) > 9000
    assert rmse(factors, judged) < 0.96
