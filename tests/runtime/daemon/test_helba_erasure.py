"""When a run of HELBA has ended, no file holds its secret key, contexts or ciphertexts.

It keeps most of them beside the journal, unlike the runs of test_erasure.py.
"""

import asyncio
from pathlib import Path

import pytest

from daemons import until
from lotor.runtime.durable.file_store import FileStore
from lotor.runtime.durable.journal import FAILED, FINISHED, STOPPED
from lotor.sandbox import Federation
from residue import Residue, watch_journals, windows
from runtime.daemon.test_erasure import erased
from runtime.daemon.test_helba import held, lodgers, made, ordered, steps_end, stored

__all__ = ["made"]
PARTIES = ("user", "server", "key-authority")


def watch_stores(patch: pytest.MonkeyPatch, residue: Residue) -> None:
    write = FileStore.write

    def watched(self: FileStore, data: bytes) -> str:
        residue.secret |= windows(data, step=1_000)  # keys of megabytes: some pieces of each
        return write(self, data)

    patch.setattr(FileStore, "write", watched)


async def ended(group_of: Federation, hold: Path, end: str, residue: Residue) -> None:
    group, folders = lodgers(group_of), [kit / "state" for kit in group_of.kits.values()]
    try:
        await group.up()
        run = ordered(group, group_of)
        lives = {name: await group.live(name, run) for name in PARTIES}
        await until(lambda: lives["user"].round >= 3 and lives["server"].round >= 3)
        # The scan can find something: the user has its key beside the journal, the server more.
        assert [name for name in PARTIES if list(stored(group_of, name))] == ["user", "server"]
        assert residue.found([group_of.kits["user"] / "state"])
        hold.unlink()
        if end != FINISHED:
            lives["server"].end(end, "in the middle")
        await until(lambda: all(live.over.is_set() for live in lives.values()))
        assert {lives[name].state for name in ("user", "server")} == {end}
        await until(lambda: erased(group.nodes.values()))
        assert residue.found(folders) == {}
    finally:
        await group.down()
    # A step that was under way when the run ended must not write anything down any more.
    await steps_end()
    assert residue.found(folders) == {}
    assert not [path for name in PARTIES for path, _ in stored(group_of, name)]


@pytest.mark.long
@pytest.mark.parametrize("secure_delete", [True, False])
@pytest.mark.parametrize("end", [FINISHED, STOPPED, FAILED])
def test_a_run_leaves_nothing_in_journals_and_beside_them(
    made: Federation, monkeypatch: pytest.MonkeyPatch, end: str, secure_delete: bool
) -> None:
    residue = watch_journals(monkeypatch, secure_delete=secure_delete)
    watch_stores(monkeypatch, residue)
    with held(made) as hold:
        asyncio.run(ended(made, hold, end, residue))
    assert len(residue.secret) > 5_000
