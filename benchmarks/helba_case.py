"""One run of HELBA in a process of its own, so that its memory is its own.

`python helba_case.py run JSON` prints JSON. The operations of a run are counted by kind and level,
and priced by bare SEAL operations that are measured before and after it, in other processes. A
clock within the run says the same without prices: how long SEAL's calls themselves took.
"""

import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

import msgspec
import numpy as np
from helba_simulation import Round, UnderEncryption, repeat
from machine import Others, own_peak

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.crypto.ckks import InsecureParametersWarning
from lotor.crypto.ckks.context import context_of
from lotor.crypto.seal.binding import SealEvaluator
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.counts import Counts
from lotor.protocols.helba.paper.forecast import Prices, measured
from lotor.protocols.helba.paper.judging import Judged, judged
from lotor.protocols.helba.paper.setting import HelbaSetting

# The work that a run cannot do without: all else is overhead.
PRICED = ("multiply", "square", "multiply_plain", "relinearise", "rescale", "rotate")


CALLS = (
    "multiply",
    "square",
    "multiply_plain",
    "relinearize_inplace",
    "rescale_to_next",
    "rotate_vector",
)
_RUN, _PRICES = "run", "prices"
T = TypeVar("T")


class Clocked:
    """SEAL's evaluator, with a clock around the calls that are priced."""

    def __init__(self, evaluator: SealEvaluator) -> None:
        self.seconds = 0.0
        self._evaluator = evaluator
        for name in CALLS:
            setattr(self, name, self._timed(getattr(evaluator, name)))

    def _timed(self, call: Callable[..., None]) -> Callable[..., None]:
        def timed(*arguments: object) -> None:
            began = process_time()
            call(*arguments)
            self.seconds += process_time() - began

        return timed

    def __getattr__(self, name: str) -> object:
        return getattr(self._evaluator, name)


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is run: so many repetitions at once in slots, or one by messages between parties."""

    arms: int = 2
    d: int = 2
    rounds: int = 130
    repetitions: int = 25
    security: int = 128
    stages: int = 4
    paper: bool = False  # the paper's index and width, with C = 1 and eta = 0.1
    messages: bool = False
    points: int = 0  # at how many levels prices are measured; 0: at all
    insecure_degree: int | None = None

    def helba(self) -> lotor.Helba:
        paper = BatchedOFUL(index="sqrt", width="union", C=1, eta=0.1)
        policy = paper if self.paper else BatchedOFUL()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InsecureParametersWarning)
            return lotor.Helba(
                policy,
                security=self.security,
                stages=self.stages,
                insecure_degree=self.insecure_degree,
                form="paper",
            )

    def contexts(self, seed: int) -> lotor.LinearContexts:
        if (self.arms, self.d) == (2, 2):
            return lotor.LinearContexts.toy(self.rounds, seed=seed)
        return lotor.LinearContexts.random(
            self.rounds, arms=self.arms, d=self.d, pool=2 * self.arms + 4, seed=seed
        )

    def setting(self) -> HelbaSetting:
        scale = RewardScale(*self.contexts(0).reward_range)
        return self.helba().setting(
            "benchmark", budget=self.rounds, arms=self.arms, d=self.d, scale=scale
        )


class Found(msgspec.Struct, frozen=True):
    """Seconds of CPU but for `wall`, MB; `run` has everything but making keys.

    `update` is one new estimate, `bare` what the counted operations of the run take alone, and
    `inside` what the same took in the run, by a clock around SEAL's calls.
    """

    case: Case
    levels: int
    prime_bits: int
    run: float
    wall: float
    update: float
    bare: float
    inside: float
    peak: float
    others: str
    parties: dict[str, float]
    bytes_sent: int
    different: int
    wrong: int
    clear: int
    decisions: int
    regret: tuple[float, float]
    plain_regret: tuple[float, float]

    @property
    def ratio(self) -> float:
        return self.run / self.bare

    @property
    def a_round(self) -> float:
        """Without a new estimate."""
        return self.run / self.case.rounds - self.update


class Outcome(msgspec.Struct):
    """The results of a run of either kind."""

    trajectories: list[list[int]]
    counts: Counts
    run: float
    inside: float
    update: float = 0.0
    parties: dict[str, float] = msgspec.field(default_factory=dict)
    bytes_sent: int = 0


def priced(counts: Counts, prices: list[Prices]) -> float:
    """What the counted operations take bare, at the mean of the prices."""
    return sum(
        count * float(np.mean([one.of(operation, level) for one in prices]))
        for (operation, level), count in counts.items()
        if operation in PRICED
    )


def in_slots(case: Case, setting: HelbaSetting, clock: Clocked) -> Outcome:
    server = UnderEncryption(setting)
    seeds = range(case.repetitions)
    clock.seconds, began = 0.0, process_time()
    rounds: list[Round] = list(repeat(setting, [case.contexts(s) for s in seeds], seeds, server))
    spent, counts = process_time() - began, Counter(server.evaluator.counts)
    inside = clock.seconds
    first = [server.first(value) for value in setting.packing.ridge()]
    began = process_time()
    setting.circuit.estimate(first, case.rounds)
    update = process_time() - began
    trajectories = [[one.arms[s] for one in rounds] for s in seeds]
    return Outcome(trajectories, counts, spent, inside, update)


def by_messages(case: Case, setting: HelbaSetting, clock: Clocked) -> Outcome:
    """All parties, with keys sealed and sent, but not made: the authority is left out."""
    clock.seconds = 0.0
    result = lotor.run(case.helba(), case.contexts(0), budget=case.rounds, seed=0)
    parties = {name: cost.cpu_seconds for name, cost in result.parties.items()}
    counts: Counts = Counter()
    for _ in range(case.rounds):
        counts.update(setting.circuit.per_round())
    for start in setting.bounds.starts():
        counts.update(setting.circuit.per_update(start))
    spent = parties["user"] + parties["server"]
    trajectories = [result.arms or []]
    return Outcome(trajectories, counts, spent, clock.seconds, 0.0, parties, result.bytes_sent)


def carried_out(case: Case) -> Found:
    setting = case.setting()
    context = context_of(setting.parameters)
    clock = Clocked(context.evaluator)
    context.evaluator = clock  # type: ignore[assignment]  # it passes everything on
    prices = [_fresh(_PRICES, case, Prices)]
    since = perf_counter()
    with Others() as others:
        outcome = (by_messages if case.messages else in_slots)(case, setting, clock)
    wall, peak = perf_counter() - since, own_peak()
    prices.append(_fresh(_PRICES, case, Prices))
    decided: list[Judged] = []
    regrets, plain = [], []
    for seed, arms in enumerate(outcome.trajectories):
        contexts = case.contexts(seed)
        decided += judged(setting, contexts, seed, arms)
        regrets.append(contexts.regret(arms))
        exact = lotor.run(case.helba().plain(), contexts, budget=case.rounds, seed=seed)
        plain.append(contexts.regret(exact.arms or []))
    return Found(
        case=case,
        levels=setting.parameters.levels,
        prime_bits=setting.parameters.scale_bits,
        run=outcome.run,
        wall=wall,
        update=outcome.update,
        bare=priced(outcome.counts, prices),
        inside=outcome.inside,
        peak=peak,
        others=others.text,
        parties=outcome.parties,
        bytes_sent=outcome.bytes_sent,
        different=sum(not one.same for one in decided),
        wrong=sum(one.wrong for one in decided),
        clear=sum(one.gap > one.resolution for one in decided),
        decisions=len(decided),
        regret=_mean(regrets),
        plain_regret=_mean(plain),
    )


def _mean(values: list[float]) -> tuple[float, float]:
    """With its standard error."""
    return float(np.mean(values)), float(np.std(values) / np.sqrt(max(1, len(values) - 1)))


def in_fresh_process(case: Case) -> Found:
    return _fresh(_RUN, case, Found)


def _fresh(what: str, case: Case, kind: type[T]) -> T:
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, str(Path(__file__)), what, msgspec.json.encode(case).decode()],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return msgspec.json.decode(done.stdout, type=kind)


def prices_of(case: Case) -> Prices:
    parameters = case.setting().parameters
    return measured(parameters, 2, case.points or parameters.levels)


def main(what: str, text: str) -> None:
    case = msgspec.json.decode(text, type=Case)
    found = prices_of(case) if what == _PRICES else carried_out(case)
    print(msgspec.json.encode(found).decode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
