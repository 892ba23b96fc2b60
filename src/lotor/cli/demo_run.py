"""Drives the federation of `lotor demo` from its first process to its last."""

import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from random import Random

from lotor.cli.demo_view import DemoView, PartyReport, Scene
from lotor.core.errors import RunEndedError
from lotor.policies import to_text
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.sandbox import Federation
from lotor.sandbox.crashes import Crashes, Kill
from lotor.sandbox.journals import Journals, Standing
from lotor.sandbox.watch import Watch

KILLS, MOST_AT_ONCE, AGAIN = 8, 2, 0.25
LOOK_SECONDS, SHOW_SECONDS, SETTLE_SECONDS, STALL_SECONDS = 0.03, 0.2, 30.0, 120.0


@dataclass(frozen=True, slots=True)
class DemoOutcome:
    """What came of the federation's run; `seconds` go from its first round to its last."""

    run: str
    reward: float | None
    arms: list[int] | None
    seconds: float
    kills: int
    parties: dict[str, PartyReport]
    account: Mapping[str, float | int | str | None] | None = None


class DemoRun:
    """One run. It calls `look` often, which raises once somebody has asked to stop."""

    def __init__(
        self,
        federation: Federation,
        protocol: SecureProtocol,
        budget: int,
        look: Callable[[], None],
        view: DemoView,
    ) -> None:
        self._federation = federation
        self._protocol = protocol
        self._budget = budget
        self._look = look
        self._view = view
        self._journals = Journals(federation)
        self._crashes: Crashes | None = None
        self._began = self._shown = self._moved = 0.0
        self._last = (-1, 0)

    def run(self, *, kill: bool) -> DemoOutcome:
        """Run everything from the keys to the total, and leave no process behind."""
        self._view.show(Scene("making keys and certificates", {}))
        self._federation.prepare()
        with closing(self._federation):
            watch = Watch(self._federation)
            run = self._start(watch)
            if kill:
                self._crashes = self._crashes_of(run)
            self._until_finished(watch, run)
            standings = self._settled(run)
            reward = self._journals.total(run)
            arms = self._journals.trajectory(run, self._budget)
            account = self._journals.plan(run).account
        hub = standings[self._federation.hubs[0]]
        opener = standings[self._federation.opener]
        return DemoOutcome(
            run=run,
            reward=reward,
            arms=arms,
            seconds=hub.changed - hub.began,
            kills=sum(kill.moment < opener.changed for kill in self._kills()),
            parties={name: self._report(name, found) for name, found in standings.items()},
            account=account,
        )

    def _start(self, watch: Watch) -> str:
        """Start every process and wait until one of them has opened the run."""
        federation = self._federation
        for name in federation.kits:
            self._look()
            if name != federation.opener:
                federation.serve(name)
        name = PROTOCOLS.name_of(type(self._protocol))
        order = [name, "--budget", str(self._budget)]
        order += ["--policy", to_text(self._protocol.policy), "--form", self._protocol.form]
        federation.launch(federation.opener, "start", *order, "--json", "--log-level", "info")
        stage = f"starting {len(federation.kits)} processes, one for each party"
        while (run := self._journals.run()) is None:
            self._wait()
            if self._time_to_show():
                self._view.show(Scene(stage, watch.states(None)))
        return run

    def _crashes_of(self, run: str) -> Crashes:
        return Crashes.spread(
            self._federation,
            run,
            budget=self._budget,
            kills=KILLS,
            most=MOST_AT_ONCE,
            again=AGAIN,
            random=Random(secrets.randbits(32)),  # noqa: S311
        )

    def _until_finished(self, watch: Watch, run: str) -> None:
        self._began = time.monotonic()
        stage = f"running{', with crashes' if self._crashes else ''} (run {run[:8]})"
        while not self._journals.finished(run):
            self._wait()
            t = self._journals.round(run)
            if self._crashes is not None:
                self._crashes.step(t)
            self._check_that_it_moves(t)
            if self._time_to_show():
                rate = t / (time.monotonic() - self._began)
                names = [kill.name for kill in self._kills()]
                self._view.show(Scene(stage, watch.states(run), t, rate, names))

    def _check_that_it_moves(self, t: int) -> None:
        """Raise if nothing has happened for too long, instead of waiting for ever."""
        now, mark = time.monotonic(), (t, len(self._kills()))
        if mark != self._last:
            self._last, self._moved = mark, now
        elif now - self._moved > STALL_SECONDS:
            logs = "; ".join(
                f"{name}: {' / '.join(self._federation.last_words(name, 1))}"
                for name in self._federation.kits
            )
            raise RunEndedError(
                f"nothing has happened for {STALL_SECONDS:g} s after round {t}, although all "
                f"parties are running; their logs end with {logs}"
            )

    def _settled(self, run: str) -> dict[str, Standing]:
        """How the run stands at each party, once all have finished."""
        if self._crashes is not None:
            self._crashes.restart_all()
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline:
            standings = {name: self._journals.standing(name, run) for name in self._federation.kits}
            found = {name: one for name, one in standings.items() if one is not None}
            if len(found) == len(standings) and all(one.finished for one in found.values()):
                return found
            self._wait()
        unfinished = [name for name, one in standings.items() if one is None or not one.finished]
        raise RunEndedError(
            f"the run has its total, but {', '.join(unfinished)} did not finish within "
            f"{SETTLE_SECONDS:g} s: the machine may be busy; try again, or give a smaller --budget"
        )

    def _wait(self) -> None:
        """Wait a little; raise if a party has ended by itself meanwhile."""
        self._look()
        away = self._crashes.away_now() if self._crashes is not None else set()
        for name in self._federation.kits:
            gone = name not in away and not self._federation.running(name)
            if gone and (name != self._federation.opener or self._federation.exit_code(name)):
                raise self._federation.complaint(name)
        time.sleep(LOOK_SECONDS)

    def _time_to_show(self) -> bool:
        if time.monotonic() - self._shown < SHOW_SECONDS:
            return False
        self._shown = time.monotonic()
        return True

    def _kills(self) -> list[Kill]:
        return self._crashes.kills if self._crashes is not None else []

    def _report(self, name: str, standing: Standing) -> PartyReport:
        spent = self._federation.spent[name]
        return PartyReport(
            role=self._federation.members[name],
            cpu_seconds=spent.cpu_seconds,
            messages_sent=standing.messages_sent,
            bytes_sent=standing.bytes_sent,
            starts=spent.starts,
        )
