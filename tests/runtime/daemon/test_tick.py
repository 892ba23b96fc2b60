"""Owners that answer on a schedule, among others that do not: what they say tells no pull."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from lotor.core.errors import TransportError
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.frames import Ask, Roster
from lotor.runtime.daemon.status import IN_DOUBT
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.journal import RUNNING, STOPPED
from runtime.daemon.clocks import ManualClock
from runtime.daemon.hostile import MeddlingTransport, Sent, Twist
from runtime.daemon.stage import BUDGET, HELD_AFTER, MEANS, Stage, play
from runtime.daemon.waiting import until

TICK = 0.5
OTHERS = ("controller", "comp", "customer")


class Schedule:
    """The clocks of both owners, and what each of them has sent in runs."""

    def __init__(self, made: Stage) -> None:
        self.made = made
        self.clocks = {name: ManualClock() for name in MEANS}
        self.sent: dict[str, list[RunFrame]] = {name: [] for name in MEANS}

    async def start(self, *, repeatable: bool = True) -> None:
        for name in MEANS:
            path = self.made.kit(name) / "party.toml"
            config = read_config(path)
            assert config.owner is not None
            owner = msgspec.structs.replace(config.owner, tick=TICK, repeatable=repeatable)
            write_config(path, msgspec.structs.replace(config, owner=owner))
            await self.serve(name)

    async def serve(self, name: str) -> None:
        await self.made.start(name, transport=MeddlingTransport, clock=self.clocks[name])
        self.made.meddle(name, self._noting(name))

    def _noting(self, name: str) -> Twist:
        def twist(to: str, frame: RunFrame) -> Sent:
            if isinstance(frame, Data | Ack | Join | Roster):
                self.sent[name].append(frame)
            return [frame]

        return twist

    def due(self, name: str) -> float:
        due = self.clocks[name].upcoming()
        assert due is not None
        return due

    def ready(self, run: str, *names: str) -> bool:
        """Whether owners have answered, and must not say so yet."""
        lives = [self.made.nodes[name].runs.get(run) for name in names]
        return all(live is not None and not live.busy for live in lives) and all(
            self.clocks[name].upcoming() is not None for name in names
        )

    def asked(self, run: str, name: str) -> bool:
        """Whether an owner is being asked for a reward that takes long."""
        live = self.made.nodes[name].runs.get(run)
        host = live.host if live is not None else None
        if host is None or host.asked is None or host.round <= HELD_AFTER:
            return False
        return host.asked.decision is not None

    def leave(self, *names: str) -> None:
        """Let time pass until frames may leave."""
        for name in names:
            self.clocks[name].set(self.due(name))

    async def to_round(self, run: str, t: int) -> None:
        """Until both owners are ready in round t, and nothing of it has left."""
        while True:
            await until(lambda: self.ready(run, *MEANS))
            if self.made.live("lyon", run).round == t:
                return
            self.leave(*MEANS)

    async def to_the_end(self, run: str) -> None:
        over = asyncio.ensure_future(self.made.finishes(run))
        while not over.done():
            await until(lambda: over.done() or self.ready(run, *MEANS))
            if not over.done():
                self.leave(*MEANS)
        await over

    async def heard(self, name: str) -> None:
        """Until an owner has handled all that the controller has sent it so far, or refused it."""
        transport = self.made.nodes[name].connections.transport
        session = transport.session("controller")
        self.sent[name].clear()
        self.made.controller.connections.send(name, Ask(""))
        await until(
            lambda: (
                any(isinstance(frame, Roster) for frame in self.sent[name])
                or transport.session("controller") != session
            )
        )

    def said(self, name: str) -> list[type[RunFrame]]:
        """What an owner has sent in the run since it was last looked at."""
        kinds = [type(frame) for frame in self.sent[name] if not isinstance(frame, Roster)]
        self.sent[name].clear()
        return kinds


@pytest.mark.parametrize("repeatable", [True, False])
def test_a_run_on_a_schedule_equals_plain_and_nothing_leaves_early(
    repeatable: bool, tmp_path: Path
) -> None:
    async def scene(made: Stage) -> None:
        schedule = Schedule(made)
        await schedule.start(repeatable=repeatable)
        run = await made.order()
        begun = {name: clock.now() for name, clock in schedule.clocks.items()}
        for t in range(3, BUDGET + 1):
            await schedule.to_round(run, t)
            for name in MEANS:
                assert schedule.said(name) == [] or t == 3  # the setup, and the first score
                assert made.live(name, run).state == RUNNING
            hosts = [made.host(name, run) for name in MEANS]
            if t < BUDGET:
                assert [host.round for host in hosts] == [t + 1, t + 1]  # all is computed
            else:
                assert all(host.finished for host in hosts)
            schedule.leave(*MEANS)
            for name in MEANS:
                assert schedule.said(name)[0] is Data
        await made.finishes(run)
        # One tick for the owner's first pull, and one for every round: no answer was waited for.
        for name, clock in schedule.clocks.items():
            assert clock.now() == pytest.approx(begun[name] + TICK * (BUDGET - len(MEANS) + 1))

    play(scene, tmp_path, *OTHERS)


def test_a_peer_that_comes_back_is_told_nothing_before_the_time(tmp_path: Path) -> None:
    """Its counters would tell whether the answer is written down already."""

    async def scene(made: Stage) -> None:
        schedule = Schedule(made)
        await schedule.start()
        run = await made.order()
        await schedule.to_round(run, 5)
        made.controller.connections.transport.kick("lyon", TransportError("try again"))
        transport = made.nodes["lyon"].connections.transport
        await until(lambda: transport.session("controller") == 2)
        await until(lambda: "lyon" in made.controller.connections.names())
        await schedule.heard("lyon")
        assert schedule.said("lyon") == []
        schedule.leave("lyon")
        join, *again = schedule.said("lyon")
        assert (join, set(again)) == (Join, {Data})
        schedule.leave("porto")
        await schedule.to_the_end(run)

    play(scene, tmp_path, *OTHERS)


def test_what_waits_for_a_connection_does_not_leave_before_the_time(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        schedule = Schedule(made)
        await schedule.start()
        run = await made.order()
        await schedule.to_round(run, 4)
        lyon = made.nodes["lyon"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lyon.connections.transport, "admits", lambda _: False)
            schedule.leave(*MEANS)
            await schedule.to_round(run, 5)
        assert made.host("lyon", run).links["controller"].unsent
        await schedule.heard("lyon")  # and with that, that the connection admits frames again
        assert schedule.said("lyon") == []
        schedule.leave("lyon")
        assert schedule.said("lyon") == [Data]
        schedule.leave("porto")
        await schedule.to_the_end(run)

    play(scene, tmp_path, *OTHERS)


@pytest.mark.parametrize("ahead", [1, 2])
def test_what_a_peer_acknowledges_too_early_tells_it_nothing(ahead: int, tmp_path: Path) -> None:
    """The next message is computed already in a round without a pull, and not yet in others."""

    async def scene(made: Stage) -> None:
        schedule = Schedule(made)
        await schedule.start()
        run = await made.order()
        await schedule.to_round(run, 5)
        sent = made.host("lyon", run).links["controller"].sent  # the held one counts
        forged = Ack(run, sent - 1 + ahead, made.host("controller", run)._record.commits)
        made.controller.connections.send("lyon", forged)
        await schedule.heard("lyon")
        assert not made.logged("controller acknowledges message")
        schedule.leave(*MEANS)
        assert made.logged("controller acknowledges message") is (ahead == 2)
        await schedule.to_the_end(run)

    play(scene, tmp_path, *OTHERS)


def test_a_pull_that_is_late_shows_in_whole_ticks_only(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        schedule = Schedule(made)
        await schedule.start()
        made.hold("porto")
        run = await made.order()
        await until(lambda: schedule.ready(run, *MEANS))
        while not schedule.asked(run, "porto"):
            await until(lambda: schedule.ready(run, *MEANS) or schedule.asked(run, "porto"))
            if not schedule.asked(run, "porto"):
                schedule.leave(*MEANS)
        await until(lambda: schedule.ready(run, "lyon"))
        schedule.leave("lyon")
        clock, due = schedule.clocks["porto"], schedule.due("porto")
        schedule.said("porto")
        clock.set(due + 0.2)
        assert clock.upcoming() is None
        made.release("porto")
        await until(lambda: schedule.ready(run, "porto"))
        assert made.logged("longer than the tick of 0.5 s")
        assert schedule.said("porto") == []
        assert schedule.due("porto") == pytest.approx(due + TICK)
        schedule.leave("porto")
        assert schedule.said("porto") == [Data]
        await schedule.to_the_end(run)

    play(scene, tmp_path, *OTHERS)


def test_a_function_that_fails_tells_nobody_before_its_time(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        schedule = Schedule(made)
        await schedule.start()
        made.hold("porto")
        run = await made.order()
        while not schedule.asked(run, "porto"):
            await until(lambda: schedule.ready(run, *MEANS) or schedule.asked(run, "porto"))
            if not schedule.asked(run, "porto"):
                schedule.leave(*MEANS)
        live, due = made.live("porto", run), schedule.due("porto")
        driver = live._driver
        assert driver is not None
        assert driver._answerer is not None
        driver._answerer._tell("it failed; asked again in 1 s")
        live.look_after()
        own = live.statuses.own
        assert own is not None
        assert (live.note, own.state) == (driver.trouble, RUNNING)
        schedule.clocks["porto"].set(due)
        live.look_after()
        own = live.statuses.own
        assert own is not None
        assert own.state == IN_DOUBT
        driver._answerer._tell("")
        made.release("porto")
        await schedule.to_the_end(run)

    play(scene, tmp_path, *OTHERS)


def test_a_run_that_is_stopped_meanwhile_sends_nothing_more(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        schedule = Schedule(made)
        await schedule.start()
        run = await made.order()
        await schedule.to_round(run, 5)
        for frames in schedule.sent.values():
            frames.clear()
        made.live("customer", run).end(STOPPED, "enough")
        await made.ended(run)
        assert [clock.upcoming() for clock in schedule.clocks.values()] == [None, None]
        for clock in schedule.clocks.values():
            clock.set(clock.now() + 10 * TICK)
        assert [schedule.said(name) for name in MEANS] == [[], []]

    play(scene, tmp_path, *OTHERS)


@pytest.mark.parametrize("repeatable", [True, False])
def test_a_party_that_is_killed_while_frames_are_held_sends_them_later(
    repeatable: bool, tmp_path: Path
) -> None:
    async def scene(made: Stage) -> None:
        schedule = Schedule(made)
        await schedule.start(repeatable=repeatable)
        run = await made.order()
        await schedule.to_round(run, 5)
        await made.stop("lyon")
        schedule.clocks["lyon"] = ManualClock()
        await schedule.serve("lyon")
        schedule.leave("porto")
        await schedule.to_the_end(run)

    play(scene, tmp_path, *OTHERS)
