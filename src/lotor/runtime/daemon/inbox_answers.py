"""How a party with an inbox answers: people or programs carry decisions out, and tell outcomes."""

import asyncio

from lotor.core.effects import Act, Decision
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.record import Answer


class InboxAnswers:
    """A decision that is only carried out here is answered as soon as it can be found.

    An outcome that nobody will ever know is worth `least` to a party that cannot do without one.
    """

    def __init__(self, host: Host, least: float) -> None:
        self._host = host
        self._least = least
        self._told = asyncio.Event()

    def ready(self, effect: object, decision: Decision) -> bool:
        """Let the decision be found; whether its answer is there."""
        acts = type(effect) is Act
        self._host.show(decision, paid_here=not acts)
        return acts or self._host.told(decision) is not None

    def answer(self, decision: Decision) -> Answer:
        """The answer, once it is there: nothing to a decision that was only to be carried out."""
        known = self._host.told(decision)
        if known is None:
            return None
        return self._least if known.reward is None else known.reward

    def wake(self) -> None:
        """Outcomes may have been told."""
        self._told.set()

    async def later(self, effect: object, decision: Decision) -> Answer:
        """The answer, when somebody tells it; that may take months."""
        while not self.ready(effect, decision):
            self._told.clear()
            await self._told.wait()
        return self.answer(decision)
