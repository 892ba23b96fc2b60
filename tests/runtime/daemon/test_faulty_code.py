"""A fault in somebody's protocol ends one run, and neither a daemon nor its connections."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from daemons import DaemonGroup, until
from lotor.core.effects import Decision, Pull, Receive, Steps
from lotor.core.errors import CryptoError, JournalWriteError, TransportError
from lotor.protocols.form import AnyForm, Assignment
from lotor.protocols.party import Party
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon.commands import Approve, Refuse
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.frames import Join
from lotor.runtime.durable.journal import FAILED, FINISHED, REFUSED, RUNNING, WAITING
from lotor.transport import MemoryNetwork
from runtime.daemon.clocks import ManualClock
from runtime.daemon.test_toy import TOYS, order, toy_group
from toy import Number, Toy, ToyForm, ToyParty

WORDS = "what nobody may read"
FAULTS = [
    pytest.param(KeyError(WORDS), "failed with KeyError: report this", id="unforeseen"),
    pytest.param(CryptoError("no random numbers"), "no random numbers", id="foreseen"),
]


def faulty(error: Exception, *, when: Callable[[bytes | None], bool]) -> type[Toy]:
    """The toy whose parties fail before their first step if they begin from some snapshots."""

    class FaultyParty(ToyParty):
        def steps(self) -> Steps[object]:
            raise error

    class FaultyForm(ToyForm):
        def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
            if when(snapshot):
                return FaultyParty(assignment.seat, assignment.run, 1, snapshot)
            return super().build(assignment, snapshot)

    class FaultyToy(Toy):
        forms: ClassVar[Mapping[str, type[AnyForm]]] = {"paper": FaultyForm}

    return FaultyToy


def when_new(snapshot: bytes | None) -> bool:
    return snapshot is None


def when_resumed(snapshot: bytes | None) -> bool:
    return snapshot is not None


@pytest.fixture(autouse=True)
def _same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all parties had the code that is at fault for one of them."""
    monkeypatch.setattr(announcement, "fingerprints_of", lambda *_: ())


@asynccontextmanager
async def toys(folder: Path) -> AsyncIterator[DaemonGroup]:
    group = await toy_group(folder, MemoryNetwork().join)
    try:
        yield group
    finally:
        await group.down()


async def restart(
    group: DaemonGroup, protocol: type[Toy], *, consents: bool = True, tick: float = 0.0
) -> None:
    """Start carl anew with this code, and perhaps without rules of consent."""
    at_anna = group.nodes["anna"].connections.transport
    await until(lambda: at_anna.session("carl") > 0)
    before = at_anna.session("carl")
    await group.down("carl")
    path = group.kits["carl"] / "party.toml"
    config = read_config(path)
    assert config.owner is not None
    write_config(
        path,
        msgspec.structs.replace(
            config,
            consent=config.consent if consents else None,
            owner=msgspec.structs.replace(config.owner, tick=tick),
        ),
    )
    group.protocols = {"toy": protocol}
    await group.up("carl")
    group.protocols = TOYS
    await until(lambda: at_anna.session("carl") > before)


@pytest.mark.parametrize(("error", "said"), FAULTS)
def test_a_party_whose_code_fails_at_an_announcement_declines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception, said: str
) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            await restart(group, faulty(error, when=when_new))
            sessions = group.nodes["anna"].connections.transport.session("carl")
            run = group.order("anna", order(3))
            live = await group.state("anna", run, REFUSED)
            assert live.note.startswith("adder: ")
            assert said in live.note
            assert run not in group.nodes["carl"].runs
            assert group.nodes["carl"].error is None
            assert group.nodes["anna"].connections.transport.session("carl") == sessions

    asyncio.run(scenario())
    assert WORDS not in caplog.text


@pytest.mark.parametrize(("error", "said"), FAULTS)
def test_a_party_whose_code_fails_at_an_approval_refuses(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception, said: str
) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            await restart(group, faulty(error, when=when_new), consents=False)
            carl = group.nodes["carl"]
            first, second = (group.order("anna", order(3)) for _ in range(2))
            for run in (first, second):
                await group.state("carl", run, WAITING)
            group.tell("carl", first, Approve())
            live = await group.state("anna", first, REFUSED)
            assert live.note.startswith("adder: ")
            assert said in live.note
            # The next command is carried out as ever.
            group.tell("carl", second, Refuse("not today"))
            await group.state("anna", second, REFUSED)
            assert carl.error is None
            assert not carl.journal.commands.waiting()

    asyncio.run(scenario())
    assert WORDS not in caplog.text


@pytest.mark.parametrize("consents", [True, False])
@pytest.mark.parametrize(("error", "said"), FAULTS)
def test_a_run_whose_party_cannot_begin_fails_for_all(
    tmp_path: Path, error: Exception, said: str, consents: bool
) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            await restart(group, faulty(error, when=when_resumed), consents=consents)
            run = group.order("anna", order(3))
            if not consents:
                await group.state("carl", run, WAITING)
                group.tell("carl", run, Approve())
            for name in ("carl", "anna"):
                live = await group.state(name, run, FAILED)
                assert said in live.note
                assert WORDS not in live.note
            assert group.nodes["carl"].error is None

    asyncio.run(scenario())


@pytest.mark.parametrize(("error", "said"), FAULTS)
def test_a_run_whose_party_cannot_be_restored_waits_for_other_code(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception, said: str
) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            run = group.order("anna", order(1000))
            live = await group.live("carl", run)
            await until(lambda: live.round > 20)
            with caplog.at_level(logging.ERROR, "lotor.daemon"):
                await restart(group, faulty(error, when=when_resumed))
            assert "cannot go on: " in caplog.text
            assert said in caplog.text
            assert group.nodes["carl"].journal.run(run).state == RUNNING
            await restart(group, Toy)
            await group.state("anna", run, FINISHED)

    asyncio.run(scenario())
    assert WORDS not in caplog.text


