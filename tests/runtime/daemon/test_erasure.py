"""When a run has ended, however it did, no file of any party holds its keys, shares or contexts."""

import asyncio
import shutil
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import lotor
from commands import lotor as command
from daemons import SandboxDaemons
from daemons import until as until_within
from lotor.environments.sources import MadeUpArms
from lotor.protocols.ppcb.demo import feature_parties
from lotor.protocols.ppcb.shared.form import PPCBShared
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.node import Node
from lotor.runtime.durable.database import open_read_only
from lotor.runtime.durable.erasure import Erasure
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.journal import FAILED, FINISHED, STOPPED, Journal
from lotor.sandbox import Federation
from residue import watch_journals
from runtime.daemon.stage import EVERYONE, Stage, play
from runtime.daemon.waiting import until
from surveys import survey_federation

BUDGET, LONG = 12, 400
End = Callable[[Stage, str], None]


def let_finish(made: Stage, run: str) -> None:
    made.release()


def stop(made: Stage, run: str) -> None:
    made.ask("customer", run, commands.Stop("enough"))


def fail(made: Stage, run: str) -> None:
    made.live("comp", run).end(FAILED, "comp: something is wrong")


def states(made: Stage) -> list[Path]:
    return [made.kit(name) / "state" for name in EVERYONE]


def erased(nodes: Iterable[Node]) -> bool:
    return not any(node.journal.erasure.due for node in nodes)


async def to_the_end(made: Stage, end: End, expected: str) -> str:
    made.hold()
    run = await made.order()
    await made.held(run)
    end(made, run)
    ended = await made.ended(run)
    assert {state for state, _ in ended.values()} == {expected}
    return run


ENDS = [(let_finish, FINISHED), (stop, STOPPED), (fail, FAILED)]


@pytest.mark.parametrize("secure_delete", [True, False])
@pytest.mark.parametrize(("end", "expected"), ENDS)
def test_a_run_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    end: End,
    expected: str,
    secure_delete: bool,
) -> None:
    residue = watch_journals(monkeypatch, secure_delete=secure_delete)

    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        # The scan can find something: all of them have written their keys down.
        before = residue.found(states(made))
        assert {Path(name).parent.parent.name for name in before} == set(EVERYONE)
        end(made, run)
        ended = await made.ended(run)
        assert {state for state, _ in ended.values()} == {expected}
        await until(lambda: erased(made.nodes.values()))
        assert residue.found(states(made)) == {}
        await made.stop(*EVERYONE)
        assert residue.found(states(made)) == {}

    play(scene, tmp_path)


@pytest.mark.parametrize(("end", "expected"), ENDS)
def test_a_party_killed_before_it_has_erased_does_so_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: End, expected: str
) -> None:
    residue = watch_journals(monkeypatch, secure_delete=False)

    async def scene(made: Stage) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Erasure, "complete", lambda _: False)
            patch.setattr("lotor.runtime.daemon.node.ERASURE_ATTEMPTS", 0)
            await to_the_end(made, end, expected)
            for folder in states(made):
                shutil.copytree(folder, folder.with_name("killed"))
            await made.stop(*EVERYONE)
        for folder in states(made):
            shutil.rmtree(folder)
            folder.with_name("killed").rename(folder)
        assert residue.found(states(made))
        await made.start(*EVERYONE)
        await until(lambda: erased(made.nodes.values()))
        assert residue.found(states(made)) == {}

    play(scene, tmp_path)


def test_a_process_that_reads_meanwhile_only_delays_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    residue = watch_journals(monkeypatch)

    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        with closing(open_read_only(made.kit("lyon") / "state" / "journal.db")) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM progress").fetchall()
            stop(made, run)
            await made.ended(run)
            assert made.nodes["lyon"].journal.erasure.due
            assert made.logged("another process reads it")
            assert residue.found(states(made))
        await until(lambda: erased(made.nodes.values()))
        assert residue.found(states(made)) == {}

    play(scene, tmp_path)


def test_an_answer_that_comes_too_late_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    residue = watch_journals(monkeypatch, secure_delete=False)

    async def scene(made: Stage) -> None:
        run = await to_the_end(made, stop, STOPPED)
        late = commands.Resolve("decision", features=(0.123456, 0.234567, 0.345678))
        made.ask("porto", run, late)
        await until(lambda: not made.nodes["porto"].journal.commands.waiting())
        await until(lambda: erased(made.nodes.values()))
        assert residue.found(states(made)) == {}

    play(scene, tmp_path)


async def finished_without_customer(made: Stage) -> str:
    """A run whose total is at the controller, and on its way to a customer that is gone."""
    made.hold()
    run = await made.order()
    await made.held(run)
    await made.stop("customer")
    made.release()
    controller = made.live("controller", run)
    await until(lambda: controller.state == FINISHED)
    return run


