"""HELBA's parties as daemons: the arms and the total of plain, whoever comes and goes."""

import asyncio
import json
import sqlite3
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

import lotor
from daemons import SandboxDaemons, until
from lotor.policies import BatchedOFUL, to_text
from lotor.protocols.form import AnyForm
from lotor.protocols.helba.demo import one_user
from lotor.protocols.helba.paper import server_state, wire
from lotor.protocols.helba.paper.estimators import DividedEstimator
from lotor.protocols.helba.paper.form import HelbaPaper
from lotor.protocols.helba.paper.server import HelbaServer
from lotor.protocols.helba.paper.server_state import HelbaServerMemory
from lotor.runtime.daemon.commands import StartRun, Stop
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.status import BLOCKED
from lotor.runtime.durable.journal import FINISHED, RUNNING, STOPPED
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals
from protocols.helba.stage import DEGREE, paper, small, some_contexts

BUDGET, SEED = 6, 1
TOY = lotor.LinearContexts.toy(BUDGET, seed=5)
OPTIONS: dict[str, str | int] = {"policy": "batched-oful:eta=0.5", "stages": 3}
HELD = """
import time

_offered = features


def features(decision):
    while decision.round > 3 and (_here / "hold").exists():
        time.sleep(0.01)
    return _offered(decision)
"""


class SmallPaper(HelbaPaper):
    def __init__(self) -> None:
        super().__init__(insecure_degree=DEGREE)


class SmallHelba(lotor.Helba):
    """HELBA in a ring so small that tests are done soon."""

    forms: ClassVar[Mapping[str, type[AnyForm]]] = {"paper": SmallPaper}  # type: ignore[assignment]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Federation:
    """Kits, and windows so small that every upload has several."""
    monkeypatch.setattr(wire, "PART_BYTES", 100_000)
    monkeypatch.setattr(wire, "WINDOW_BYTES", 300_000)
    monkeypatch.setattr(server_state, "REWRITE_ROUNDS", 2)
    federation = Federation(tmp_path / "f", HelbaPaper(), one_user(TOY, seed=SEED), SEED)
    federation.prepare()
    return federation


@contextmanager
def held(made: Federation) -> Iterator[Path]:
    """A user who has nothing to offer after the third round while a file is there."""
    kit = made.kits["user"]
    module, hold = kit / "visits.py", kit / "hold"
    module.write_text(module.read_text() + HELD)
    hold.touch()
    try:
        yield hold
    finally:
        hold.unlink(missing_ok=True)


def lodgers(made: Federation) -> SandboxDaemons:
    return SandboxDaemons.of(made, {"helba": SmallHelba})


async def steps_end() -> None:
    """Wait for the threads of parties that were in a step when their daemon closed."""
    for thread in threading.enumerate():
        if thread.name == "lotor-step":
            await asyncio.to_thread(thread.join)


def ordered(
    group: SandboxDaemons,
    made: Federation,
    options: dict[str, str | int] = OPTIONS,
    budget: int = BUDGET,
) -> str:
    listed = read_config(made.kits["user"] / "party.toml").members
    members = {role: list(names) for role, names in listed.items()}
    return group.order("user", StartRun("helba", budget, {**options, "form": "paper"}, members))


def plain(policy: BatchedOFUL) -> lotor.Result:
    return lotor.run(small(policy).plain(), TOY, budget=BUDGET, seed=SEED)


def went_on(live: LiveRun, t: int) -> bool:
    return live.round > t or live.state != RUNNING


async def finishes(group: SandboxDaemons, run: str) -> None:
    for name in ("user", "server", "key-authority"):
        live = await group.live(name, run)
        await until(lambda live=live: live.state != RUNNING, seconds=120)  # type: ignore[misc]
        assert (live.state, live.note) == (FINISHED, "")


def stored(made: Federation, name: str) -> Iterator[tuple[Path, bytes]]:
    for path in (made.kits[name] / "state" / "store").glob("*/*"):
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # a step that is under way has given it its name, or dropped it
            continue
        yield path, data


def restarted(made: Federation, options: dict[str, str | int]) -> str:
    """A run in which parties go and come back."""

    async def scenario() -> str:
        group = lodgers(made)
        try:
            await group.up()
            run = ordered(group, made, options)
            for name in ("server", "user", "server"):
                live = await group.live(name, run)
                await until(partial(went_on, live, live.round))
                await group.down(name)
                await group.up(name)
            await finishes(group, run)
            return run
        finally:
            await group.down()

    return asyncio.run(scenario())


def test_daemons_equal_plain_though_each_is_restarted(made: Federation) -> None:
    run, exact = restarted(made, OPTIONS), plain(BatchedOFUL(eta=0.5))
    journals = Journals(made)
    assert journals.trajectory(run, BUDGET) == exact.arms
    assert journals.total(run) == exact.reward
    # Nothing of a run is left once it is over.
    for name in made.members:
        assert not list(stored(made, name))


