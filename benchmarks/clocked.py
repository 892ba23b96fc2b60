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
from lotor.core.effects import Checkpoint, Decided, Steps
from lotor.protocols.party import Party, Run
from lotor.protocols.protocol import Protocol


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

    def __init__(
        self,
        party: Party,
        rounds: int = 0,
        pauses: Sequence[Pause] = (),
        first_pull: Callable[[], None] = lambda: None,
    ) -> None:
        self._party = party
        self._first_pull = first_pull
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
                if type(effect) is Decided and effect.decision.round == 1:
                    self._first_pull()
                elif type(effect) is Checkpoint and effect.round:
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
        self.began = self.set_up = Clocks(0, 0, 0)
        self.before: dict[str, float] = {}

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
        self.seats["principal"] = ClockedParty(
            made["principal"], run.budget - 1, self._pauses, self._first_pull
        )
        self.began = Clocks.read()
        return self.seats

    def _first_pull(self) -> None:
        """The set-up is over, and nothing is prepared for any round yet."""
        self.set_up = Clocks.read()
        self.before = {name: seat.cpu for name, seat in self.seats.items()}


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of a whole run, CPU but for the last two.

    `set_up` is what came before the first pull, and `parties` what each did from then on. Of the
    paper's form: `principal` and `comp` are for their rounds, `prepared` is all that P did before
    them (powers and randomisers' tables), `pool` its background thread, `workers` the processes
    beside it.
    """

    rounds: int
    total: float
    set_up: float
    parties: Mapping[str, float]
    principal: float
    comp: float
    prepared: float
    pool: float
    workers: float
    wall: float
    wall_of_rounds: float

    @property
    def in_rounds(self) -> float:
        """All that grows with the rounds, a round."""
        return (self.principal + self.comp + self.pool + self.workers) / self.rounds

    @property
    def a_round(self) -> float:
        """Everything after the first pull, the total too, a round."""
        return (self.total - self.set_up) / self.rounds


def run(
    protocol: lotor.LinUCBDS, arms: lotor.LinearArms, budget: int, pauses: Sequence[Pause] = ()
) -> Costs:
    """A whole run with its costs."""
    clocked = Clocked(protocol, pauses)
    result = lotor.run(clocked, arms, budget=budget, seed=7)
    began, ended = clocked.began, Clocks.read()
    process, children = ended.process - began.process, ended.children - began.children
    principal, comp = clocked.seats["principal"], clocked.seats["comp"]
    return Costs(
        rounds=budget - 1,
        total=process + children - principal.paused,
        set_up=clocked.set_up.process - began.process,
        parties={name: seat.cpu - clocked.before[name] for name, seat in clocked.seats.items()},
        principal=principal.of_rounds(),
        comp=comp.of_rounds(),
        prepared=principal.marks[0][1],
        pool=process - (ended.thread - began.thread),
        workers=children,
        wall=result.seconds - principal.paused_wall,
        wall_of_rounds=principal.marks[-1][2] - principal.marks[0][2],
    )
