"""What the journals of a federation on loopback say, read while its parties write them."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast
from urllib.parse import quote

import msgspec

from lotor.core.errors import JournalError
from lotor.protocols.form import RunPlan
from lotor.runtime.daemon.announcement import Announcement
from lotor.runtime.durable.database import errors, open_uri
from lotor.runtime.durable.journal import FINISHED
from lotor.runtime.durable.run_output import RunOutput
from lotor.sandbox.federation import Federation


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """A run at one party. `lives` counts how often the party took it up."""

    state: str
    began: float
    changed: float
    lives: int
    messages_sent: int
    bytes_sent: int

    @property
    def finished(self) -> bool:
        return self.state == FINISHED


class Journals:
    """Opens a journal for each question only, so that a restart finds it as the crash left it.

    `keys` are those of parties whose journals are protected, if the kits do not say them.
    """

    def __init__(
        self, federation: Federation, keys: Mapping[str, bytes | None] | None = None
    ) -> None:
        self._federation = federation
        self._keys = federation.journal_keys if keys is None else keys

    def _path(self, name: str) -> Path:
        return self._federation.kits[name] / "state" / "journal.db"

    def _ask(self, name: str, question: str, *values: str) -> list[tuple[object, ...]] | None:
        """None while there is no journal, or none that can be read just now."""
        path = quote(str(self._path(name)))
        try:
            # Read only: a writer that closes last would clean up the state that a restart must cope
            # with.
            database = open_uri(f"file:{path}?mode=ro", self._keys.get(name), timeout=1)
        except errors():
            return None
        try:
            return database.execute(question, values).fetchall()
        except errors():
            return None
        finally:
            database.close()

    def run(self) -> str | None:
        """The run that the opener has opened."""
        rows = self._ask(
            self._federation.opener, "SELECT id FROM runs ORDER BY created DESC LIMIT 1"
        )
        return str(rows[0][0]) if rows else None

    def standing(self, name: str, run: str) -> Standing | None:
        rows = self._ask(
            name,
            "SELECT state, created, changed, incarnation, messages_sent, bytes_sent "
            "FROM runs JOIN progress ON run = id WHERE id = ?",
            run,
        )
        return msgspec.convert(rows[0], Standing) if rows else None

    def finished(self, run: str) -> bool:
        """Whether the opener has the total."""
        standing = self.standing(self._federation.opener, run)
        return standing is not None and standing.finished

    def round(self, run: str) -> int:
        """The last round in which some arm was pulled, as far as can be read."""
        return max(
            (self._last_round(name, run) for name in self._federation.cast.pullers), default=0
        )

    def _last_round(self, name: str, run: str) -> int:
        rows = self._ask(
            name,
            "SELECT decision FROM pulls WHERE run = ? AND decision IS NOT NULL "
            "ORDER BY number DESC LIMIT 1",
            run,
        )
        return int(str(rows[0][0]).rsplit("/", 1)[1]) if rows else 0

    def arms(self, run: str) -> dict[int, list[int]]:
        """For each round, the arms that were pulled: one, if all went well."""
        pulled: dict[int, list[int]] = {}
        for name in self._federation.cast.pullers:
            rows = self._ask(
                name,
                "SELECT decision FROM pulls "
                "WHERE run = ? AND decision IS NOT NULL AND features IS NULL",
                run,
            )
            if rows is None:
                raise JournalError(f"{self._path(name)} cannot be read: was it removed?")
            for (decision,) in rows:
                t, arm = self._federation.round_and_arm(str(decision))
                pulled.setdefault(t, []).append(arm)
        return pulled

    def trajectory(self, run: str, budget: int) -> list[int] | None:
        """The arm of each round; None unless each round has exactly one."""
        pulled = self.arms(run)
        if sorted(pulled) != list(range(1, budget + 1)) or any(len(a) > 1 for a in pulled.values()):
            return None
        return [pulled[t][0] for t in range(1, budget + 1)]

    def plan(self, run: str) -> RunPlan:
        """What is public about the run, by its announcement."""
        rows = self._ask(self._federation.opener, "SELECT announcement FROM runs WHERE id = ?", run)
        if not rows:
            raise JournalError(f"{self._path(self._federation.opener)} does not hold run {run}")
        announcement = msgspec.msgpack.decode(bytes(rows[0][0]), type=Announcement)  # type: ignore[call-overload]
        return self._federation.form.plan(announcement.order)

    def total(self, run: str) -> float | None:
        """What the opener learned."""
        rows = self._ask(
            self._federation.opener,
            "SELECT output FROM progress WHERE run = ? AND finished",
            run,
        )
        return cast("float", RunOutput.from_json(str(rows[0][0])).output) if rows else None
