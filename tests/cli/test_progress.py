"""What `lotor start` and `lotor runs follow` say while they wait."""

import asyncio
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest

from commands import lotor as command
from lotor.cli import exit_codes
from lotor.cli.progress import RunProgress
from lotor.cli.start import _is_news
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.config import Address, LimitsTable, PartyConfig, write_config
from lotor.runtime.daemon.serving import OpenKit, follow, open_kit
from lotor.runtime.durable.journal import FINISHED, RunRow
from lotor.sandbox.federation import free_port
from lotor.sandbox.kits import make_kits
from runtime.daemon.stage import BUDGET, MEANS, Stage, plain, play
from runtime.daemon.waiting import until

OTHERS = ("controller", "comp", *MEANS)


class Waiting:
    """One `lotor start` of the customer: what it says, and what came of it."""

    def __init__(self, made: Stage, *owners: str) -> None:
        self.run = secrets.token_hex(16)
        self._said = StringIO()
        self._open = ExitStack()
        self.at: OpenKit = self._open.enter_context(open_kit(made.kit("customer")))
        members = {"controller": ["controller"], "comp": ["comp"], "owner": list(owners)}
        options: dict[str, str | int] = {"policy": "ucb"}
        order = commands.StartRun("samba", BUDGET, options, members)
        self.at.journal.commands.add(self.run, commands.to_bytes(order))
        self.task = asyncio.create_task(self._follow())

    async def _follow(self) -> RunRow | None:
        try:
            with RunProgress(self.at.journal, self.run, self._said) as shown:
                return await follow(self.at, self.run, shown.show)
        finally:
            self._open.close()

    @property
    def said(self) -> str:
        return self._said.getvalue()

    async def interrupt(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])


def test_a_start_names_whom_it_looks_for_and_who_holds_the_run_up(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await made.stop("lyon")
        made.hold()
        first = Waiting(made, *MEANS)
        await until(lambda: "looking for lyon since " in first.said)
        assert "porto" not in first.said.splitlines()[-1]
        await made.start("lyon")
        await made.held(first.run)
        await made.stop("lyon")
        await until(lambda: "lyon has been missing since " in first.said)
        await made.start("lyon")
        await until(lambda: first.said.rstrip().endswith("running"))
        made.release()
        row = await first.task
        assert row is not None
        assert row.state == FINISHED
        lines = first.said.splitlines()
        assert all(line.startswith(f"run {first.run}: ") for line in lines)
        assert all(line != after for line, after in pairwise(lines))

    play(scene, tmp_path, *OTHERS)


def test_a_second_start_says_who_drives_and_takes_over_when_that_one_ends(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        first = Waiting(made, "lyon", "nobody")
        await until(lambda: "looking for nobody" in first.said)
        made.hold()
        second = Waiting(made, *MEANS)
        # The first process carries the second order out.
        await made.held(second.run)
        driven = f"process {os.getpid()} serves this party and sees to this run, too"
        assert driven in second.said
        assert "serves this party" not in first.said
        await first.interrupt()
        await until(lambda: "serves this party" not in second.said.splitlines()[-1])
        made.release()
        row = await second.task
        assert row is not None
        assert row.state == FINISHED
        with open_kit(made.kit("customer")) as at:
            assert at.journal.output(second.run) == plain()
            assert list(at.journal.commands.sought(first.run)) == ["nobody"]

    play(scene, tmp_path, *OTHERS)


def test_why_a_run_ended_is_left_to_the_error_that_follows(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        first = Waiting(made, *MEANS)
        await made.held(first.run)
        made.ask("lyon", first.run, commands.Stop("the board said no"))
        row = await first.task
        assert row is not None
        assert "the board said no" in row.note
        assert "the board said no" not in first.said
        assert first.said.rstrip().endswith("stopped")

    play(scene, tmp_path, *OTHERS)


def test_a_start_does_not_log_what_it_prints_itself() -> None:
    def line(run: str, event: str) -> logging.LogRecord:
        about = {"name": "lotor.daemon", "run": run, "event": event}
        return logging.makeLogRecord(about)

    assert not _is_news("ab", line("ab", "refused"))
    assert not _is_news("ab", line("ab", "looking"))
    assert _is_news("ab", line("cd", "refused"))
    assert _is_news("ab", line("ab", "long-missing"))


@pytest.fixture
def quiet_log() -> Iterator[None]:
    """Let the command configure logging, and put it back as it was."""
    logger = logging.getLogger("lotor")
    before = logger.handlers[:], logger.level, logger.propagate
    yield
    logger.handlers[:], logger.propagate = before[0], before[2]
    logger.setLevel(before[1])


@pytest.mark.usefixtures("quiet_log")
def test_members_who_are_not_found_in_time_are_named_and_nothing_is_on_stdout(
    tmp_path: Path,
) -> None:
    kit = make_kits(tmp_path, {"acme": "customer"})["acme"]
    members = {"controller": ("hub",), "comp": ("comp",), "owner": ("lyon", "porto", "graz")}
    nowhere = Address("127.0.0.1", free_port())
    limits = LimitsTable(wait=0.001)
    config = PartyConfig(peers={"hub": nowhere}, members=members, limits=limits)
    write_config(kit / "party.toml", config)
    done = command("start", "samba", "--budget", "60", "--kit", str(kit))
    assert done.returncode == exit_codes.ENDED
    assert done.stdout == ""
    assert "looking for comp, graz, hub, lyon, porto since " in done.stderr
    assert "comp, graz, hub, lyon, porto could not be found within" in done.stderr
