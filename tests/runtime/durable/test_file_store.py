"""What a party keeps beside its journal is whole, private, and gone when it is not needed."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lotor.core.errors import JournalError, JournalWriteError
from lotor.runtime.durable.file_store import FileStore, Stores


@given(items=st.lists(st.binary(max_size=300), max_size=6), some=st.sets(st.integers(0, 5)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_what_is_kept_is_found_until_it_is_let_go(
    tmp_path: Path, items: list[bytes], some: set[int]
) -> None:
    store = Stores(tmp_path / "store").of("ab")
    names = [store.keep(data) for data in items]
    again = Stores(tmp_path / "store").of("ab")
    assert [again.fetch(name) for name in names] == items
    wanted = {name for place, name in enumerate(names) if place in some}
    again.retain(wanted)
    for name, data in zip(names, items, strict=True):
        if name in wanted:
            assert store.fetch(name) == data
        else:
            with pytest.raises(JournalError, match="put it back from the newest copy"):
                store.fetch(name)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_every_name_on_the_way_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    folder = tmp_path / "store" / "ab"
    name = FileStore(folder).keep(b"x")
    expected = [tmp_path, folder.parent, folder / f"unfinished-{name}", folder]
    assert synced == [str(path) for path in expected]
    # Kept by a process that died before the folder was written.
    assert FileStore(folder).keep(b"x") == name
    assert synced[len(expected) :] == [str(folder)]


def test_files_are_private(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "store" / "ab")
    name = store.keep(b"x")
    path = tmp_path / "store" / "ab" / name
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert name not in repr(store)


@pytest.mark.parametrize("damage", [b"", b"y", b"xx"])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: bytes) -> None:
    store = FileStore(tmp_path)
    name = store.keep(b"x")
    (tmp_path / name).write_bytes(damage)
    with pytest.raises(JournalError, match="damaged"):
        store.fetch(name)


def test_an_unfinished_file_has_no_name_and_is_swept_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileStore(tmp_path / "ab")
    first = store.keep(b"x")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(JournalWriteError, match="No space left on device"):
            store.keep(b"y")
    assert len(list((tmp_path / "ab").iterdir())) == 2
    store.retain({first})
    assert [path.name for path in (tmp_path / "ab").iterdir()] == [first]


def test_the_end_of_a_run(tmp_path: Path) -> None:
    stores = Stores(tmp_path)
    stores.sweep([])
    over, going_on = stores.of("ab"), stores.of("cd")
    over.keep(b"x")
    kept = going_on.keep(b"x")
    stores.sweep(["cd"])
    assert [path.name for path in tmp_path.iterdir()] == ["cd"]
    assert going_on.fetch(kept) == b"x"
    going_on.remove()
    going_on.retain([])
    assert not list(tmp_path.iterdir())
    # A thread that has not heard of the end leaves nothing behind.
    with pytest.raises(JournalWriteError, match="the run is over"):
        going_on.keep(b"z")
    assert not list(tmp_path.iterdir())
