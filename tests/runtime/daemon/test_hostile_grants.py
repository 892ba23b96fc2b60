"""Rounds on demand where somebody cheats: only the opener grants, in this run, and so many."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import lotor
from daemons import until
from lotor.core.errors import ProtocolError
from lotor.crypto.signing import Identity
from lotor.runtime.daemon.announcement import EVERYBODY
from lotor.runtime.daemon.commands import NextRounds
from lotor.runtime.daemon.frames import Grant, decode, encode
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.daemon.run_pacing import PURPOSE
from lotor.sandbox import Federation
from runtime.daemon.on_demand import ON_DEMAND, PacedRun

SEED, BUDGET = 7, 14


def signed(identity: Identity, run: str, rounds: int, purpose: str = PURPOSE) -> bytes:
    data = msgspec.msgpack.encode(rounds)
    return identity.sign(data, run=run, purpose=purpose, recipient=EVERYBODY)


def not_the_opener(live: LiveRun, opener: Identity) -> Grant:
    return Grant(live.run, 3, signed(live.agreement.identity, live.run, 3))


def altered(live: LiveRun, opener: Identity) -> Grant:
    return Grant(live.run, 4, signed(opener, live.run, 3))


def of_another_run(live: LiveRun, opener: Identity) -> Grant:
    return Grant(live.run, 3, signed(opener, "ab" * 16, 3))


def for_another_purpose(live: LiveRun, opener: Identity) -> Grant:
    return Grant(live.run, 3, signed(opener, live.run, 3, "status"))


def more_than_there_are(live: LiveRun, opener: Identity) -> Grant:
    return Grant(live.run, 2**62, signed(opener, live.run, 2**62))


HOSTILE: list[Callable[[LiveRun, Identity], Grant]] = [
    not_the_opener,
    altered,
    of_another_run,
    for_another_purpose,
    more_than_there_are,
]


@pytest.mark.parametrize("pace", [ON_DEMAND, Pace(3600.0)], ids=["on demand", "at a pace"])
def test_a_grant_that_is_not_the_openers_is_refused_and_changes_nothing(
    pace: Pace, tmp_path: Path
) -> None:
    made = Federation.of(tmp_path / "f", lotor.Samba(), budget=BUDGET, seed=SEED)
    made.prepare()
    run = PacedRun(made, lotor.Samba())

    async def scenario() -> None:
        try:
            first = await run.begin(BUDGET, pace)
            await run.waits_after(first + (pace != ON_DEMAND))
            live = run.group.nodes["controller"].runs[run.id]
            opener = run.group.nodes["customer"].runs[run.id].agreement.identity
            record = run.group.nodes["controller"].journal.pacing(run.id)
            before = live.pacing.gate.held, record.read()
            for hostile in HOSTILE:
                with pytest.raises(ProtocolError, match=r"lyon sent a grant of"):
                    live.heard(hostile(live, opener), "lyon")
                assert (live.pacing.gate.held, record.read()) == before
            # It is what ends the connection of whoever sends it, too.
            liar = run.group.nodes["lyon"]
            session = liar.connections.transport.session("controller")
            liar.connections.send("controller", not_the_opener(liar.runs[run.id], opener))
            await until(lambda: liar.connections.transport.session("controller") > session)
            assert (live.pacing.gate.held, record.read()) == before
        finally:
            await run.group.down()

    asyncio.run(scenario())


def test_an_older_grant_changes_nothing_and_only_the_opener_may_order_one(tmp_path: Path) -> None:
    made = Federation.of(tmp_path / "f", lotor.Samba(), budget=BUDGET, seed=SEED)
    made.prepare()
    run = PacedRun(made, lotor.Samba())

    async def scenario() -> None:
        try:
            first = await run.begin(BUDGET)
            await run.waits_after(first)
            run.group.tell("customer", run.id, NextRounds(2))
            await run.waits_after(first + 2)
            live = run.group.nodes["controller"].runs[run.id]
            opener = run.group.nodes["customer"].runs[run.id].agreement.identity
            live.heard(Grant(run.id, 1, signed(opener, run.id, 1)), "customer")
            assert live.pacing.gate.granted == 2
            run.group.tell("lyon", run.id, NextRounds(2))
            await until(lambda: not run.group.nodes["lyon"].journal.commands.waiting())
            assert run.gates()["lyon"].granted == 2
        finally:
            await run.group.down()

    asyncio.run(scenario())


@pytest.mark.parametrize("rounds", [-1, 2**63, 2**64, 1.5, "3", None])
def test_a_grant_that_is_no_count_is_no_frame(rounds: object) -> None:
    good = msgspec.msgpack.decode(encode(Grant("ab" * 16, 3, b"signed")))
    assert decode(msgspec.msgpack.encode(good), "lyon") == Grant("ab" * 16, 3, b"signed")
    hostile = [rounds if one == 3 else one for one in good]
    with pytest.raises((ProtocolError, OverflowError)):
        decode(msgspec.msgpack.encode(hostile), "lyon")
