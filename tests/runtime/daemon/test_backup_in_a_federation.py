"""A party that comes back from a backup: what is over is back, and what went on is refused."""

import asyncio
from pathlib import Path

import pytest

from lotor.crypto.wrapping import ScryptCost
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.backup.making import back_up
from lotor.runtime.daemon.backup.restoring import restore
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.protecting import Choice, kit_folder, protect
from lotor.runtime.durable import host as host_module
from lotor.runtime.durable.journal import FINISHED, RUNNING, STOPPED
from runtime.daemon.protected import CHEAP
from runtime.daemon.stage import Stage, play, stage
from runtime.daemon.test_restored_backup import blocked
from runtime.daemon.waiting import until

QUICK = ScryptCost(log2_n=10)


@pytest.mark.parametrize("protected", [False, True])
def test_a_restored_old_journal_is_refused_and_all_else_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", 2)
    file, key_file = tmp_path / "lyon.backup", tmp_path / "backup.key"

    async def scene() -> None:
        async with stage(tmp_path / "federation") as made:
            kit = made.kit("lyon")
            if protected:
                await made.stop("lyon")
                choice = Choice(new_key_file=tmp_path / "kit.key")
                protect(kit_folder(kit), choice, cost=QUICK)
                await made.start("lyon")
            ended = await made.order()
            await made.finishes(ended)
            made.hold(after=8)
            run = await made.order()
            await made.held(run, after=8)
            spent = made.nodes["lyon"].journal.ledger.spent()
            fingerprint = Kit(kit).certificate.fingerprint
            await asyncio.to_thread(
                back_up, kit, file, Choice(new_key_file=key_file), cost=CHEAP
            )  # while it is served
            made.hold(after=15)
            await made.held(run, after=15)
            calls = made.calls("lyon"), made.calls("porto")
            await made.stop("lyon")
            report = restore(file, kit, force=True)
            await made.start("lyon")
            await blocked(made, run, "lyon", ("controller",))
            assert (made.calls("lyon"), made.calls("porto")) == calls
            journal = made.nodes["lyon"].journal
            assert journal.run(ended).state == FINISHED
            assert journal.ledger.spent() == spent
            assert Kit(kit).certificate.fingerprint == fingerprint
            assert report.replaced
            made.release()
            made.ask("lyon", run, commands.Stop("our disk is broken"))
            assert {state for state, _ in (await made.ended(run)).values()} == {STOPPED}
            await made.works()

    asyncio.run(scene())


def test_a_run_that_has_not_gone_on_goes_on_from_it(tmp_path: Path) -> None:
    """A party moves to another machine: it is stopped, backed up, and restored there."""
    file, key_file = tmp_path / "lyon.backup", tmp_path / "backup.key"

    async def scene(made: Stage) -> None:
        kit = made.kit("lyon")
        made.hold()
        run = await made.order()
        await made.held(run)
        await made.stop("lyon")
        back_up(kit, file, Choice(new_key_file=key_file), cost=CHEAP)
        restore(file, kit, force=True)
        await made.start("lyon")
        await until(lambda: made.live("lyon", run).state == RUNNING)
        made.release()
        await made.finishes(run)

    play(scene, tmp_path / "federation")
