"""Crashes for a federation on loopback: parties die by SIGKILL at random moments and come back."""

import time
from dataclasses import dataclass, field
from random import Random

from lotor.sandbox.federation import Federation
from lotor.sandbox.journals import Journals

JITTER, REPLAY = 0.05, 0.03
LATEST = 0.95


@dataclass(frozen=True, slots=True)
class Kill:
    """A party that was alive, killed while its run had no result."""

    name: str
    moment: float
    again: bool = False


@dataclass(slots=True)
class _Down:
    """A dead party. `then` says whether it dies once more when it takes its run up again."""

    name: str
    until: float
    then: bool


@dataclass(slots=True)
class _Doomed:
    """A party that came back only to die: when it has taken its run up for the `lives`-th time."""

    name: str
    lives: int
    moment: float | None = None


@dataclass(slots=True)
class Crashes:
    """Strikes at rounds of a run; call `step` often. Every party gets its turn.

    `strikes` are pairs of a round and how many parties die at once; with the chance `again` a
    party dies once more while it replays what its journal has.
    """

    federation: Federation
    run: str
    strikes: list[tuple[int, int]]
    random: Random
    again: float = 0.0
    away: float = 0.5
    kills: list[Kill] = field(default_factory=list)
    _turns: list[str] = field(default_factory=list)
    _down: list[_Down] = field(default_factory=list)
    _doomed: list[_Doomed] = field(default_factory=list)
    _next: float = 0.0

    @classmethod
    def spread(
        cls,
        federation: Federation,
        run: str,
        *,
        budget: int,
        kills: int,
        most: int,
        again: float,
        random: Random,
    ) -> "Crashes":
        """Spread at least `kills` kills over a run (if it is long enough), up to `most` at once."""
        sizes: list[int] = []
        while sum(sizes) < kills:
            sizes.append(random.randint(1, most))
        latest = max(1, int(LATEST * budget))
        strikes = sorted((random.randint(1, latest), size) for size in sizes)
        return cls(federation, run, strikes, random, again)

    def step(self, t: int) -> None:
        """Round t is reached: kill and restart whoever is due."""
        now = time.monotonic()
        self._restart(now)
        self._finish_off(now)
        if self.strikes and t >= self.strikes[0][0] and now >= self._next:
            due, size = self.strikes.pop(0)
            self._next = now + self.random.uniform(0, JITTER)
            killed = self._strike(now, size)
            if killed < size:  # too few were alive: kill the rest once they are back
                self.strikes.insert(0, (due, size - killed))

    def restart_all(self) -> None:
        """Restart every party that is still down."""
        self._restart(float("inf"))

    def away_now(self) -> set[str]:
        return {down.name for down in self._down}

    def _strike(self, now: float, size: int) -> int:
        killed = 0
        while killed < size and (name := self._victim()) is not None and self._kill(name):
            killed += 1
            again = self.random.random() < self.again
            pause = self.random.uniform(0, self.away)
            self._down.append(_Down(name, now + pause, again))
        return killed

    def _victim(self) -> str | None:
        """The next living party in a shuffled order."""
        if not self._turns:
            self._turns = list(self.federation.kits)
            self.random.shuffle(self._turns)
        for name in self._turns:
            if self.federation.running(name):
                self._turns.remove(name)
                return name
        return None

    def _kill(self, name: str, *, again: bool = False) -> bool:
        if not self.federation.running(name) or Journals(self.federation).finished(self.run):
            return False
        self.kills.append(Kill(name, time.time(), again))
        self.federation.kill(name)
        self._doomed = [doomed for doomed in self._doomed if doomed.name != name]
        return True

    def _restart(self, now: float) -> None:
        due = [down for down in self._down if down.until <= now]
        for down in due:
            self._down.remove(down)
            if down.then:
                self._doomed.append(_Doomed(down.name, self._lives(down.name) + 1))
            if down.name == self.federation.opener:
                arguments = ("runs", "follow", self.run, "--json", "--log-level", "info")
                self.federation.launch(down.name, *arguments)
            else:
                self.federation.serve(down.name)

    def _lives(self, name: str) -> int:
        standing = Journals(self.federation).standing(name, self.run)
        return standing.lives if standing is not None else 0

    def _finish_off(self, now: float) -> None:
        for doomed in list(self._doomed):
            if doomed.moment is None:
                if self._lives(doomed.name) >= doomed.lives:
                    doomed.moment = now + self.random.uniform(0, REPLAY)
            elif now >= doomed.moment:
                self._doomed.remove(doomed)
                if self._kill(doomed.name, again=True):
                    pause = self.random.uniform(0, self.away)
                    self._down.append(_Down(doomed.name, now + pause, then=False))
