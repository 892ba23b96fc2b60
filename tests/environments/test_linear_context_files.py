"""Contexts from files: what was written is read, and what is wrong is named."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lotor.core.errors import DataError
from lotor.environments.linear_context_files import contexts_from_csv, contexts_from_npz
from lotor.environments.linear_contexts import LinearContexts

NUMBERS = st.floats(-100, 100)
TEXT = "round,arm,x1,x2\ntheta,,0.5,-0.25\n1,0,1.0,0.0\n1,1,0.0,1.0\n2,1,3,4\n2,0,1,2\n"


def as_csv(contexts: np.ndarray, theta: np.ndarray) -> str:
    lines = [",".join(["round", "arm", *(f"x{i}" for i in range(contexts.shape[2]))])]
    lines.append(",".join(["theta", "", *map(repr, theta.tolist())]))
    for t, offered in enumerate(contexts, 1):
        for arm, x in enumerate(offered):
            lines.append(",".join([str(t), str(arm), *map(repr, x.tolist())]))
    return "\n".join(lines)


@given(
    contexts=arrays(np.float64, st.tuples(*[st.integers(1, 4)] * 2, st.just(3)), elements=NUMBERS),
    theta=arrays(np.float64, 3, elements=NUMBERS),
)
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, contexts: np.ndarray, theta: np.ndarray
) -> None:
    folder = tmp_path_factory.mktemp("contexts")
    (folder / "a.csv").write_text(as_csv(contexts, theta))
    np.savez(folder / "a.npz", contexts=contexts, theta=theta)
    for read in (
        contexts_from_csv(folder / "a.csv", noise_sd=0.1),
        contexts_from_npz(folder / "a.npz", noise_sd=0.1),
    ):
        assert np.array_equal(read.contexts, contexts)
        assert np.array_equal(read.theta, theta)
        assert read.noise_sd == 0.1


def csv(folder: Path, text: str) -> LinearContexts:
    path = folder / "a.csv"
    path.write_text(text)
    return contexts_from_csv(path)


def test_rows_may_come_in_any_order(tmp_path: Path) -> None:
    read = csv(tmp_path, "\ufeff" + TEXT + "\n")
    assert read.contexts_at(2).tolist() == [[1, 2], [3, 4]]
    assert read.noise_sd == 0.5


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "does not begin with"),
        ("t,arm,x\n", "does not begin with"),
        ("round,arm\n", "does not begin with"),
        (TEXT.replace("theta,,0.5,-0.25\n", ""), "no row theta"),
        (TEXT + "1,0,5,5\n", "line 7 gives this arm again"),
        (TEXT + "theta,,5,5\n", "line 7 gives theta again"),
        (TEXT + "3,0,5\n", "line 7 has 3 fields where the heading has 4"),
        (TEXT + "3,0,5,x\n", "line 7 holds something that is not a number"),
        (TEXT + "3,zero,5,6\n", "line 7 holds something that is not a number"),
        (TEXT + "3,0,5,6\n", "each arm from 0 once"),
        (TEXT + "0,0,5,6\n0,1,5,6\n", "each arm from 0 once"),
        ("round,arm,x1\ntheta,,1\n", "each arm from 0 once"),
        (TEXT + "3,0,nan,1\n3,1,1,1\n", "not finite"),
        (TEXT + '3,0,"1,1\n', "not a CSV file"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        csv(tmp_path, text)


def test_files_that_are_something_else(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    for content in (b"", b"PK\x03\x04", TEXT.encode()):
        path.write_bytes(content)
        with pytest.raises(DataError, match="not an npz file"):
            contexts_from_npz(path)
    np.savez(path, contexts=np.ones((1, 2, 2)))
    with pytest.raises(DataError, match="called contexts and theta"):
        contexts_from_npz(path)
    np.savez(path, contexts=np.array([[[None]]]), theta=np.ones(1))
    with pytest.raises(DataError, match="not an npz file"):
        contexts_from_npz(path)
    np.savez(path, contexts=np.ones((2, 2)), theta=np.ones(2))
    with pytest.raises(DataError, match="shape"):
        contexts_from_npz(path)
    with pytest.raises(DataError, match="sha256"):
        contexts_from_npz(path, sha256="0" * 64)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="not a CSV file"):
        contexts_from_csv(path)
