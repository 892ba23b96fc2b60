"""Honest parties over the network: up, in order, down, and up again."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lotor.core.errors import ConfigError, ConsentError, LotorError, TransportError, VersionError
from lotor.crypto.certificates import Subject
from lotor.runtime.daemon.address import Address
from lotor.sandbox.federation import free_port
from lotor.transport import Hello, Tls, probe
from transport.parties import HELLO, QUICK, Federation, Party, exchange, running, without_host
from transport.proxy import Proxy


def pair(federation: Federation, then: Callable[[Party, Party], Awaitable[None]]) -> None:
    """Run a scenario with lyon, who dials, and comp, who listens."""

    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True)
        async with running(comp):
            lyon = Party(federation.join("lyon"), dial={"comp": comp.address})
            async with running(lyon):
                await lyon.connected("comp")
                await comp.connected("lyon")
                await then(lyon, comp)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(scenario())


def test_two_parties_exchange_frames(federation: Federation) -> None:
    async def then(lyon: Party, comp: Party) -> None:
        await exchange(lyon, comp)
        assert lyon.net.hello_of("comp") == HELLO == comp.net.hello_of("lyon")
        assert lyon.net.sessions("comp") == 1 == comp.net.sessions("lyon")
        assert lyon.net.down_since("comp") is None
        assert lyon.net.last_error("comp") is None
        await lyon.net.close()
        await comp.until(lambda: not comp.net.connected("lyon"))
        assert comp.net.down_since("lyon") is not None
        assert "lyon" in str(comp.net.last_error("lyon"))

    pair(federation, then)


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sizes=st.lists(st.integers(0, 40_000), max_size=60))
def test_frames_arrive_in_order(federation: Federation, sizes: list[int]) -> None:
    async def then(lyon: Party, comp: Party) -> None:
        frames = [bytes([i]) * size for i, size in enumerate(sizes)]
        for frame in frames:
            lyon.send("comp", frame)
            comp.send("lyon", frame)
        assert [await comp.receive("lyon") for _ in frames] == frames
        assert [await lyon.receive("comp") for _ in frames] == frames

    pair(federation, then)


def test_a_cut_connection_comes_back(federation: Federation) -> None:
    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True)
        patient = msgspec.structs.replace(QUICK, backoff_first=0.4, backoff_last=0.4)
        async with running(comp), Proxy(comp.address) as proxy:
            lyon = Party(federation.join("lyon"), dial={"comp": proxy.address}, limits=patient)
            async with running(lyon):
                for session in range(1, 4):
                    await exchange(lyon, comp)
                    assert lyon.net.sessions("comp") == session == comp.net.sessions("lyon")
                    changes = len(lyon.changes)
                    comp.send("lyon", b"read later")
                    await lyon.until(lambda n=changes: len(lyon.changes) > n)  # type: ignore[misc]
                    proxy.cut()
                    await lyon.until(lambda: not lyon.net.connected("comp"))
                    lyon.send("comp", b"dropped, because nobody is there")
                    await comp.until(lambda: not comp.net.connected("lyon"))
                    assert "cut" in str(comp.net.last_error("lyon"))
                    assert await lyon.receive("comp") == b"read later"

    asyncio.run(scenario())


def test_a_frame_cut_in_the_middle_is_never_seen(federation: Federation) -> None:
    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True)
        async with running(comp), Proxy(comp.address) as proxy:
            lyon = Party(federation.join("lyon"), dial={"comp": proxy.address})
            async with running(lyon):
                await lyon.connected("comp")
                proxy.allow = 50_000
                lyon.send("comp", b"x" * 200_000)
                await comp.until(lambda: comp.net.sessions("lyon") == 2)
                await exchange(lyon, comp)

    asyncio.run(scenario())


def test_a_listener_that_starts_late_is_found(federation: Federation) -> None:
    async def scenario() -> None:
        comp_tls = federation.join("comp", "comp")
        address = "127.0.0.1", free_port()
        lyon = Party(federation.join("lyon"), dial={"comp": address})
        async with running(lyon):
            error = await lyon.error("comp")
            assert isinstance(error, TransportError)
            assert "nobody listens" in str(error)
            assert f"{address[0]}:{address[1]}" in str(error)
            assert lyon.net.down_since("comp") is not None
            comp = Party(comp_tls, listen=address)
            async with running(comp):
                await exchange(lyon, comp)

    asyncio.run(scenario())


def test_the_newest_connection_counts(federation: Federation) -> None:
    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True)
        tls = federation.join("lyon")
        slow = msgspec.structs.replace(QUICK, backoff_first=30.0, backoff_last=30.0)
        async with running(comp):
            old = Party(tls, dial={"comp": comp.address}, limits=slow)
            new = Party(tls, dial={"comp": comp.address}, limits=slow)
            async with running(old):
                await exchange(old, comp)
                async with running(new):
                    await exchange(new, comp)
                    assert "two processes" in str(await old.error("comp"))
                    assert comp.net.sessions("lyon") == 2

    asyncio.run(scenario())


def test_two_that_dial_each_other_settle_on_one_connection(federation: Federation) -> None:
    async def scenario() -> None:
        here = Address("127.0.0.1", free_port())
        there = Address("127.0.0.1", free_port([here]))
        a = Party(federation.join("a"), listen=here, dial={"b": there})
        b = Party(federation.join("b"), listen=there, dial={"a": here})

        def settled() -> tuple[int, int] | None:
            """How often they have met, where both hold the two ends of one connection."""
            mine, theirs = a.net._peers["b"].connection, b.net._peers["a"].connection
            up = a.net.connected("b") and b.net.connected("a")
            if not up or mine is None or theirs is None or mine.dialled == theirs.dialled:
                return None
            return a.net.sessions("b"), b.net.sessions("a")

        async with running(a, b):
            await a.connected("b")
            await b.connected("a")
            # What is sent before they settle may be lost with a connection that is given up.
            before = None
            async with asyncio.timeout(90):
                while before is None or before != settled():
                    before = settled()
                    # Many times the longest pause between attempts; a machine that lets nobody
                    # run for a while makes only one of these pass.
                    for _ in range(100):
                        await asyncio.sleep(0.01)
            await exchange(a, b)

    asyncio.run(scenario())


def test_a_dead_connection_does_not_keep_a_peer_out(federation: Federation) -> None:
    """The connection that would win is half open: it is found out long before the keep-alive."""

    async def scenario() -> None:
        limits = msgspec.structs.replace(QUICK, handshake=2.0)
        b_tls = federation.join("b")
        b = Party(b_tls, listen=True)
        async with running(b), Proxy(b.address) as proxy:
            a = Party(federation.join("a"), listen=True, dial={"b": proxy.address}, limits=limits)
            async with running(a):
                await exchange(a, b)
                proxy.swallow = True
                restarted = Party(b_tls, dial={"a": a.address})
                async with running(restarted):
                    await restarted.error("a", containing="dialled each other")
                    await a.until(lambda: a.net.sessions("b") == 2)
                    await exchange(a, restarted)
                    proxy.cut()

    asyncio.run(scenario())


def test_a_peer_that_is_kicked_hears_why(federation: Federation) -> None:
    async def then(lyon: Party, comp: Party) -> None:
        comp.net.kick("lyon", ConsentError("no more of this\x07\n" + "x" * 5_000))
        assert not comp.net.connected("lyon")
        heard: list[LotorError] = []
        await lyon.until(lambda: lyon.net.sessions("comp") == 2)
        comp.net.kick("nobody", ConsentError("has no effect"))
        comp.net.kick("lyon", ConsentError("again"))
        await lyon.until(lambda: bool(heard) or _keep(heard, lyon.net.last_error("comp")))
        assert isinstance(heard[0], ConsentError)
        assert "comp" in str(heard[0])

    pair(federation, then)


def _keep(heard: list[LotorError], error: LotorError | None) -> bool:
    if error is not None:
        heard.append(error)
    return error is not None


@pytest.mark.parametrize("who", ["lyon", "comp"])
def test_admit_can_refuse(federation: Federation, who: str) -> None:
    def admit(subject: Subject, hello: Hello) -> None:
        if subject.name == who:
            assert hello.card == b"card"
            raise ConsentError(f"{subject} is not welcome")

    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True, admit=admit)
        async with running(comp):
            lyon = Party(federation.join("lyon"), dial={"comp": comp.address}, admit=admit)
            async with running(lyon):
                for party, peer in ((lyon, "comp"), (comp, "lyon")):
                    error = await party.error(peer, containing="not welcome")
                    assert isinstance(error, ConsentError)
                assert lyon.net.sessions("comp") == 0

    asyncio.run(scenario())


@pytest.mark.parametrize(("here", "there"), [(1, 2), (2, 1)])
def test_versions_must_agree(federation: Federation, here: int, there: int) -> None:
    def version(wire: int) -> Callable[[], Hello]:
        return lambda: msgspec.structs.replace(HELLO, wire=wire, version=f"0.{wire}.0")

    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True, hello=version(there))
        async with running(comp):
            dial = {"comp": comp.address}
            lyon = Party(federation.join("lyon"), dial=dial, hello=version(here))
            async with running(lyon):
                for party, peer in ((lyon, "comp"), (comp, "lyon")):
                    error = await party.error(peer)
                    assert isinstance(error, VersionError)
                    older = "lyon" if here == 1 else "comp"
                    assert f"install Lotor 0.2.0 at {older}" in str(error)
                    assert "wire version 2" in str(error)
                    assert "speaks 1 (Lotor 0.1.0)" in str(error)

    asyncio.run(scenario())


def test_revocation_counts_for_the_next_connection(federation: Federation) -> None:
    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True)
        async with running(comp), Proxy(comp.address) as proxy:
            lyon = Party(federation.join("lyon"), dial={"comp": proxy.address})
            graz = Party(federation.join("graz"), dial={"comp": comp.address})
            async with running(lyon, graz):
                await exchange(lyon, comp)
                federation.revoke("lyon")
                proxy.cut()
                assert "was revoked on" in str(await lyon.error("comp", containing="revoked"))
                assert not comp.net.connected("lyon")
                await exchange(graz, comp)

    asyncio.run(scenario())


def test_a_probe_says_who_is_there_and_disturbs_nobody(
    federation: Federation, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_host("nowhere.invalid", monkeypatch)

    async def then(lyon: Party, comp: Party) -> None:
        tls = Tls(
            federation.folder / "lyon.certificate.pem",
            federation.folder / "lyon.key.pem",
            federation.trust,
        )
        found = await probe(comp.address, tls, HELLO, QUICK)
        assert found == (Subject("comp", "comp"), HELLO)
        assert lyon.net.sessions("comp") == 1
        await exchange(lyon, comp)
        with pytest.raises(VersionError, match="wire version 9"):
            await probe(comp.address, tls, msgspec.structs.replace(HELLO, wire=9), QUICK)
        with pytest.raises(TransportError, match="nobody listens"):
            await probe(("127.0.0.1", 1), tls, HELLO, QUICK)
        with pytest.raises(TransportError, match="nobody listens"):
            await probe(("localhost", 1), tls, HELLO, QUICK)  # two addresses on many machines
        with pytest.raises(TransportError, match="cannot be resolved"):
            await probe(("nowhere.invalid", 1), tls, HELLO, QUICK)
        await exchange(lyon, comp)

    pair(federation, then)


def test_two_parties_with_encrypted_keys_exchange_frames(federation: Federation) -> None:
    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp", password=b"of comp"), listen=True)
        async with running(comp):
            lyon = Party(federation.join("lyon", password=b"of lyon"), dial={"comp": comp.address})
            async with running(lyon):
                await lyon.connected("comp")
                await comp.connected("lyon")
                await exchange(lyon, comp)

    asyncio.run(scenario())


@pytest.mark.parametrize("password", [None, b"of somebody else"])
def test_an_encrypted_key_without_its_password_is_named_and_nobody_is_asked(
    federation: Federation, password: bytes | None
) -> None:
    federation.join("lyon", password=b"of lyon")
    files = [federation.folder / f"lyon.{kind}.pem" for kind in ("certificate", "key")]
    tls = Tls(files[0], files[1], federation.trust, password=password)
    with pytest.raises(ConfigError, match=r"lyon\.key\.pem cannot be used for TLS"):
        tls.client()


def test_an_address_in_use_is_named(federation: Federation) -> None:
    async def then(lyon: Party, comp: Party) -> None:
        second = Party(federation.join("graz"), listen=comp.address)
        with pytest.raises(TransportError, match=f"cannot listen at 127.0.0.1:{comp.address[1]}"):
            await second.net.start()
        await second.net.close()

    pair(federation, then)


def test_files_that_cannot_be_used_stop_the_start(federation: Federation) -> None:
    async def scenario() -> None:
        lyon = Party(federation.join("lyon"), listen=True)
        (federation.folder / "lyon.key.pem").write_bytes(b"")
        with pytest.raises(ConfigError, match="cannot be used for TLS"):
            await lyon.net.start()
        await lyon.net.close()

    asyncio.run(scenario())


def test_closing_in_the_middle_of_a_handshake(federation: Federation) -> None:
    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True)
        async with running(comp):
            _, writer = await asyncio.open_connection(*comp.address)
            lyon = Party(federation.join("lyon"), dial={"comp": comp.address})
            async with running(lyon):
                await asyncio.sleep(0)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        assert len(asyncio.all_tasks()) == 1

    for _ in range(20):
        asyncio.run(scenario())


def test_frames_are_never_logged(federation: Federation, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def then(lyon: Party, comp: Party) -> None:
        lyon.send("comp", b"between us")
        assert await comp.receive("lyon") == b"between us"

    pair(federation, then)
    assert "between us" not in caplog.text
    assert b"between us".hex(" ") not in caplog.text
