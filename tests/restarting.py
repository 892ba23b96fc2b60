"""A party that crashes again and again."""

from collections.abc import Callable, Mapping

from lotor.core.effects import Checkpoint, Steps
from lotor.protocols.party import Party


class Restarting(Party):
    """Crashes at every n-th effect: rebuilt from the last checkpoint and what it was handed since.

    That is what a runtime with a journal does; what it sends again is not sent twice.
    """

    def __init__(self, party: Party, rebuild: Callable[[bytes], Party], every: int) -> None:
        self._party = party
        self._rebuild = rebuild
        self._every = every
        self.restarts = 0

    def operations(self) -> Mapping[str, int]:
        return self._party.operations()

    def _replay(self, snapshot: bytes, handed: list[object]) -> Steps[object]:
        self._party = self._rebuild(snapshot)
        steps = self._party.steps()
        assert isinstance(next(steps), Checkpoint)
        for value in handed[:-1]:
            steps.send(value)
        self.restarts += 1
        return steps

    def steps(self) -> Steps[object]:
        steps, snapshot, effects = self._party.steps(), b"", 0
        value: object = None
        handed: list[object] = []
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                self.kept, self.revealed = self._party.kept, self._party.revealed
                return end.value
            effects += 1
            if isinstance(effect, Checkpoint):
                snapshot, handed = effect.snapshot(), []
            value = yield effect
            handed.append(value)
            if effects % self._every == 0:
                steps.close()
                steps = self._replay(snapshot, handed)
