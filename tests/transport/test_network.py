"""Two honest parties over the network: up, in order, down, and up again."""

import asyncio
from pathlib import Path

import pytest

from transport.parties import HELLO, Federation, Party, exchange, running


@pytest.fixture
def federation(tmp_path: Path) -> Federation:
    return Federation(tmp_path)


def test_two_parties_exchange_frames(federation: Federation) -> None:
    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True)
        async with running(comp):
            lyon = Party(federation.join("lyon"), dial={"comp": comp.address})
            async with running(lyon):
                await exchange(lyon, comp)
                assert lyon.net.hello_of("comp") == HELLO == comp.net.hello_of("lyon")
                assert lyon.net.sessions("comp") == 1 == comp.net.sessions("lyon")
                assert lyon.net.down_since("comp") is None
                assert lyon.net.last_error("comp") is None
            await comp.until(lambda: not comp.net.connected("lyon"))
            assert comp.net.down_since("lyon") is not None
            assert "lyon" in str(comp.net.last_error("lyon"))

    asyncio.run(scenario())
