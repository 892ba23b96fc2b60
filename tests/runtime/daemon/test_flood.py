"""A stranger without a certificate who connects thousands of times a second."""

from pathlib import Path

import pytest

from flood import Flood
from runtime.daemon.stage import Stage, play
from runtime.daemon.waiting import until


async def restart(made: Stage, name: str) -> None:
    await made.stop(name)
    await until(lambda: name not in made.controller.connections.names())
    await made.start(name)
    await until(lambda: name in made.controller.connections.names())


@pytest.mark.long
@pytest.mark.parametrize("speaks", [False, True], ids=["silent", "stalling"])
def test_a_run_goes_on_and_an_owner_comes_back(tmp_path: Path, speaks: bool) -> None:
    async def scene(made: Stage) -> None:
        address = made.controller.connections.transport.address
        assert address is not None
        made.hold()
        with Flood(address, 200 if speaks else 4_000, speaks=speaks):
            run = await made.order()
            await made.held(run)
            for name in ("lyon", "comp", "porto", "lyon"):
                await restart(made, name)
            made.release()
            await made.finishes(run)

    play(scene, tmp_path)
