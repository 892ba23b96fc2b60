"""What a party is warned of when it is served, and what a stranger sees of it."""

import asyncio
import ssl
from pathlib import Path

import msgspec
import pytest

from lotor.crypto.certificates import Certificate, Subject
from lotor.runtime.daemon.config import TrialTable, read_config, write_config
from lotor.runtime.daemon.doctor import examine
from runtime.daemon.stage import NOBODY, Stage, play

WARNING = "[trial] in party.toml fixes this party's draws"


@pytest.mark.parametrize("trial", [TrialTable(seed=5), None], ids=["trial", "no trial"])
def test_who_is_served_with_a_fixed_seed_is_warned(
    tmp_path: Path, trial: TrialTable | None
) -> None:
    async def scene(made: Stage) -> None:
        path = made.kit("lyon") / "party.toml"
        write_config(path, msgspec.structs.replace(read_config(path), trial=trial))
        await made.start("lyon")
        assert made.logged(WARNING) == (trial is not None)
        report = await asyncio.to_thread(examine, made.kit("lyon"))
        found = [one.result for one in report if one.check == "trial"]
        assert found == ["warning"] * (trial is not None)

    play(scene, tmp_path, *NOBODY)


def test_a_stranger_sees_the_name_and_the_role_of_a_listener(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        address = made.controller.connections.transport.address
        assert address is not None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        _, writer = await asyncio.open_connection(*address, ssl=context)
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.transport.abort()
        assert Certificate.from_der(shown).subject == Subject("controller", "controller")

    play(scene, tmp_path, "controller")