def test_what_a_peer_never_fetches_can_be_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer hears that the run is over if it comes back after all."""
    residue = watch_journals(monkeypatch)

    async def scene(made: Stage) -> None:
        run = await finished_without_customer(made)
        folder = [made.kit("controller") / "state"]
        await until(lambda: erased(made.nodes.values()))
        # Also after a restart: the total is kept for the customer, and nothing else.
        await made.stop("controller")
        await made.start("controller")
        assert made.nodes["controller"].journal.unsettled() == {run}
        assert 0 < sum(residue.found(folder).values()) < 100
        kit = str(made.kit("controller"))
        said = await asyncio.to_thread(command, "runs", "stop", run, "--kit", kit)
        assert said.returncode == 0, said.stderr
        controller = made.live("controller", run)
        await until(lambda: controller.state == STOPPED)
        await until(lambda: erased(made.nodes.values()))
        assert residue.found(folder) == {}
        said = await asyncio.to_thread(command, "runs", "stop", run, "--kit", kit)
        assert said.returncode == 2
        assert "stopped already" in said.stderr
        await made.start("customer")
        customer = made.live("customer", run)
        await until(lambda: customer.state == STOPPED)
        await until(lambda: erased(made.nodes.values()))
        assert residue.found(states(made)) == {}

    play(scene, tmp_path)


def test_a_peer_that_has_ended_the_run_fetches_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    residue = watch_journals(monkeypatch)

    async def scene(made: Stage) -> None:
        run = await finished_without_customer(made)
        path = made.kit("customer")
        subject = str(Kit(path).subject)
        with closing(Journal(path / "state", subject)) as journal:
            journal.end(run, STOPPED, "stopped by customer: enough")
        await made.start("customer")
        await until(made.live("controller", run).over.is_set)
        await until(lambda: erased(made.nodes.values()))
        assert made.live("controller", run).state == FINISHED
        assert residue.found(states(made)) == {}

    play(scene, tmp_path)


@dataclass
class Settling:
    """A finished party whose peers acknowledge its last messages, one after the other."""

    left: int
    finished: bool = True
    round: int = BUDGET

    @property
    def drained(self) -> bool:
        return self.left == 0

    def settle(self) -> bool:
        self.left -= 1
        return True


def test_the_journal_is_written_anew_at_the_end_and_when_all_peers_have_settled(
    tmp_path: Path,
) -> None:
    """And not for each of them."""

    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        live, journal = made.live("lyon", run), made.nodes["lyon"].journal
        seen: list[str] = []
        journal.database.set_trace_callback(
            lambda sql: seen.append(sql) if sql == "VACUUM" else None
        )
        peers = cast("Host", Settling(left=5))
        for _ in range(5):
            assert not live.over.is_set()
            live._finish(peers)  # the node itself does nothing meanwhile
        assert live.over.is_set()
        assert len(seen) == 2
        assert not journal.erasure.due
        stop(made, run)

    play(scene, tmp_path)


def split_features(folder: Path) -> Federation:
    draw = np.random.default_rng(1)
    contexts = draw.normal(size=(LONG, 5))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    arms = lotor.ContextualArms(contexts, (draw.random((LONG, 3)) < 0.5).astype(float))
    parties = feature_parties(arms, {"owner-1": 2, "owner-2": 3})
    return Federation(folder, PPCBShared(), parties, 7)


def survey(folder: Path) -> Federation:
    arms = MadeUpArms(lotor.LinearArms, [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], [0.7, 0.5])
    return survey_federation(folder, lotor.LinUCBDS(lotor.LinUCB()), arms, seed=7)


@pytest.mark.parametrize("end", [FINISHED, STOPPED, FAILED])
@pytest.mark.parametrize(
    ("make", "protocol", "options"),
    [(split_features, lotor.PPCB, {}), (survey, lotor.LinUCBDS, {})],
)
def test_servers_of_a_run_that_ended_cannot_give_back_its_data(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], Federation],
    protocol: type[SecureProtocol],
    options: dict[str, str | int],
    end: str,
) -> None:
    residue = watch_journals(monkeypatch, secure_delete=False)
    made = make(tmp_path)
    made.prepare()
    folders = [kit / "state" for kit in made.kits.values()]

    async def scenario() -> None:
        group = SandboxDaemons.of(made, {protocol.name: protocol})
        try:
            await group.up()
            listed = read_config(made.kits[made.opener] / "party.toml").members
            members = {role: list(names) for role, names in listed.items()}
            budget = BUDGET if end == FINISHED else LONG
            run = group.order(
                made.opener, commands.StartRun(protocol.name, budget, options, members)
            )
            lives = [await group.live(name, run) for name in made.members]
            if end != FINISHED:
                await until_within(lambda: max(live.round for live in lives) >= 40)
                lives[0].end(end, "in the middle")
            await until_within(lambda: all(live.over.is_set() for live in lives))
            # A party that only sets a run up has finished before.
            states = {live.state for live in lives}
            assert end in states
            assert states <= {end, FINISHED}
            await until_within(lambda: erased(group.nodes.values()))
            assert residue.found(folders) == {}
        finally:
            await group.down()

    asyncio.run(scenario())
    assert len(residue.secret) > 200
    assert residue.found(folders) == {}
