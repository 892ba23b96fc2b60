"""Runs that are described on the command line, and how they are made in this process."""

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from typer.main import get_command
from typer.testing import CliRunner

from lotor.cli.main import app

PAPER = "samba --form paper --key-bits 2048"
# {folder} has the files below.
RUNS = (
    # Arms without vectors or contexts.
    f"{PAPER} --budget 20",
    f"{PAPER} --budget 20 --arms 0.9,0.5,0.1,0.3 --owners 2 --selection position",
    f"{PAPER} --budget 20 --arms jester-like --k 4 --policy pursuit:beta=0.3",
    f"{PAPER} --budget 20 --arms movielens-like --k 3 --policy epsilon-greedy",
    "plain",
    "plain --policy ucb --arms movielens-like --k 30 --budget 200",
    "plain --policy ucb --arms jester-like --k 5 --budget 200",
    "plain --policy kl-ucb:c=3 --arms 0.9,0.1/50:0.1,0.9 --budget 100",
    "plain --policy thompson-sampling --arms 0.9,0.5,0.1 --budget 100",
    "plain --policy softmax:tau=0.1 --arms 0.9,0.5,0.1 --budget 100",
    "plain --policy pursuit:beta=0.2 --arms 0.9,0.5,0.1 --budget 100",
    "plain --policy epsilon-greedy:epsilon=0.3 --arms 0.9,0.5,0.1 --budget 100",
    "plain --policy epsilon-greedy:epsilon=1/ln --arms 0.9,0.5,0.1 --budget 100",
    "plain --policy epsilon-greedy:epsilon=1/log2 --arms 0.9,0.5,0.1 --budget 100",
    "plain --policy reinforcement-comparison:alpha=0.2,beta=0.8 --arms 0.9,0.1 --budget 100",
    "plain --arms movielens:{folder}/u.data --sha256 {u.data} --k 3 --minimum-ratings 4",
    (
        "plain --arms movielens:{folder}/u.data --sha256 {u.data} --k 4 --minimum-ratings 1 "
        "--threshold 3 --choose first"
    ),
    "plain --arms jester:{folder}/jester.csv --k 3 --minimum-ratings 2 --threshold 2",
    "plain --policy ucb --arms log:{folder}/log.csv --sha256 {log.csv} --budget 30",
    # Arms that are vectors.
    "linucb-ds --form paper --key-bits 2048 --budget 5",
    (
        "linucb-ds --form paper --key-bits 2048 --budget 5 --arms linear:4,2 --slot-bits 96 "
        "--policy linucb:gamma=0.5,R=0.2"
    ),
    (
        "spectral-ucb-ds --form paper --key-bits 2048 --budget 5 --arms linear:14,2 "
        "--policy spectral-ucb:C=9"
    ),
    "plain --policy linucb --budget 100",
    "plain --policy linucb:S=2,L=3,delta=0.1 --arms linear:6,3 --budget 100",
    (
        "plain --policy linucb:S=9 --arms movielens-factors-like --k 7 --user 3 --dimensions 4 "
        "--budget 100"
    ),
    (
        "plain --policy linucb:S=99 --arms movielens:{folder}/u.data --sha256 {u.data} --k 5 "
        "--user 2 --dimensions 2 --budget 60"
    ),
    "plain --policy spectral-ucb --budget 60",
    "plain --policy spectral-ucb:C=9 --arms linear:14,2 --slot-bits 96 --budget 5",
    "plain --policy spectral-ucb:C=99 --arms movielens-factors-like --k 20 --budget 60",
    # Contexts whose features are split.
    "ppcb --arms contexts:4,6 --budget 30",
    (
        "ppcb --arms contexts:3,5 --budget 30 --policy linear-epsilon-greedy:ridge=2 --epsilon 0.2 "
        "--bits 22 --parties 3 --delay 2 --privacy-budget 45 --delta 0.001"
    ),
    "ppcb --arms kmeans:4 --budget 20",
    "plain --policy linear-epsilon-greedy --budget 200",
    (
        "plain --policy linear-epsilon-greedy:recompute=5 --arms contexts:4,6 --epsilon 0.3 "
        "--delay 3 --privacy-budget 60 --delta 0.01 --budget 100"
    ),
    # Contexts of each arm.
    "helba --form paper --insecure-degree 1024 --budget 3 --arms toy:5 --stages 3",
    (
        "helba --form paper --insecure-degree 1024 --budget 3 --arms toy:5 --stages 3 "
        "--index sqrt --C 1 --eta 0.1 --noise-bits 6 --mean-bound 1.5 --rms-length 5"
    ),
    (
        "helba --form paper --insecure-degree 1024 --budget 2 --arms csv:{folder}/contexts.csv "
        "--stages 3 --noise-sd 0.1 --policy batched-oful:touch=flat,width=union"
    ),
    "helba --arms toy:5 --budget 20",
    "helba --arms contexts:3,4 --budget 12 --index sqrt --eta 0.5 --context-bits 8 --reward-bits 6",
    "plain --policy oful --budget 130",
    "plain --policy rsoful:C=0.5 --arms toy:3 --budget 100",
    "plain --policy rsoful-tr:width=public --arms contexts:4,3 --budget 100",
    "plain --policy batched-oful:index=sqrt,C=1,eta=0.1,width=union --arms toy --budget 100",
    "plain --policy batched-oful:touch=flat --arms npz:{folder}/contexts.npz --budget 12",
)
# Nodes of a graph: see `Case.exact`.
INEXACT = "spectral-ucb"
NEED_DIGITS = ("kmeans:", "--policy linear-epsilon-greedy --budget")


