"""Runs of other versions, and other opinions about who can be trusted."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from lotor import Samba
from lotor.core.version import VERSION
from lotor.protocols.form import AnyForm
from lotor.protocols.protocol import PROTOCOLS
from lotor.protocols.samba.shared.form import SambaShared
from lotor.runtime.daemon import run_registry
from lotor.runtime.daemon.frames import Status
from lotor.runtime.durable.frames import Join
from lotor.runtime.durable.journal import REFUSED, RUNNING
from runtime.daemon.forgery import announced, foreign, resigned, seat
from runtime.daemon.stage import EVERYONE, NOBODY, Stage, play, unchanged
from runtime.daemon.waiting import until


class OtherForm(SambaShared):
    wire: ClassVar[str] = "other/1"


class OtherSamba(Samba):
    """SAMBA as it might be one day."""

    name: ClassVar[str] = "other"
    forms: ClassVar[Mapping[str, type[AnyForm]]] = {"shared": OtherForm}  # type: ignore[assignment]


async def start_with_other(made: Stage, *names: str) -> None:
    for name in names:
        await made.start(name, protocols={**PROTOCOLS, "other": OtherSamba})


def test_a_run_of_another_version_waits_for_it_and_others_go_on(tmp_path: Path) -> None:
    """In the journals of all who know it, while one of them was put back to an old version."""

    async def scene(made: Stage) -> None:
        await start_with_other(made, *EVERYONE)
        made.hold()
        run = await made.order(protocol="other")
        await made.held(run)
        await made.stop("lyon")
        await made.start("lyon")
        assert made.logged("is one of other in the form shared (other/1)")
        assert made.logged(f"install lotor {VERSION} there")
        with unchanged(made.nodes["lyon"]):
            await until(lambda: "controller" in made.nodes["lyon"].connections.names())
        made.release()
        await made.works()
        assert made.live("controller", run).state == RUNNING
        await made.stop("lyon")
        await start_with_other(made, "lyon")
        await made.finishes(run)

    play(scene, tmp_path, *NOBODY)


def test_who_cannot_do_a_run_says_so_and_stays_connected(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await start_with_other(made, "controller", "comp", "customer", "porto")
        await made.start("lyon")
        run = await made.order(protocol="other")
        others = ("controller", "comp", "customer", "porto")
        states = await made.ended(run, *others)
        assert {state for state, _ in states.values()} == {REFUSED}
        (note,) = {note for _, note in states.values()}
        assert note.startswith("lyon: run ")
        assert f"which lyon cannot do with its lotor {VERSION}" in note
        assert run not in made.nodes["lyon"].runs
        sessions = made.controller.connections.transport.session("lyon")
        await made.works()
        assert made.controller.connections.transport.session("lyon") == sessions

    play(scene, tmp_path, *NOBODY)


def test_a_member_whom_one_party_does_not_trust(tmp_path: Path) -> None:
    """Revoked, but only lyon has the newest list: the run ends, and others can go on."""

    async def scene(made: Stage) -> None:
        made.revoke(made.nodes["porto"].kit.certificate, at=["lyon"])
        run = await made.order()
        states = await made.ended(run, "controller", "comp", "customer", "porto")
        assert {state for state, _ in states.values()} == {REFUSED}
        (note,) = {note for _, note in states.values()}
        assert note.startswith("lyon: ")
        assert "owner porto was revoked on" in note
        assert made.controller.connections.transport.session("lyon") == 1

    play(scene, tmp_path)


def test_declined_runs_are_remembered_up_to_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_registry, "MOST_ASIDE", 3)

    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        graz = await made.stranger("graz")
        strange = seat(announced(made, run), comp=foreign("comp", "comp"))
        with unchanged(made.controller):
            for number in range(3):
                bad = msgspec.structs.replace(strange, run=f"{number:032x}")
                await graz.say(resigned(made, bad), Join(bad.run, 1, 0, 0, 0, 0))
                await until(lambda: len(graz.frames) == number + 1)  # noqa: B023
            bad = msgspec.structs.replace(strange, run="ff" * 16)
            assert "cannot be trusted" in await graz.refused(resigned(made, bad))
        assert {frame.state for frame in graz.frames if isinstance(frame, Status)} == {REFUSED}
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)
