"""Parties of versions that do not fit refuse each other, and the operators of both see both."""

import logging
from pathlib import Path

import msgspec
import pytest

from lotor.core.version import VERSION
from lotor.runtime.daemon import start_run as start_run_module
from lotor.runtime.daemon.connections import Connections
from lotor.runtime.daemon.frames import WIRE_VERSION
from lotor.runtime.durable.journal import REFUSED
from lotor.transport.handshake import Hello
from runtime.daemon.stage import EVERYONE, NOBODY, Stage, play
from runtime.daemon.test_declined import start_with_other
from runtime.daemon.waiting import until

OTHERS = tuple(name for name in EVERYONE if name != "lyon")


@pytest.mark.parametrize(("wire", "release"), [(WIRE_VERSION + 1, "9.9.9"), (0, "0.0.9")])
def test_another_wire_version(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    wire: int,
    release: str,
) -> None:
    own = Connections._hello

    def hello(self: Connections) -> Hello:
        made = own(self)
        if self.own_card().contribution.arms and "lyon" in str(self._kit):
            return msgspec.structs.replace(made, wire=wire, version=release)
        return made

    monkeypatch.setattr(Connections, "_hello", hello)

    def seen(event: str, peer: str) -> list[str]:
        return [
            one.getMessage()
            for one in caplog.records
            if (getattr(one, "event", ""), getattr(one, "peer", "")) == (event, peer)
        ]

    async def scene(made: Stage) -> None:
        await made.start(*EVERYONE)
        await until(lambda: seen("unreachable", "controller") and seen("refused", "lyon"))
        for said in (seen("unreachable", "controller")[0], seen("refused", "lyon")[0]):
            for version in (f"{wire}", f"{WIRE_VERSION}", release, VERSION):
                assert version in said
            older = "lyon" if wire < WIRE_VERSION else "controller"
            assert f"at {older} and start it again" in said
        assert "lyon" not in made.controller.connections.names()

    with caplog.at_level(logging.INFO, logger="lotor.daemon"):
        play(scene, tmp_path, *NOBODY)


def test_another_version_of_a_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The party that cannot do the run logs it, and whoever ordered it is told the same."""
    monkeypatch.setattr(start_run_module, "VERSION", "9.8.7")

    async def scene(made: Stage) -> None:
        await start_with_other(made, *OTHERS)
        await made.start("lyon")
        run = await made.order(protocol="other")
        states = await made.ended(run, *OTHERS)
        assert {state for state, _ in states.values()} == {REFUSED}
        said = f"by lotor 9.8.7, which lyon cannot do with its lotor {VERSION}: install lotor 9.8.7"
        for _, note in states.values():
            assert said in note
        assert any(line.startswith("declined: ") and said in line for line in made.log)

    play(scene, tmp_path, *NOBODY)
