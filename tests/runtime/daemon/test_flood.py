"""A stranger without a certificate who connects thousands of times a second."""

from pathlib import Path

import pytest

from flood import Flood
from runtime.daemon.stage import Stage, play


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
            await made.stop("lyon")
            await made.start("lyon")
            made.release()
            await made.finishes(run)

    play(scene, tmp_path)
