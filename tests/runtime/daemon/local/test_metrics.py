"""What everybody on a party's machine can read tells nothing that its peers do not know."""

import asyncio
import re
from functools import partial
from pathlib import Path

import msgspec

from lotor.runtime.daemon import commands
from lotor.runtime.daemon.config import LocalTable, read_config, write_config
from lotor.runtime.daemon.local.client import LocalClient
from lotor.runtime.daemon.local.guard import read_token
from lotor.runtime.daemon.local.metrics import RunProgressTimes
from lotor.runtime.daemon.node import Node
from runtime.daemon.stage import BUDGET, MEANS, NOBODY, Stage, play
from runtime.daemon.test_tick import OTHERS, Schedule
from runtime.daemon.waiting import until

RUN = "ab" * 16
TIMES = re.compile(r"^(lotor_(?:run_seconds_since_progress|certificate_days_left)\{.*\}) .*$", re.M)


def be_open(made: Stage, *names: str) -> None:
    """Let parties have a local interface."""
    for name in names:
        path = made.kit(name) / "party.toml"
        config = msgspec.structs.replace(read_config(path), local=LocalTable(port=0))
        write_config(path, config)


def client(node: Node) -> LocalClient:
    assert node.local is not None
    state = node.context.config.state_folder(node.kit.path)
    return LocalClient(node.local.server.port, read_token(state))


async def metrics(node: Node) -> str:
    text = await asyncio.to_thread(client(node).get, "/metrics")
    assert isinstance(text, str)
    return TIMES.sub(r"\1 a time", text)


def exchange_patients(made: Stage) -> None:
    """Let each owner have the patients of the other one."""
    here, there = (made.kit(name) / "patients.db" for name in MEANS)
    first, second = here.read_bytes(), there.read_bytes()
    here.write_bytes(second)
    there.write_bytes(first)


async def order(made: Stage) -> None:
    members = {"controller": ["controller"], "comp": ["comp"], "owner": list(MEANS)}
    options: dict[str, str | int] = {"policy": "ucb", "form": made.federation.form.name}
    made.ask("customer", RUN, commands.StartRun("samba", BUDGET, options, members))
    await until(lambda: RUN in made.nodes["customer"].runs)


def asked(made: Stage) -> list[str]:
    """The owner that is asked, once the other one has computed all that it can."""
    hosts = {name: made.live(name, RUN).host for name in MEANS if RUN in made.nodes[name].runs}
    return [
        name
        for name, host in hosts.items()
        if host is not None and host.asked is not None and host.asked.decision is not None
    ]


def world(folder: Path, *, exchanged: bool) -> tuple[list[str], list[str]]:
    """An owner's metrics, twice in each round and after the end, and who was asked in each."""
    texts: list[str] = []
    pulled: list[str] = []

    async def scene(made: Stage) -> None:
        if exchanged:
            exchange_patients(made)
        be_open(made, "lyon")
        schedule = Schedule(made)
        await made.start(*OTHERS)
        await schedule.start()
        lyon = made.nodes["lyon"]
        await until(lambda: len(made.controller.connections.names()) == len(MEANS) + 2)
        hold(made, 2)
        await order(made)
        for t in range(3, BUDGET + 1):
            pulled.append(await until_asked(made, schedule))
            texts.append(await metrics(lyon))
            for name in MEANS:
                made.release(name)
            await schedule.to_round(RUN, t)
            texts.append(await metrics(lyon))
            hold(made, t)
            schedule.leave(*MEANS)
        await until(lambda: all(made.live(name, RUN).over.is_set() for name in made.nodes))
        texts.append(await metrics(lyon))

    play(scene, folder, *NOBODY)
    return texts, pulled


def hold(made: Stage, after: int) -> None:
    for name in MEANS:
        made.hold(name, after)


async def until_asked(made: Stage, schedule: Schedule) -> str:
    """Until one owner is being asked, and the other one is ready and must not say so yet."""
    while True:
        await until(lambda: schedule.ready(RUN, *MEANS) or asked(made))
        if names := asked(made):
            (other,) = MEANS.keys() - set(names)
            await until(partial(schedule.ready, RUN, other))
            return names[0]
        schedule.leave(*MEANS)


def test_worlds_that_differ_in_who_is_pulled_have_the_same_metrics(tmp_path: Path) -> None:
    here, pulled_here = world(tmp_path / "here", exchanged=False)
    there, pulled_there = world(tmp_path / "there", exchanged=True)
    differing = sum(a != b for a, b in zip(pulled_here, pulled_there, strict=True))
    assert differing > len(MEANS)
    assert here == there
    assert f'lotor_run_round{{run="{RUN}"}} {BUDGET}.0' in here[-2]
    assert 'lotor_runs{state="finished"} 1.0' in here[-1]
    assert len(set(here)) > BUDGET - 2  # they do say how far the run is
    assert "journal" not in "".join(here)


def test_a_server_says_who_is_there_and_how_large_its_journal_is(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        be_open(made, "controller")
        await made.start("controller", "comp", "customer", *MEANS)
        made.hold()
        run = await made.order()
        await made.held(run)
        await made.stop("lyon")
        await until(lambda: "lyon" not in made.controller.connections.names())
        await until(lambda: (own := made.live("controller", run).statuses.own) and own.missing)
        text = await metrics(made.controller)
        assert 'lotor_runs{state="missing"} 1.0' in text
        assert 'lotor_peer_connected{peer="lyon"} 0.0' in text
        assert 'lotor_peer_connected{peer="porto"} 1.0' in text
        assert f'lotor_run_missing_peers{{run="{run}"}} 1.0' in text
        sent, size = _value(text, "lotor_bytes_sent_total"), _value(text, "lotor_journal_bytes")
        assert sent > 0
        assert size >= made.controller.journal.path.stat().st_size
        await made.start("lyon")
        made.release()
        await made.finishes(run)
        text = await metrics(made.controller)
        assert 'lotor_runs{state="finished"} 1.0' in text
        assert _value(text, "lotor_bytes_sent_total") > sent

    play(scene, tmp_path, *NOBODY)


def _value(text: str, name: str) -> float:
    found = re.search(rf"^{name} (.*)$", text, re.M)
    assert found is not None
    return float(found[1])


def test_progress_is_when_a_run_was_first_seen_in_its_round(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        now = [100.0]
        made.hold()
        run = await made.order()
        await made.held(run)
        times = RunProgressTimes(lambda: now[0])
        runs = made.nodes["porto"].runs
        assert times.seconds(run) == 0.0
        times.look(runs)
        now[0] = 130.0
        times.look(runs)
        assert times.seconds(run) == 30.0
        made.release()
        await made.finishes(run)
        times.look(runs)
        assert times.seconds(run) == 0.0  # it is over

    play(scene, tmp_path)
