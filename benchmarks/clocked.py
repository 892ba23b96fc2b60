"""The CPU time of a run of LinUCB-DS, all of it: by party, and what is done beforehand.

Making keys does not count: the clock starts when the parties are there. Threads count by the CPU
time of the process, worker processes when they have ended, which is before a run does.

A machine's speed drifts within seconds, so what is compared with a run is timed within it: the run
pauses at evenly spaced rounds for it, and the pauses are taken out of its costs.
"""

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter, process_time, thread_time
from typing import ClassVar

import lotor
from lotor.core.effects import Checkpoint, Steps
from lotor.protocols.linucb_ds.paper.messages import PackedScores, Winner
from lotor.protocols.party import Party, Run
from lotor.protocols.protocol import Protocol
from lotor.runtime.recorder import Recorder


@dataclass(frozen=True, slots=True)
class Clocks:
    """CPU seconds: of this process with all its threads, of this thread, of ended children."""

    process: float
    thread: float
    children: float

    @classmethod
    def read(cls) -> "Clocks":
        times = os.times()
        return cls(process_time(), thread_time(), times.children_user + times.children_system)


Pause = Callable[[], object]


class ClockedParty(Party):
    """A party whose steps are timed one by one, by the thread's CPU clock."""

    def __init__(self, party: Party, rounds: int = 0, pauses: Sequence[Pause] = ()) -> None:
        self._party = party
        self._pauses = deque(
            (1 + i * rounds // len(pauses), pause) for i, pause in enumerate(pauses)
        )
        self.cpu = 0.0
        self.paused = 0.0
        self.paused_wall = 0.0
        self.marks: list[tuple[int, float, float]] = []
        """At each checkpoint of a round: the round, the CPU seconds and the time until then."""

    def operations(self) -> Mapping[str, int]:
        return self._party.operations()

    def steps(self) -> Steps[object]:
        steps = self._party.steps()
        answer: object = None
        try:
            while True:
                before = thread_time()
                try:
                    effect = steps.send(answer)
                except StopIteration as end:
                    return end.value
                finally:
                    self.cpu += thread_time() - before
                if type(effect) is Checkpoint and effect.round:
                    wall = perf_counter() - self.paused_wall
                    self.marks.append((effect.round, self.cpu, wall))
                    self._pause(effect.round)
                answer = yield effect
        finally:
            steps.close()

    def _pause(self, t: int) -> None:
        began = thread_time(), perf_counter()
        while self._pauses and self._pauses[0][0] <= t:
            self._pauses.popleft()[1]()
        self.paused += thread_time() - began[0]
        self.paused_wall += perf_counter() - began[1]

    def of_rounds(self) -> float:
        """CPU seconds from the first round's checkpoint to that after the last."""
        return self.marks[-1][1] - self.marks[0][1]


class Clocked(Protocol):
    """LinUCB-DS with a clock at every party."""

    name: ClassVar[str] = lotor.LinUCBDS.name

    def __init__(self, protocol: lotor.LinUCBDS, pauses: Sequence[Pause] = ()) -> None:
        self._protocol = protocol
        self._pauses = pauses
        self.seats: dict[str, ClockedParty] = {}
        self.began = Clocks(0, 0, 0)

    @property
    def least_budget(self) -> int | None:
        return self._protocol.least_budget

    @property
    def learner(self) -> str:
        return self._protocol.learner

    def options(self) -> Mapping[str, str | int]:
        return self._protocol.options()

    def parties(self, run: Run) -> Mapping[str, Party]:
        made = self._protocol.parties(run)
        self.seats = {name: ClockedParty(party) for name, party in made.items()}
        self.seats["principal"] = ClockedParty(made["principal"], run.budget - 1, self._pauses)
        self.began = Clocks.read()
        return self.seats


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of a whole run, CPU but for the last two, and the bytes of a round.

    `principal` and `comp` are for their rounds, `prepared` is all that P did before them (powers
    and randomisers' tables), `pool` its background thread, `workers` the processes beside it.
    """

    rounds: int
    total: float
    principal: float
    comp: float
    prepared: float
    pool: float
    workers: float
    wall: float
    wall_of_rounds: float
    bytes_per_round: int

    @property
    def in_rounds(self) -> float:
        """All that grows with the rounds, a round."""
        return (self.principal + self.comp + self.pool + self.workers) / self.rounds


def run(
    protocol: lotor.LinUCBDS, arms: lotor.LinearArms, budget: int, pauses: Sequence[Pause] = ()
) -> Costs:
    """A whole run with its costs."""
    clocked, recorder = Clocked(protocol, pauses), Recorder()
    result = lotor.run(clocked, arms, budget=budget, seed=7, recorder=recorder)
    began, ended = clocked.began, Clocks.read()
    process, children = ended.process - began.process, ended.children - began.children
    principal, comp = clocked.seats["principal"], clocked.seats["comp"]
    sizes = [
        len(exchange.payload)
        for exchange in recorder.exchanges
        if type(exchange.message) in (PackedScores, Winner)
    ]
    return Costs(
        rounds=budget - 1,
        total=process + children - principal.paused,
        principal=principal.of_rounds(),
        comp=comp.of_rounds(),
        prepared=principal.marks[0][1],
        pool=process - (ended.thread - began.thread),
        workers=children,
        wall=result.seconds - principal.paused_wall,
        wall_of_rounds=principal.marks[-1][2] - principal.marks[0][2],
        bytes_per_round=sum(sizes) // (budget - 1),
    )
