"""People who tell outcomes late, in any order and often twice, while parties are killed."""

from collections.abc import Mapping
from contextlib import closing
from random import Random

import msgspec
import pytest

import lotor
from chaos.trial import MEANS, Trial
from late_outcomes import arrivals, paid, plain_with
from lotor.core.errors import InputError, JournalError
from lotor.runtime.daemon.config import OwnerTable, read_config, write_config
from lotor.sandbox import Federation

BATCH, OUTSTANDING = 2, 12
OPTIONS = {"--batch": str(BATCH), "--outstanding": str(OUTSTANDING)}
OFTEN, TWICE = 0.4, 0.2


class Clerks:
    """One at each hospital, who opens its journal for each look only."""

    def __init__(self, federation: Federation, trial: Trial) -> None:
        self._kits = {name: federation.kits[name] for name in MEANS}
        self._random = Random(f"clerks of {trial}")
        self._trial = trial
        self.told: dict[str, float] = {}
        for kit in self._kits.values():
            config = read_config(kit / "party.toml")
            changed = msgspec.structs.replace(config, owner=OwnerTable(inbox=True))
            write_config(kit / "party.toml", changed)

    def look(self) -> None:
        """Tell some of the outcomes that are missing, and some that are known once more."""
        for kit in self._kits.values():
            try:
                with closing(lotor.Inbox(kit)) as inbox:
                    self._look(inbox)
            except JournalError:
                continue  # its daemon is just making it

    def _look(self, inbox: lotor.Inbox) -> None:
        waiting = inbox.waiting()
        assert not any(one.id in self.told for one in waiting), "a told outcome is gone"
        self._random.shuffle(waiting)
        for one in waiting:
            if self._random.random() < OFTEN:
                self.told[one.id] = paid(one)
                assert inbox.tell(one.id, paid(one))
            if one.id in self.told and self._random.random() < TWICE:
                self._tell_again(inbox, one.id)

    def _tell_again(self, inbox: lotor.Inbox, decision: str) -> None:
        assert not inbox.tell(decision, self.told[decision])
        with pytest.raises(InputError, match="another outcome already"):
            inbox.tell(decision, 1.0 - self.told[decision] / 2)

    def check(self, run: str, total: float | None, arms: Mapping[int, list[int]]) -> None:
        """Every outcome counted once; arms and total are those of plain with the same arrivals."""
        trial = self._trial
        arrived = arrivals(self._kits.values(), run)
        assert len(self.told) == trial.budget
        plain_arms, plain_total = plain_with(
            arrived,
            lotor.CallbackArms([paid] * len(MEANS)),
            policy=trial.policy,
            budget=trial.budget,
            seed=trial.seed,
            batch=BATCH,
        )
        assert total == plain_total, trial
        assert arms == {t: [arm] for t, arm in enumerate(plain_arms, 1)}, trial


def clerks_of(federation: Federation, trial: Trial) -> Clerks | None:
    return Clerks(federation, trial) if trial.late else None
