"""Daemons of protected kits work as others do, and what they write tells nothing."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lotor.core.errors import ConfigError, JournalError
from lotor.runtime.daemon.config import PartyConfig, write_config
from lotor.runtime.daemon.doctor import examine
from lotor.runtime.daemon.protecting import Choice, kit_folder, protect, unprotect
from lotor.runtime.daemon.protection import read_protection
from lotor.runtime.daemon.serving import open_kit
from lotor.sandbox.kits import make_kits
from runtime.daemon.protected import CHEAP, Killed, killed_at, protect_with_key_file
from runtime.daemon.stage import EVERYONE, NOBODY, Stage, play

PROBED = ("controller", "porto")


def key_file(made: Stage, name: str) -> Path:
    return made.federation.folder / f"{name}.key"


def protect_all(made: Stage) -> None:
    for name in EVERYONE:
        protect_with_key_file(made.kit(name), key_file(made, name))


def secrets(made: Stage, name: str) -> list[bytes]:
    """Parts of all that a party needs to go on with its run, its keys of the run among it."""
    node = made.nodes[name]
    rows = node.journal.database.execute("SELECT snapshot FROM progress WHERE snapshot NOT NULL")
    snapshots = [bytes(snapshot) for (snapshot,) in rows]
    assert snapshots
    # A large snapshot is cut into pages, so its parts are looked for.
    return [one[at : at + 24] for one in snapshots for at in range(0, len(one) - 24, 24)]


def written(kit: Path) -> bytes:
    """Whatever a thief finds in a kit: its files, one after the other."""
    state = [path for path in (kit / "state").rglob("*") if path.is_file()]
    return b"".join(path.read_bytes() for path in (kit / "key.pem", *sorted(state)))


@pytest.mark.parametrize("protected", [False, True])
def test_a_run_survives_restarts_and_only_a_plain_kit_tells_its_secrets(
    tmp_path: Path, protected: bool
) -> None:
    async def scene(made: Stage) -> None:
        if protected:
            protect_all(made)
        await made.start(*EVERYONE)
        made.hold()
        run = await made.order()
        await made.held(run)
        for name in PROBED:
            found = [secret in written(made.kit(name)) for secret in secrets(made, name)]
            assert any(found) is not protected, name
            assert (b"SQLite format 3" in written(made.kit(name))) is not protected
        await made.stop("porto", "controller")
        await made.start("controller", "porto")
        made.release()
        await made.finishes(run)

    play(scene, tmp_path, *NOBODY)


def test_a_kit_is_protected_and_unprotected_in_the_middle_of_a_run(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        for name in ("porto", "comp"):
            folder = kit_folder(made.kit(name))
            with pytest.raises(JournalError, match="nothing was changed: stop it"):
                protect(folder, Choice(new_key_file=key_file(made, name)), cost=CHEAP)
            assert not key_file(made, name).exists()
            await made.stop(name)
            protect_with_key_file(made.kit(name), key_file(made, name))
            assert b"SQLite format 3" not in written(made.kit(name))
            await made.start(name)
            with pytest.raises(JournalError, match="nothing was changed: stop it"):
                unprotect(folder)
        await made.stop("comp")
        unprotect(kit_folder(made.kit("comp")))
        assert b"SQLite format 3" in written(made.kit("comp"))
        await made.start("comp")
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)


# -- swapped journals ------------------------------------------------------------------------------


@pytest.fixture
def kits(tmp_path: Path) -> dict[str, Path]:
    """Two protected kits and a plain one, each with a journal."""
    kits = make_kits(tmp_path, {"lyon": "owner", "porto": "owner", "graz": "owner"})
    for name, kit in kits.items():
        write_config(kit / "party.toml", PartyConfig())
        if name != "graz":
            protect_with_key_file(kit, tmp_path / f"{name}.key")
        with open_kit(kit):
            pass
    return kits


def contents(kit: Path) -> dict[str, bytes]:
    files = [path for path in kit.rglob("*") if path.is_file() and path.name != "journal.lock"]
    return {str(path.relative_to(kit)): path.read_bytes() for path in files}


@pytest.mark.parametrize(
    ("victim", "source", "words"),
    [
        ("lyon", "porto", "does not open with this key"),
        ("lyon", "graz", "is not protected, but its kit is"),
        ("graz", "lyon", "is protected, but its kit is not"),
    ],
    ids=["of another party", "plain", "protected"],
)
def test_a_swapped_journal_is_named_and_nothing_is_changed(
    kits: dict[str, Path], tmp_path: Path, victim: str, source: str, words: str
) -> None:
    kit = kits[victim]
    shutil.copy(kits[source] / "state" / "journal.db", kit / "state")
    before = contents(kit)

    def serve() -> None:
        with open_kit(kit):
            pass

    choice = Choice(new_key_file=tmp_path / "another.key")
    changes: list[Callable[[], object]] = [
        serve,
        lambda: protect(kit_folder(kit), choice, cost=CHEAP),
    ]
    if victim == "lyon":
        changes.append(lambda: unprotect(kit_folder(kit)))
    for change in changes:
        with pytest.raises(JournalError, match=words) as refused:
            change()
        assert str(kit / "state" / "journal.db") in str(refused.value)
        assert "lotor keys protect" not in str(refused.value)  # it was tried, and says the same
        assert contents(kit) == before
        assert not (tmp_path / "another.key").exists()
    (found,) = [one for one in examine(kit) if one.check == "journal"]
    assert (found.result, words in found.found) == ("problem", True)
    assert contents(kit) == before


def test_a_journal_of_somebody_else_is_not_protected_as_if_it_were_its_own(
    kits: dict[str, Path], tmp_path: Path
) -> None:
    unprotect(kit_folder(kits["lyon"]))
    shutil.copy(kits["graz"] / "state" / "journal.db", kits["lyon"] / "state")
    before = contents(kits["lyon"])
    with pytest.raises(JournalError, match="is the journal of owner graz, not of owner lyon"):
        protect(kit_folder(kits["lyon"]), Choice(new_key_file=tmp_path / "new.key"), cost=CHEAP)
    assert contents(kits["lyon"]) == before


def test_without_the_cipher_nothing_is_begun(
    kits: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    before = contents(kits["graz"])
    with pytest.raises(ConfigError, match=r"lotor\[protect\]"):
        protect(kit_folder(kits["graz"]), Choice(new_key_file=tmp_path / "new.key"), cost=CHEAP)
    assert contents(kits["graz"]) == before
    assert not (tmp_path / "new.key").exists()


@pytest.mark.parametrize("back", [False, True])
def test_killed_at_any_moment_a_kit_with_a_journal_completes_when_it_is_run_again(
    kits: dict[str, Path], tmp_path: Path, back: bool
) -> None:
    kit, start = kits["lyon" if back else "graz"], tmp_path / "start"
    (tmp_path / "made.key").touch(mode=0o600)
    (tmp_path / "made.key").write_bytes(bytes(range(32)))
    with open_kit(kit) as at:
        at.journal.commands.add("run", b"a command")
        at.journal.stores.of("run").keep(b"a file beside the journal")
    shutil.copytree(kit, start)

    def change() -> None:
        if back:
            unprotect(kit_folder(kit))
        else:
            protect(kit_folder(kit), Choice(key_file=tmp_path / "made.key"), cost=CHEAP)

    for step in range(1000):
        shutil.rmtree(kit)
        shutil.copytree(start, kit)
        try:
            with killed_at(step):
                change()
        except Killed:
            if not _is_done(kit, back=back):
                change()
        else:
            break
        with open_kit(kit) as at:
            ((_, run, command),) = at.journal.commands.waiting()
            assert (run, command) == ("run", b"a command")
            store = at.journal.stores.of("run")
            assert [store.fetch(name) for name in store.names()] == [b"a file beside the journal"]
        assert (b"a command" in b"".join(contents(kit).values())) is back
        assert (b"beside the journal" in b"".join(contents(kit).values())) is back
    assert step > 30


def _is_done(kit: Path, *, back: bool) -> bool:
    protection = read_protection(kit)
    if back:
        return protection is None
    return protection is not None and protection.phase == "protected"