def tree() -> Any:
    """The command with all that it contains."""
    return get_command(app)


def read(folder: Path, *arguments: str) -> Any:
    """The JSON that a command prints; its caches lie in the folder."""
    done = CliRunner().invoke(app, list(arguments), env={"XDG_CACHE_HOME": str(folder / "cache")})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, f"lotor {' '.join(arguments)}: {done.output}"
    return json.loads(done.stdout)


def run(folder: Path, line: str) -> Any:
    """What `lotor run` gives with seed 7."""
    known = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files(folder)}
    for name, value in {"folder": str(folder), **known}.items():
        line = line.replace(f"{{{name}}}", value)
    return read(folder, "run", *line.split(), "--seed", "7", "--json", "--trajectory")


def files(folder: Path) -> list[Path]:
    """Small ones of each kind that the command line reads, written if they are not there."""
    names = ("u.data", "jester.csv", "contexts.csv", "log.csv", "contexts.npz")
    paths = [folder / name for name in names]
    if paths[-1].exists():
        return paths
    ratings, jester, table, log, arrays = paths
    pairs = [(user, item) for user in range(1, 9) for item in range(1, 7) if (user * item) % 5]
    ratings.write_text("".join(f"{u}\t{i}\t{(u * 3 + i * i) % 5 + 1}\t0\n" for u, i in pairs))
    rows = [
        [99 if (u + j) % 4 == 0 else (u * 7 + j * 5) % 21 - 10 for j in range(5)] for u in range(9)
    ]
    rounds = [[[[4.0, 1.0], [0.5, t / 4]], [[0.25, 0.5], [t / 8, 4.0]]] for t in range(6)]
    contexts = np.array([offered for pair in rounds for offered in pair])
    theta = np.array([0.1, 0.2])
    with jester.open("w", newline="") as file:
        csv.writer(file).writerows([sum(x != 99 for x in row), *row] for row in rows)
    with table.open("w", newline="") as file:
        write = csv.writer(file).writerow
        write(["round", "arm", "x1", "x2"])
        write(["theta", "", *theta.tolist()])
        for t, offered in enumerate(contexts.tolist(), 1):
            for arm, x in enumerate(offered):
                write([t, arm, *x])
    with log.open("w", newline="") as file:
        events = ((i % 4, (i * 7 + i // 5) % 10 / 10, 0.5 - i % 4 / 10) for i in range(120))
        csv.writer(file).writerows([("arm", "reward", "propensity"), *events])
    np.savez(arrays, contexts=contexts, theta=theta)
    return paths
