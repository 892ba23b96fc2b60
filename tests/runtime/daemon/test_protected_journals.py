"""A federation whose parties all keep encrypted journals."""

from contextlib import closing
from pathlib import Path

import pytest

from encrypted import KEY
from lotor.runtime.daemon.doctor import journal_checks, run_checks
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.durable.journal import Journal
from lotor.sandbox.journals import Journals
from runtime.daemon import stage as stage_module
from runtime.daemon.stage import EVERYONE, Stage, plain, play


def test_a_run_with_restarts_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        stage_module, "Journal", lambda folder, party, *_: Journal(folder, party, KEY)
    )

    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        for name in EVERYONE:
            await made.stop(name)
            await made.start(name)
        for name in EVERYONE:
            for path in (made.kit(name) / "state").iterdir():
                data = path.read_bytes()
                assert run.encode() not in data, path
                assert b"controller" not in data, path
        made.release()
        await made.finishes(run)
        journals = Journals(made.federation, dict.fromkeys(EVERYONE, KEY))
        assert journals.finished(run)
        assert journals.total(run) == plain()
        assert Journals(made.federation).standing("customer", run) is None

    play(scene, tmp_path)


@pytest.mark.parametrize(
    ("written", "given", "words"),
    [
        (KEY, KEY, "is whole; runs in it: 0"),
        (KEY, None, "is protected"),
        (None, KEY, "is not protected, but its kit is"),
        (KEY, bytes(32), "does not open with this key"),
    ],
    ids=["right", "none", "plain", "wrong"],
)
def test_doctor_looks_into_it_with_its_key(
    tmp_path: Path, written: bytes | None, given: bytes | None, words: str
) -> None:
    async def scene(made: Stage) -> None:
        subject = Kit(made.kit("lyon")).subject
        with closing(Journal(made.kit("lyon") / "state", str(subject), written)):
            pass
        kit = ExaminedKit(made.kit("lyon"), journal_key=given)
        (finding,) = journal_checks.check_journal(kit)
        assert words in finding.found
        if given == written:
            (about,) = run_checks.check_runs(kit)
            assert "under way: 0" in about.found
        assert KEY.hex() not in repr(kit)

    play(scene, tmp_path, "-")
