"""What one peer may use up: frame size, memory both ways, and silence."""

import asyncio

import msgspec
import pytest

from lotor.core.errors import TransportError
from lotor.transport import Limits
from transport.parties import QUICK, Federation, Party, exchange, running
from transport.proxy import Proxy


def test_too_large_a_frame_is_refused_at_the_sender(federation: Federation) -> None:
    async def scenario() -> None:
        limits = msgspec.structs.replace(QUICK, max_frame=1_000)
        net = Party(federation.join("lyon"), limits=limits).net
        net.send("lyon", "comp", b"x" * 1_000)
        with pytest.raises(TransportError, match="1001 bytes to comp"):
            net.send("lyon", "comp", b"x" * 1_001)

    asyncio.run(scenario())


def test_reading_pauses_until_frames_are_taken(federation: Federation) -> None:
    """Far more than the limit is sent; all arrives, in order, and never much at a time."""
    frame, count = 100_000, 300

    async def scenario() -> None:
        comp = Party(
            federation.join("comp", "comp"),
            listen=True,
            limits=msgspec.structs.replace(QUICK, unread=3 * frame, keep_alive=1.0),
        )
        async with running(comp):
            lyon = Party(federation.join("lyon"), dial={"comp": comp.address})
            async with running(lyon):
                await lyon.connected("comp")
                for i in range(count):
                    lyon.send("comp", i.to_bytes(2, "big") * (frame // 2))
                await asyncio.sleep(2.5)  # more than two keep-alive intervals
                assert len(comp.changes) < count // 2
                for i in range(count):
                    assert (await comp.receive("lyon"))[:2] == i.to_bytes(2, "big")
                assert comp.net.sessions("lyon") == 1

    asyncio.run(scenario())


def test_a_connection_admits_no_more_until_it_has_drained(federation: Federation) -> None:
    """Whoever asks before each frame sends any number of them to a peer that reads slowly."""
    frame, count = 100_000, 300

    async def scenario() -> None:
        slow = msgspec.structs.replace(QUICK, unread=frame)
        small = msgspec.structs.replace(QUICK, outgoing=4 * frame)
        comp = Party(federation.join("comp", "comp"), listen=True, limits=small)
        async with running(comp):
            lyon = Party(federation.join("lyon"), dial={"comp": comp.address}, limits=slow)
            async with running(lyon):
                await comp.connected("lyon")
                sent = taken = waits = 0
                while sent < count:
                    if comp.net.admits("lyon"):
                        comp.send("lyon", sent.to_bytes(2, "big") * (frame // 2))
                        sent += 1
                    else:
                        waits += 1
                        comp.changes.clear()
                        while not comp.net.admits("lyon"):
                            assert (await lyon.receive("comp"))[:2] == taken.to_bytes(2, "big")
                            taken += 1
                        await comp.until(lambda: bool(comp.changes))
                for i in range(taken, count):
                    assert (await lyon.receive("comp"))[:2] == i.to_bytes(2, "big")
                assert waits > 1
                assert comp.net.sessions("lyon") == 1

    asyncio.run(scenario())


def test_a_peer_that_does_not_read_is_dropped(federation: Federation) -> None:
    async def scenario() -> None:
        stuck = msgspec.structs.replace(QUICK, unread=1, backoff_first=30.0, backoff_last=30.0)
        impatient = msgspec.structs.replace(QUICK, outgoing=1_000_000)
        comp = Party(federation.join("comp", "comp"), listen=True, limits=impatient)
        async with running(comp):
            lyon = Party(federation.join("lyon"), dial={"comp": comp.address}, limits=stuck)
            graz = Party(federation.join("graz"), dial={"comp": comp.address})
            async with running(lyon, graz):
                await comp.connected("lyon", "graz")
                while comp.net.connected("lyon"):
                    comp.send("lyon", b"x" * 100_000)
                    await asyncio.sleep(0)
                assert "does not read" in str(await comp.error("lyon"))
                await exchange(graz, comp)

    asyncio.run(scenario())


def test_a_peer_without_a_sign_of_life_is_dropped(federation: Federation) -> None:
    async def scenario() -> None:
        short = msgspec.structs.replace(QUICK, keep_alive=1.0)
        comp = Party(federation.join("comp", "comp"), listen=True, limits=short)
        async with running(comp), Proxy(comp.address) as proxy:
            lyon = Party(federation.join("lyon"), dial={"comp": proxy.address}, limits=short)
            async with running(lyon):
                await exchange(lyon, comp)
                await idle(lyon, comp)  # is not dead
                proxy.swallow = True
                assert "no sign of life" in str(await comp.error("lyon"))
                proxy.swallow = False
                await comp.until(lambda: comp.net.sessions("lyon") > 1)
                await exchange(lyon, comp)

    asyncio.run(scenario())


async def idle(here: Party, there: Party) -> None:
    """The connection lasts more than two keep-alive intervals in which nothing is sent.

    A machine that lets neither side run for most of an interval has proved nothing: once more.
    """
    async with asyncio.timeout(90):
        while True:
            await exchange(here, there)
            sessions = here.net.sessions(there.name)
            if await longest_pause(2.5) < 0.3:
                break
    assert here.net.connected(there.name)
    assert here.net.sessions(there.name) == sessions


async def longest_pause(seconds: float) -> float:
    """Let time pass; for how long this loop did not run meanwhile, at most."""
    clock = asyncio.get_running_loop().time
    last = clock()
    end, longest = last + seconds, 0.0
    while last < end:
        await asyncio.sleep(0.02)
        longest, last = max(longest, clock() - last), clock()
    return longest


def test_limits_have_defaults_that_hang_together() -> None:
    limits = Limits()
    assert limits.max_frame <= min(limits.outgoing // 4, limits.unread)