@pytest.mark.parametrize("consents", [True, False])
def test_a_party_that_cannot_write_stops_and_blames_nobody(tmp_path: Path, consents: bool) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            full = faulty(JournalWriteError("the disk is full"), when=when_new)
            await restart(group, full, consents=consents)
            carl = group.nodes["carl"]
            run = group.order("anna", order(3))
            if not consents:
                await group.state("carl", run, WAITING)
                group.tell("carl", run, Approve())
            await asyncio.wait_for(carl.ended.wait(), 90)
            assert str(carl.error) == "the disk is full"
            assert group.nodes["anna"].runs[run].state == RUNNING

    asyncio.run(scenario())


class FailingParty(ToyParty):
    """Fails in round 3, before or after its pull."""

    error: ClassVar[Exception]
    pulls: ClassVar[bool]

    def _add(self, t: int) -> Steps[None]:
        if t < 3:
            yield from super()._add(t)
            return
        yield Receive("doubler", Number)
        if self.pulls:
            yield Pull(Decision.named(self._run, t, 0))
        raise self.error


def failing(fault: Exception, *, after_pull: bool) -> type[Toy]:
    class ThisParty(FailingParty):
        error = fault
        pulls = after_pull

    class FailingForm(ToyForm):
        def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
            return ThisParty(assignment.seat, assignment.run, 5, snapshot)

    class FailingToy(Toy):
        forms: ClassVar[Mapping[str, type[AnyForm]]] = {"paper": FailingForm}

    return FailingToy


def full_disk(*_: object) -> None:
    raise JournalWriteError("the disk is full")


@pytest.mark.parametrize("after_pull", [False, True])
@pytest.mark.parametrize(("error", "said"), FAULTS)
def test_a_failed_run_is_never_taken_for_a_finished_one(
    tmp_path: Path, error: Exception, said: str, after_pull: bool
) -> None:
    """Although its end cannot be written down, whether a message or an answer led to it."""

    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            (group.kits["carl"] / "world.py").write_text(
                "async def pull(decision):\n    return 1.0\n"
            )
            faulty_toy = failing(error, after_pull=after_pull)
            await restart(group, faulty_toy)
            carl = group.nodes["carl"]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(carl.journal, "end", full_disk)
                run = group.order("anna", order(5))
                await asyncio.wait_for(carl.ended.wait(), 90)
                assert str(carl.error) == "the disk is full"
                carl.runs[run].advance()  # as any frame would
                assert carl.runs[run].state == carl.journal.run(run).state == RUNNING
            await restart(group, faulty_toy)
            for name in ("carl", "anna"):
                live = await group.state(name, run, FAILED)
                assert said in live.note

    asyncio.run(scenario())


def too_long(*_: object) -> None:
    raise TransportError("this message is too long")


async def answered_on_schedule(group: DaemonGroup) -> tuple[LiveRun, ManualClock]:
    """A run of which carl has an answer ready that must not leave yet."""
    group.clock = clock = ManualClock()
    await restart(group, Toy, tick=0.5)
    live = await group.live("carl", group.order("anna", order(5)))
    await until(lambda: live.round > 0 and not live.busy and clock.upcoming() is not None)
    return live, clock


def ring(clock: ManualClock) -> None:
    due = clock.upcoming()
    assert due is not None
    clock.set(due)


def test_a_peer_is_not_blamed_if_what_it_sent_cannot_be_written_down_later(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            live, clock = await answered_on_schedule(group)
            carl = group.nodes["carl"]
            assert live.host is not None
            link = live.host.links["caller"]
            live.joined("caller", Join(live.run, 1, link.known, 0, link.sent, link.acked))
            kicked = list[str]()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(live, "tell", full_disk)
                patch.setattr(
                    carl.connections.transport, "kick", lambda name, _: kicked.append(name)
                )
                ring(clock)
            assert str(carl.error) == "the disk is full"
            assert kicked == []

    asyncio.run(scenario())


def test_a_message_that_has_waited_and_is_too_long_ends_its_run_and_no_connection(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            anna = group.nodes["anna"]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(anna.connections.transport, "admits", lambda _: False)
                live = await group.live("anna", group.order("anna", order(3)))
                await until(lambda: live.host is not None and live.host.links["doubler"].unsent)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(live, "_send", too_long)
                anna._changed("bert")
            assert live.state == FAILED
            assert "this message is too long" in live.note
            assert anna.connections.transport.session("bert") == 1

    asyncio.run(scenario())


def test_a_daemon_stops_if_a_run_that_fails_in_an_alarm_cannot_be_ended(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            live, clock = await answered_on_schedule(group)
            carl = group.nodes["carl"]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(carl.journal, "end", full_disk)
                patch.setattr(live, "_send", too_long)
                ring(clock)
            assert str(carl.error) == "the disk is full"
            assert carl.journal.run(live.run).state == RUNNING

    asyncio.run(scenario())


def test_a_daemon_that_cannot_look_after_its_runs_stops(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise KeyError(WORDS)

    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            carl = group.nodes["carl"]
            monkeypatch.setattr(carl.connections, "end_untrusted", fail)
            await asyncio.wait_for(carl.ended.wait(), 90)
            assert "failed with KeyError: report this" in str(carl.error)

    asyncio.run(scenario())
    assert WORDS not in caplog.text
