"""Daemons compute a run with the code that it was announced with, and with no other."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from daemons import DaemonGroup, until
from lotor.core.fingerprint import CodeFingerprint, fingerprints_of
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon.commands import Stop
from lotor.runtime.daemon.local import run_document
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.daemon.status import BLOCKED
from lotor.runtime.durable.journal import FINISHED, REFUSED, RUNNING, STOPPED
from lotor.transport import MemoryNetwork
from runtime.daemon.test_toy import ROLES, TOYS, expected, order, toy_group
from toy import Toy

OLD = CodeFingerprint("toys", "1.0", "0a" * 32)
NEW = CodeFingerprint("toys", "1.0", "0b" * 32)
DIFFER = f"was announced with {OLD}, and carl has {NEW}: install the same code at carl"


class ChangedToy(Toy):
    """The toy, after somebody has edited it."""


class LostToy(Toy):
    """The toy, after its files were moved away."""

    __module__ = "toys_of_tests.lost"


@pytest.fixture(autouse=True)
def _two_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[object, tuple[CodeFingerprint, ...]] = {Toy: (OLD,), ChangedToy: (NEW,)}

    def fingerprints(protocol: type, *others: type) -> tuple[CodeFingerprint, ...]:
        return known.get(protocol) or fingerprints_of(protocol, *others)

    monkeypatch.setattr(announcement, "fingerprints_of", fingerprints)


@asynccontextmanager
async def toys(folder: Path) -> AsyncIterator[DaemonGroup]:
    group = await toy_group(folder, MemoryNetwork().join)
    try:
        yield group
    finally:
        await group.down()


async def restart(group: DaemonGroup, name: str, protocol: type[Toy]) -> None:
    """Start a party anew with this code."""
    await group.down(name)
    group.protocols = {"toy": protocol}
    await group.up(name)
    group.protocols = TOYS


def shown(group: DaemonGroup, name: str, run: str) -> dict[str, object]:
    """What `lotor runs show` says with the changed code."""
    with pytest.MonkeyPatch.context() as patch, open_kit(group.kits[name]) as at:
        patch.setattr(run_document, "PROTOCOLS", {"toy": ChangedToy})
        row = at.journal.find(run)
        assert row is not None
        return run_document.described(at, row, served=False)


def test_a_party_with_other_code_declines_and_can_do_the_next_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            await restart(group, "carl", ChangedToy)
            run = group.order("anna", order(3))
            for name in ("anna", "bert"):
                live = await group.state(name, run, REFUSED)
                assert live.note.startswith("adder: ")
                assert DIFFER in live.note
            assert run not in group.nodes["carl"].runs
            assert group.nodes["carl"].journal.find(run) is None
            await restart(group, "carl", Toy)
            await group.state("anna", group.order("anna", order(3)), FINISHED)

    asyncio.run(scenario())


def test_a_party_that_cannot_find_its_code_says_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            await restart(group, "carl", LostToy)
            run = group.order("anna", order(3))
            live = await group.state("anna", run, REFUSED)
            assert live.note.startswith("adder: the code of toys_of_tests cannot be found")
            assert "carl" in group.nodes["anna"].connections.names()

    asyncio.run(scenario())


def test_a_run_waits_for_the_code_that_it_began_with(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            run = group.order("anna", order(1000))
            live = await group.live("carl", run)
            await until(lambda: live.round > 20)
            with caplog.at_level(logging.ERROR, "lotor.daemon"):
                await restart(group, "carl", ChangedToy)
            (said,) = {one.getMessage() for one in caplog.records}
            assert "cannot go on: " in said
            assert DIFFER in said
            row = group.nodes["carl"].journal.find(run)
            assert row is not None
            assert row.state == RUNNING
            document = shown(group, "carl", run)
            assert (document["state"], document["budget"]) == (RUNNING, 1000)
            anna = group.nodes["anna"].runs[run]
            await until(lambda: anna.statuses.known["adder"].state == BLOCKED)
            await restart(group, "carl", Toy)
            await group.state("anna", run, FINISHED)
            assert group.nodes["anna"].journal.output(run) == expected(1000)

    asyncio.run(scenario())


@pytest.mark.parametrize("state", [FINISHED, STOPPED])
def test_a_run_that_is_over_can_be_read_with_any_code(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, state: str
) -> None:
    async def scenario() -> None:
        async with toys(tmp_path / "f") as group:
            run = group.order("anna", order(3 if state == FINISHED else 10**6))
            if state == STOPPED:
                await group.live("anna", run)
                group.tell("anna", run, Stop("enough"))
            for name in ROLES:
                await group.state(name, run, state)
            caplog.clear()
            with caplog.at_level(logging.ERROR, "lotor.daemon"):
                for name in ROLES:
                    await restart(group, name, ChangedToy)
                    assert group.nodes[name].runs[run].state == state
            assert not caplog.records
            document = shown(group, "anna", run)
            assert (document["state"], document["protocol"]) == (state, "toy")
            assert document["reward"] == (expected(3) if state == FINISHED else None)

    asyncio.run(scenario())
