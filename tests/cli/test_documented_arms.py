"""All arms that --help names run with the defaults of every protocol that takes them."""

import gzip
import hashlib
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import lotor
from commands import lotor as command
from golden import commands as golden
from golden.seeds import small_keys
from lotor.cli.run import configured
from lotor.core.options import options_of
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol

PLACES = {"K,D": "4,3", "SEED": "5", "K": "12"}
BUDGET = 12


def texts(protocol: str) -> list[str]:
    """What --help says may follow --arms, with small numbers for K, D and SEED."""
    found = re.findall(r"(?<!\w)'([^']+)'", PROTOCOLS[protocol].arms.text)
    for place, value in PLACES.items():
        found = [re.sub(rf"(?<=:){place}$", value, text) for text in found]
    return found


CASES = [(protocol, text) for protocol in PROTOCOLS for text in texts(protocol)]


def test_the_help_is_understood() -> None:
    assert ("linucb-ds", "linear:4,3") in CASES
    assert ("spectral-ucb-ds", "movielens-factors-like") in CASES
    assert ("helba", "toy:5") in CASES
    assert ("ppcb", "mnist:FOLDER") in CASES


def mnist(folder: Path) -> str:
    """Small images where published ones would be; returns their digests."""
    draw = np.random.default_rng(1)
    pixels = draw.integers(0, 256, (60, 5, 5), dtype=np.uint8)
    digits = draw.integers(0, 9, 60).tolist()
    images = bytes((0, 0, 8, 3)) + np.array(pixels.shape, ">u4").tobytes() + pixels.tobytes()
    labels = bytes((0, 0, 8, 1)) + np.array([60], ">u4").tobytes() + bytes(digits)
    for name, data in (("images-idx3", images), ("labels-idx1", labels)):
        (folder / f"train-{name}-ubyte.gz").write_bytes(gzip.compress(data))
    return f"{hashlib.sha256(images).hexdigest()},{hashlib.sha256(labels).hexdigest()}"


@pytest.mark.parametrize(("protocol", "text"), CASES)
def test_arms_run_with_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str, text: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kind = PROTOCOLS[protocol]
    options: dict[str, int | str] = {}
    source, _, place = text.partition(":")
    if place == "PATH":
        files = {path.name: path for path in golden.files(tmp_path)}
        names = {"movielens": "u.data", "jester": "jester.csv", "log": "log.csv"}
        path = files[names.get(source, f"contexts.{source}")]
        text = f"{source}:{path}"
        options |= {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        options |= {"user": 1, "dimensions": 2, "k": 4} if "user" in _names(kind) else {}
        options |= (
            {"minimum_ratings": 1, "k": 4}
            if "threshold" in _names(kind) and source != "log"
            else {}
        )
    if place == "FOLDER":
        text, options = f"{source}:{tmp_path}", {"sha256": mnist(tmp_path)}
    budget = 6 if source in ("npz", "csv") else BUDGET
    # A small key warns.
    with small_keys(), warnings.catch_warnings(action="ignore"):
        secure, arms, _ = configured(kind, None, text, budget, options)
        plain = lotor.run(secure.plain(), arms, budget=budget, seed=7)
        assert lotor.run(secure, arms, budget=budget, seed=7).arms == plain.arms
    assert plain.rounds == budget


def _names(kind: type[SecureProtocol]) -> set[str]:
    return {one.name for one in options_of(kind.arms)}


def test_a_bound_that_was_stated_stays() -> None:
    arms = ["--arms", "movielens-factors-like", "--budget", "9"]
    done = command("run", "plain", "--policy", "linucb:S=1", *arms)
    assert done.returncode == 2
    assert "theta is longer than S = 1" in done.stderr


def test_a_bound_that_was_raised_is_told() -> None:
    arms = ["--arms", "movielens-factors-like", "--budget", "9"]
    done = command("run", "plain", "--policy", "linucb:R=0.2", *arms)
    assert done.returncode == 0
    assert "break the policy's usual bounds, so it is linucb:" in done.stderr
    assert "R=0.2,S=4.0" in done.stderr


def test_arms_within_the_usual_bounds_change_nothing() -> None:
    done = command("run", "plain", "--policy", "linucb", "--budget", "9")
    assert (done.returncode, done.stderr) == (0, "")
