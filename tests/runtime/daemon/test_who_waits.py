"""Who waits for approval is told to all parties; which rules it broke, to nobody else."""

import sqlite3
from pathlib import Path

import msgspec

from lotor.runtime.daemon import commands
from lotor.runtime.daemon import status as statuses
from lotor.runtime.daemon.config import ConsentRules, read_config, write_config
from lotor.runtime.daemon.node import Node
from lotor.runtime.daemon.status import read_kept
from lotor.runtime.durable.journal import REFUSED, RUNNING, WAITING
from runtime.daemon.stage import EVERYONE, NOBODY, Stage, play
from runtime.daemon.waiting import until

LIMIT = 1_919_191_979  # so many digits that no key, signature or name of a run has them by chance
STRICT = ConsentRules(
    customers=("*",),
    policies=("*",),
    least_budget=LIMIT,
    total_budget=LIMIT,
    least_owners=1,
    forms=("*",),
)


def be_strict(made: Stage, name: str) -> None:
    """Let a party wait for its operator's approval of any run on this stage."""
    path = made.kit(name) / "party.toml"
    write_config(path, msgspec.structs.replace(read_config(path), consent=STRICT))


def known(node: Node, run: str) -> dict[str, tuple[str, str]]:
    """What a party's journal has of all parties of a run."""
    kept = read_kept(node.journal.statuses(run))
    return {seat: (status.state, status.text) for seat, status in kept.items()}


def written(node: Node) -> bytes:
    """All texts, whole numbers and blobs of a party's journal, as they are."""
    database: sqlite3.Connection = node.journal.database
    tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    rows = [row for (table,) in tables for row in database.execute(f"SELECT * FROM {table}")]  # noqa: S608
    cells = [cell for row in rows for cell in row if isinstance(cell, str | int | bytes)]
    return b"\n".join(cell if isinstance(cell, bytes) else str(cell).encode() for cell in cells)


def test_a_hub_that_waits_for_approval_announces_the_run_and_keeps_its_peers(
    tmp_path: Path,
) -> None:
    async def scene(made: Stage) -> None:
        be_strict(made, "controller")
        await made.start(*EVERYONE)
        run = await made.order()
        others = [name for name in EVERYONE if name != "controller"]
        for name in others:
            await until(lambda: run in made.nodes[name].runs)  # noqa: B023
            await until(lambda: "controller" in known(made.nodes[name], run))  # noqa: B023
        assert made.live("controller", run).state == WAITING
        transport = made.controller.connections.transport
        assert {transport.session(name) for name in others} == {1}
        assert not made.logged("not a peer of")
        made.ask("controller", run, commands.Approve())
        await made.finishes(run)

    play(scene, tmp_path, *NOBODY)


def test_a_status_of_an_unknown_run_costs_nobody_its_connection(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        identity = made.live("lyon", run).agreement.identity
        early = statuses.make(identity, "ff" * 16, WAITING, "lyon waits", 0, 0.0)
        made.nodes["lyon"].connections.send("controller", early)
        made.release()
        await made.finishes(run)
        assert made.controller.connections.transport.session("lyon") == 1

    play(scene, tmp_path)


def test_nobody_can_miss_a_party_that_is_not_in_the_run(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        identity = made.live("lyon", run).agreement.identity
        later = made.live("lyon", run).statuses.own
        assert later is not None
        strange = statuses.make(
            identity, run, RUNNING, "", 1, later.time, missing={"somebody-else": 1.0}
        )
        made.nodes["lyon"].connections.send("controller", strange)
        await until(lambda: made.logged("misses a party that is not in the run"))
        assert b"lyon" in written(made.controller)
        assert b"somebody-else" not in written(made.controller)
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)


def test_peers_learn_who_waits_and_since_when_but_no_limit(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        be_strict(made, "lyon")
        await made.start(*EVERYONE)
        run = await made.order()
        others = [name for name in EVERYONE if name != "lyon"]
        told = (WAITING, "lyon waits for its operator's approval")
        for name in others:
            await until(lambda: run in made.nodes[name].runs)  # noqa: B023
            await until(lambda: known(made.nodes[name], run).get("lyon") == told)  # noqa: B023
        assert f"below least_budget {LIMIT}" in made.live("lyon", run).note
        assert str(LIMIT).encode() in written(made.nodes["lyon"])
        (since,) = {since_when(made, name, run) for name in EVERYONE}
        await made.stop("lyon")
        await made.start("lyon")
        await until(lambda: known(made.nodes["lyon"], run)["lyon"] == told)
        assert since_when(made, "lyon", run) == since
        assert f"below least_budget {LIMIT}" in made.live("lyon", run).note
        made.ask("lyon", run, commands.Refuse("not before Monday"))
        states = await made.ended(run)
        assert set(states.values()) == {(REFUSED, "refused by lyon: not before Monday")}
        for name in others:
            assert str(LIMIT).encode() not in written(made.nodes[name])
            assert b"least_budget" not in written(made.nodes[name])

    play(scene, tmp_path, *NOBODY)


def since_when(made: Stage, name: str, run: str) -> float:
    """When lyon began to wait, as a party's journal has it."""
    return read_kept(made.nodes[name].journal.statuses(run))["lyon"].since


def test_all_parties_hear_who_is_missing(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        await made.stop("lyon")
        for name in ("comp", "customer", "porto"):
            await until(lambda: missing_at(made, "controller", name, run))  # noqa: B023
        # One answer for all: when the hub lost it.
        there = ("comp", "customer", "porto")
        assert len({missing_at(made, "controller", name, run) for name in there}) == 1
        assert made.live("customer", run).state == RUNNING
        await made.start("lyon")
        for name in ("comp", "customer", "porto"):
            await until(lambda: not missing_at(made, "controller", name, run))  # noqa: B023
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)


def missing_at(made: Stage, seat: str, name: str, run: str) -> float | None:
    """Since when lyon is missing at a seat, as the journal of the party with this name has it."""
    kept = read_kept(made.nodes[name].journal.statuses(run)).get(seat)
    return None if kept is None else kept.missing.get("lyon")
