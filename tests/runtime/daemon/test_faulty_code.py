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
from lotor.core.effects import Steps
from lotor.core.errors import CryptoError, JournalWriteError
from lotor.protocols.form import AnyForm, Assignment
from lotor.protocols.party import Party
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon.commands import Approve, Refuse
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.durable.journal import FAILED, FINISHED, REFUSED, RUNNING, WAITING
from lotor.transport import MemoryNetwork
from runtime.daemon.test_toy import TOYS, order, toy_group
from toy import Toy, ToyForm, ToyParty

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


async def restart(group: DaemonGroup, protocol: type[Toy], *, consents: bool = True) -> None:
    """Start carl anew with this code, and perhaps without rules of consent."""
    at_anna = group.nodes["anna"].connections.transport
    await until(lambda: at_anna.session("carl") > 0)
    before = at_anna.session("carl")
    await group.down("carl")
    path = group.kits["carl"] / "party.toml"
    if not consents:
        write_config(path, msgspec.structs.replace(read_config(path), consent=None))
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
