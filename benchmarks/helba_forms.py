"""HELBA's shared form beside the paper's, on CKKS: whole roles with their messages, in one run.

Every measurement is a process of its own: `python helba_forms.py JSON` prints JSON. A run of CKKS
is one of T rounds that is left after a few, each with a new estimate; runs of the shared form stand
before and after it. Times are the CPU of all parties between two pulls, so that neither keys nor
base transfers count; whole runs have them.
"""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from statistics import mean
from time import process_time

import msgspec
from machine import own_peak
from measure import Progress
from rich.table import Table
from tables import table, verdict

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.complexity import PAPER
from lotor.protocols.helba.shared.form import ordered_setting

ROUNDS, REPETITIONS = 130, 25
RATIO_AIM = 300.0


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run of T = 130 of which so many rounds are timed, after the first `skipped`."""

    form: str
    arms: int = 2
    d: int = 2
    root: bool = False
    timed: int = 96
    skipped: int = 1

    @property
    def name(self) -> str:
        return f"{'root, ' if self.root else ''}d={self.d} K={self.arms}"

    def helba(self) -> lotor.Helba:
        policy = BatchedOFUL(index="sqrt", width="union") if self.root else BatchedOFUL()
        return lotor.Helba(policy, form=self.form)

    def contexts(self, seed: int) -> lotor.LinearContexts:
        if (self.arms, self.d) == (2, 2):
            return lotor.LinearContexts.toy(ROUNDS, seed=seed)
        pool = 2 * self.arms + 4
        return lotor.LinearContexts.random(ROUNDS, arms=self.arms, d=self.d, pool=pool, seed=seed)

    def run(self, progress: Progress | None = None, seed: int = 0) -> lotor.Result:
        contexts = self.contexts(seed)
        return lotor.run(self.helba(), contexts, budget=ROUNDS, seed=seed, progress=progress)


class Timed(msgspec.Struct, frozen=True):
    """Seconds of CPU: a round, and all until the first pull. The peak in MB."""

    a_round: float
    set_up: float
    peak: float


class EnoughError(Exception):
    """All rounds that are timed are over."""


def timed(problem: Problem) -> Timed:
    marks: list[float] = []
    first, last = problem.skipped, problem.skipped + problem.timed

    def progress(done: int, _: int) -> None:
        marks.append(process_time())
        if done == last:
            raise EnoughError

    began = process_time()
    with suppress(EnoughError):
        problem.run(progress)
    a_round = (marks[last - 1] - marks[first - 1]) / problem.timed
    return Timed(a_round, marks[0] - began, own_peak())


def in_fresh_process(problem: Problem) -> Timed:
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, str(Path(__file__)), msgspec.json.encode(problem).decode()],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return msgspec.json.decode(done.stdout, type=Timed)


def on_shares(paper: Problem) -> Problem:
    """The same in the shared form, with whole batches of circuits from the second one on.

    Within a batch the circuits of the next one are made, so that all these take the same.
    """
    problem = msgspec.structs.replace(paper, form="shared")
    contexts = problem.contexts(0)
    scale = RewardScale(*contexts.reward_range)
    setting = ordered_setting(
        problem.helba(), "", budget=ROUNDS, arms=contexts.k, d=contexts.d, scale=scale
    )
    batch = setting.schedule.size
    whole = (ROUNDS - 1 - batch) // batch * batch
    return msgspec.structs.replace(problem, skipped=batch, timed=whole)


def beside_ckks(rounds: tuple[int, int, int]) -> Table:
    made = table(
        "Shared form beside CKKS at 128 bits, T = 130, a round with a new estimate, CPU of all "
        "parties",
        *("problem", "CKKS s", "shared ms", "ratio", "the ratio"),
        *("rounds", "set-up s", "peak MB"),
    )
    made.caption = "Rounds that were timed, set-up until the first pull and peak: CKKS / shared."
    problems = (
        Problem("paper", timed=rounds[0]),
        Problem("paper", arms=5, d=5, timed=rounds[1]),
        Problem("paper", root=True, timed=rounds[2]),
    )
    for paper in problems:
        shared = on_shares(paper)
        before, ckks, after = (in_fresh_process(one) for one in (shared, paper, shared))
        ours = mean((before.a_round, after.a_round))
        ratio = ckks.a_round / ours
        made.add_row(
            *(paper.name, f"{ckks.a_round:.2f}", f"{ours * 1e3:.2f}"),
            *(f"{ratio:.0f}", verdict(ratio, RATIO_AIM), f"{paper.timed} / {2 * shared.timed}"),
            f"{ckks.set_up:.1f} / {mean((before.set_up, after.set_up)):.2f}",
            f"{ckks.peak:.0f} / {after.peak:.0f}",
        )
    return made


def whole_runs(repetitions: int) -> Table:
    """The paper's toy problem from beginning to end, set-up included."""
    problem = Problem("shared")
    began = process_time()
    results = [problem.run(seed=seed) for seed in range(repetitions)]
    spent = (process_time() - began) / repetitions * REPETITIONS
    extrapolated = "" if repetitions == REPETITIONS else f", extrapolated from {repetitions}"
    made = table(f"Shared form, T = {ROUNDS}, d = 2, K = 2, whole runs with set-up", "", "")
    for name, value in {
        f"CPU of {REPETITIONS} repetitions{extrapolated}": f"{spent:.1f} s",
        "the paper's run": f"{PAPER['seconds']:,} s: {PAPER['seconds'] / spent:,.0f} times as long",
        "sent in a run": f"{results[0].bytes_sent / 1e6:.1f} MB",
        "regret": f"{mean(_regrets(problem, results)):.2f}",
        **_plan(problem),
    }.items():
        made.add_row(name, value)
    return made


def _regrets(problem: Problem, results: list[lotor.Result]) -> list[float]:
    return [problem.contexts(s).regret(result.arms or []) for s, result in enumerate(results)]


def _plan(problem: Problem) -> dict[str, str]:
    """What the plan says of bytes: they are bounded by a batch."""
    helba = problem.helba()
    rows = helba.in_form().forecast(helba, problem.contexts(0), ROUNDS).rows
    return {name: text for name, text in rows.items() if name.startswith("bytes")}


def main(text: str) -> None:
    problem = msgspec.json.decode(text, type=Problem)
    print(msgspec.json.encode(timed(problem)).decode())


if __name__ == "__main__":
    main(sys.argv[1])
