"""The folder with the finished cells of a sweep, so that an interrupted one goes on."""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from lotor.core.errors import InputError
from lotor.core.unreadable import UNREADABLE
from lotor.protocols.cell import AnyCell, Outcome
from lotor.studies.cell_digest import CellDigests


class _Kept(msgspec.Struct, frozen=True):
    """A finished cell on disk; `check` is the digest of its outcome as it was written."""

    cell: str
    check: str
    outcome: msgspec.Raw


class KeptCells:
    """One small file for each finished cell, named by the cell's digest."""

    def __init__(self, folder: Path | str, cells: Sequence[AnyCell]) -> None:
        self._folder = Path(folder)
        digests = CellDigests()
        self._digests = [digests.of(cell) for cell in cells]
        self._labels = [dict(cell.labels) for cell in cells]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{folder} cannot be a folder for finished cells: {error.strerror}; give another"
            ) from None

    def found(self) -> dict[int, Outcome]:
        """The outcomes of the cells that were finished before, by their places."""
        outcomes = {place: self._read(place) for place in range(len(self._digests))}
        return {place: outcome for place, outcome in outcomes.items() if outcome is not None}

    def keep(self, place: int, outcome: Outcome) -> None:
        """Write what came of a cell, wholly or not at all."""
        written = msgspec.json.encode(outcome)
        kept = _Kept(self._digests[place], sha256(written).hexdigest(), msgspec.Raw(written))
        path = self._path(place)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            partial.write_bytes(msgspec.json.encode(kept))
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise InputError(f"{path} cannot be written: {error.strerror}") from None

    def forget(self) -> None:
        """Remove what came of these cells, so that they are run anew."""
        for path in map(self._path, range(len(self._digests))):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise InputError(
                    f"{path} cannot be removed ({error.strerror}), so that its times would be "
                    "shown again: remove it yourself"
                ) from None

    def _path(self, place: int) -> Path:
        return self._folder / f"{self._digests[place]}.json"

    def _read(self, place: int) -> Outcome | None:
        """What came of a cell; None where there is no file, or a damaged one."""
        try:
            kept = msgspec.json.decode(self._path(place).read_bytes(), type=_Kept)
            written = bytes(kept.outcome)
            outcome = msgspec.json.decode(written, type=Outcome)
        except (OSError, *UNREADABLE):
            return None
        whole = kept.check == sha256(written).hexdigest()
        own = kept.cell == self._digests[place] and outcome.labels == self._labels[place]
        return outcome if whole and own else None
