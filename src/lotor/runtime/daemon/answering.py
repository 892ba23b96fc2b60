"""How an owner's daemon answers the pulls of a run: asked once, on a schedule, or left in doubt."""

from collections.abc import Callable

from lotor.core.effects import Decision
from lotor.core.errors import PullError
from lotor.runtime.daemon.clock import Clock
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.pull import Asker
from lotor.runtime.daemon.tables import OwnerTable
from lotor.runtime.durable.host import Asked, Host

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0


class Answering:
    """One run's pulls at one owner.

    With a `tick`, the party goes on a fixed time after each bit arrived, whether its arm was
    pulled or not; a pull that takes longer shows, and is reported.
    """

    def __init__(
        self, host: Host, owner: OwnerTable, asker: Asker, clock: Clock, log: RunLog
    ) -> None:
        self._host = host
        self._owner = owner
        self._asker = asker
        self._clock = clock
        self._log = log
        self._may_repeat: str | None = None
        self.late_pulls = 0
        self.doubt: Decision | None = None
        self.trouble = ""
        self.changed: Callable[[], None] = lambda: None

    @property
    def at_once(self) -> bool:
        """Whether nothing needs to be waited for: no pull here, and no schedule."""
        asked = self._host.asked
        return asked is not None and asked.decision is None and not self._owner.tick

    async def answer(self, asked: Asked) -> bool:
        """Answer what the host asks; False when that is in doubt and a person must decide."""
        began = self._clock.now()
        reward = None
        if asked.decision is not None:
            reward = await self._ask(asked.decision, again=asked.again)
            if reward is None:
                return False
        self._host.answered(reward)
        await self._keep_schedule(began)
        return True

    async def _ask(self, decision: Decision, *, again: bool) -> float | None:
        """The world's answer. A question that may have been asked before needs a pull that
        recognises it, or a person."""
        pause = FIRST_PAUSE
        repeatable = self._host.repeatable or self.may_repeat(decision.id)
        if again and not repeatable:
            self._leave_in_doubt(decision, "this party stopped between asking and the answer")
            return None
        while True:
            try:
                reward = await self._asker.ask(decision)
            except PullError as error:
                if not self._host.repeatable:
                    self._leave_in_doubt(decision, str(error))
                    return None
                self._report(f"{error}; asked again in {pause:g} s", decision)
                await self._clock.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                if self.trouble:
                    self._tell("")
                return reward

    def _leave_in_doubt(self, decision: Decision, why: str) -> None:
        self.doubt = decision
        self._report(
            f"in doubt: nobody knows whether decision {decision.id} was carried out ({why}); find "
            f"out, then `lotor runs resolve {decision.run} {decision.id} --reward X`, `--lost` "
            "or `--again`",
            decision,
        )

    def _report(self, text: str, decision: Decision) -> None:
        self._log.error(text, extra={"event": "pull-trouble", "round": decision.round})
        self._tell(text)

    def _tell(self, trouble: str) -> None:
        self.trouble = trouble
        self.changed()

    def may_repeat(self, decision: str) -> bool:
        """Whether a person has said to ask this one again."""
        return self._may_repeat == decision

    def resolved(self, decision: Decision, reward: float | None) -> None:
        """A person has decided: the reward, or None to ask (again)."""
        if reward is None:
            self._may_repeat = decision.id
        else:
            self._host.answered(reward)
        self.doubt = None
        self._tell("")

    async def _keep_schedule(self, began: float) -> None:
        tick = self._owner.tick
        if not tick:
            return
        left = began + tick - self._clock.now()
        if left < 0:
            self.late_pulls += 1
            self._log.warning(
                f"a pull took {tick - left:.3f} s, longer than the tick of {tick:g} s: whoever "
                "sees the network can tell that this owner was pulled; set a longer tick",
                extra={"event": "late-pull", "round": self._host.round},
            )
            self.changed()
        else:
            await self._clock.sleep(left)
