"""Runs of a federation in one process, whose parties may come and go."""

import asyncio
from collections.abc import Mapping
from functools import partial

from daemons import SandboxDaemons, until
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals


def _went_on(live: LiveRun, t: int) -> bool:
    return live.round > t or live.state != RUNNING


def played(
    made: Federation,
    kind: type[SecureProtocol],
    form: str,
    budget: int,
    *,
    restart: bool,
    seconds: float = 90.0,
    options: Mapping[str, str | int] = {},
) -> tuple[list[int] | None, float | None]:
    """The arms and the total of one run."""

    async def scenario() -> str:
        group = SandboxDaemons.of(made, {kind.name: kind})
        try:
            await group.up()
            listed = read_config(made.kits[made.opener] / "party.toml").members
            members = {role: list(names) for role, names in listed.items()}
            order = StartRun(kind.name, budget, {"form": form, **options}, members)
            run = group.order(made.opener, order)
            for name in made.members if restart else ():
                live = await group.live(name, run)
                await until(partial(_went_on, live, live.round))
                await group.down(name)
                await group.up(name)
            live = await group.live(made.opener, run)
            await until(lambda: live.state != RUNNING, seconds=seconds)
            assert (live.state, live.note) == (FINISHED, "")
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    journals = Journals(made)
    return journals.trajectory(run, budget), journals.total(run)
