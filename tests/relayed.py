"""A party whose effects a test may look at, or change."""

from collections.abc import Callable

from lotor.core.effects import Effect, Steps
from lotor.protocols.party import Party


class Relayed(Party):
    """A party whose effects pass through a function on their way."""

    def __init__(self, party: Party, change: Callable[[Effect], Effect]) -> None:
        self._party, self._change = party, change

    def steps(self) -> Steps[object]:
        steps, value = self._party.steps(), None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            value = yield self._change(effect)