@pytest.mark.long
def test_a_server_computes_with_as_many_processes_as_it_may(tmp_path: Path) -> None:
    """For d = 3; it is restarted, too, and leaves none behind."""
    arms = some_contexts(3, rounds=3, arms=2, d=3)
    made = Federation(tmp_path / "f", HelbaPaper(), one_user(arms, seed=SEED), SEED)
    made.prepare()
    path = made.kits["server"] / "party.toml"
    config = read_config(path)
    limits = msgspec.structs.replace(config.limits, workers=2)
    write_config(path, msgspec.structs.replace(config, limits=limits))

    async def scenario() -> str:
        group = lodgers(made)
        try:
            await group.up()
            run = ordered(group, made, {"stages": 2, "noise_bits": 12}, budget=3)
            live = await group.live("server", run)
            await until(partial(went_on, live, 1))
            assert live.host is not None
            assert isinstance(live.host.party, HelbaServer)
            assert isinstance(live.host.party._estimator, DividedEstimator)
            await group.down("server")
            await group.up("server")
            await finishes(group, run)
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    helba = small(stages=2, noise_bits=12)
    exact = lotor.run(helba.plain(), arms, budget=3, seed=SEED)
    assert Journals(made).trajectory(run, 3) == exact.arms


@pytest.mark.long
def test_so_they_do_with_the_papers_index(
    made: Federation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "WINDOW_BYTES", 700_000)
    policy = paper(1.0, 2.0)
    run, exact = restarted(made, {"policy": to_text(policy)}), plain(policy)
    journals = Journals(made)
    assert journals.trajectory(run, BUDGET) == exact.arms
    assert journals.total(run) == exact.reward


def test_the_servers_disk_has_ciphertexts_and_public_things_only(made: Federation) -> None:
    async def scenario() -> tuple[bytes, bytes, HelbaServerMemory, dict[str, bytes]]:
        group = lodgers(made)
        try:
            await group.up()
            run = ordered(group, made)
            live = await group.live("server", run)
            await until(lambda: live.round >= 3)
            await group.down()
            # A party that was in a step still writes into its store until that is over.
            await steps_end()
            path = made.kits["server"] / "state" / "journal.db"
            journal = b"".join(
                file.read_bytes() for file in path.parent.glob("journal.db*") if file.is_file()
            )
            with closing(sqlite3.connect(path)) as database:
                (snapshot,) = database.execute("SELECT snapshot FROM progress").fetchone()
            memory = msgspec.msgpack.decode(snapshot, type=HelbaServerMemory)
            files = {path.name: data for path, data in stored(made, "server")}
            (secret,) = [data for _, data in stored(made, "user")]
            return journal, secret, memory, files
        finally:
            await group.down()

    with held(made):
        journal, secret, memory, files = asyncio.run(scenario())
    assert memory.keys
    assert set(memory.names()) <= set(files)
    for name, data in files.items():
        # A ciphertext, maybe the beginning of one.
        assert name in memory.keys or b"LCks\x01\x04".startswith(data[:6])
    whole = journal + b"".join(files.values())
    assert secret[-2000:-1000] not in whole
    table = json.loads((made.kits["user"] / "table.json").read_text())
    for one in table.values():
        for number in (*one["contexts"], *one["rewards"]):
            assert struct.pack("<d", number) not in whole
            assert repr(number).encode() not in whole


def test_a_damaged_store_holds_the_run_up_until_it_is_mended(made: Federation) -> None:
    async def scenario(hold: Path) -> None:
        group = lodgers(made)
        try:
            await group.up()
            run = ordered(group, made)
            live = await group.live("server", run)
            await until(lambda: live.round >= 2)
            await group.down("server")
            await steps_end()
            path, data = max(stored(made, "server"), key=lambda item: len(item[1]))
            path.write_bytes(data[:-1])
            await group.up("server")
            live = await group.live("server", run)
            await until(lambda: live._told().state == BLOCKED)
            assert (live.state, live.host) == (RUNNING, None)
            assert "see its log" in live.note
            user = await group.live("user", run)
            await until(lambda: user.statuses.known["server"].state == BLOCKED)
            await group.down("server")
            path.write_bytes(data)
            await group.up("server")
            hold.unlink()
            await finishes(group, run)
        finally:
            await group.down()

    with held(made) as hold:
        asyncio.run(scenario(hold))


def test_the_loop_goes_on_while_a_party_thinks_and_the_run_can_be_stopped(
    made: Federation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is kept in a step; its daemon still answers, obeys and closes."""
    begun, goes_on = threading.Event(), threading.Event()
    answer = HelbaServer._answer

    def slowly(self: HelbaServer, *args: object) -> object:
        begun.set()
        goes_on.wait(60)
        return answer(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(HelbaServer, "_answer", slowly)

    async def scenario() -> None:
        group = lodgers(made)
        try:
            await group.up()
            run = ordered(group, made)
            await until(begun.is_set)
            live = await group.live("server", run)
            ticks = 0
            while ticks < 20:
                await asyncio.sleep(0)
                ticks += 1
            assert live.state == RUNNING
            group.tell("server", run, Stop("enough"))
            await until(lambda: live.state == STOPPED)
            user = await group.live("user", run)
            await until(lambda: user.state == STOPPED)
            assert not list(stored(made, "server"))
        finally:
            await group.down()
            goes_on.set()
        await steps_end()
        assert not list(stored(made, "server"))

    asyncio.run(scenario())
