"""How a daemon answers the questions of a run: once each, on a schedule, or in doubt."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from lotor.core.effects import Act, Decision, Observe, Pull
from lotor.core.errors import InputError, PullError
from lotor.runtime.daemon.clock import Clock
from lotor.runtime.daemon.commands import Resolve
from lotor.runtime.daemon.config import OwnerTable
from lotor.runtime.daemon.function_caller import FunctionCaller, until_answered
from lotor.runtime.daemon.inbox_answers import InboxAnswers
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.questions import Question
from lotor.runtime.durable.record import Answer
from lotor.runtime.pulls import to_features

FunctionCallers: TypeAlias = Mapping[type[Pull | Act | Observe], FunctionCaller]
# What follows - comes from stdin, and is in no list of processes.
_WAYS_OUT = {
    Pull: "--reward -`, `--lost` or `--again",
    Act: "--lost` (it counts as done) or `--again",
    Observe: "--features -` or `--again",
}
_LACKS = {
    Pull: "is asked for a reward, but its party.toml has no owner.pull",
    Act: "is to carry out an arm, but its party.toml has no owner.act",
    Observe: "is asked for features, but its party.toml has no owner.features",
}


class Answerer:
    """What one run asks of one party: rewards, features, or to carry out an arm.

    With a `tick`, peers hear from the party a fixed time after each question, whether there was
    anything to do or not (see `Departures`); an answer that takes longer shows, and is reported.
    """

    def __init__(
        self, host: Host, owner: OwnerTable, callers: FunctionCallers, clock: Clock, log: RunLog
    ) -> None:
        self._host = host
        self._owner = owner
        self._callers = callers
        self._clock = clock
        self._log = log
        self._inbox = InboxAnswers(host, owner.reward_range[0]) if owner.inbox else None
        self._may_repeat: str | None = None
        self.late_pulls = 0
        self.doubt: Decision | None = None
        self.trouble = ""
        self.changed: Callable[[], None] = lambda: None

    def answer_at_once(self, asked: Question) -> bool:
        """Answer if nothing is to be done here, or if the function is quick; on no schedule.

        If it returns False, `answer` must follow.
        """
        decision = asked.decision
        if self._owner.tick:
            return False
        if decision is None:
            self._host.answered(None)
            return True
        inbox = self._inbox_for(asked)
        if inbox is not None:
            ready = inbox.ready(asked.effect, decision)
            if ready:
                self._host.answered(inbox.answer(decision))
            return ready
        caller = self._callers.get(type(asked.effect))
        if (
            caller is None
            or type(asked.effect) is Observe
            or self.trouble
            or (asked.again and not self._host.repeatable)
            or not caller.begin(decision)
        ):
            return False
        self._host.answered(caller.ready)
        return True

    def lack(self, asked: Question) -> str | None:
        """Why this party can never answer, if that is so."""
        effect, dimensions = asked.effect, self._owner.dimensions
        if effect.decision is None or self._inbox_for(asked) is not None:
            return None
        if type(effect) not in self._callers:
            return _LACKS[type(effect)]
        if isinstance(effect, Observe) and _wanted(effect) != dimensions:
            return (
                f"is asked for {_wanted(effect)} features, but its party.toml has "
                f"owner.dimensions = {dimensions}"
            )
        return None

    async def answer(self, asked: Question) -> bool:
        """Answer the host's question; False when it is in doubt and a person must decide."""
        answer: Answer = None
        inbox = self._inbox_for(asked)
        if asked.decision is not None and inbox is not None:
            answer = await inbox.later(asked.effect, asked.decision)
        elif asked.decision is not None:
            try:
                answer = await self._ask(asked, asked.decision)
            except _InDoubtError:
                return False
        self._host.answered(answer)
        return True

    def _inbox_for(self, asked: Question) -> InboxAnswers | None:
        """The inbox, where it has the answer; features come from a function."""
        return None if type(asked.effect) is Observe else self._inbox

    def outcomes_told(self) -> None:
        """Somebody may have told the outcome that is waited for."""
        if self._inbox is not None:
            self._inbox.wake()

    async def _ask(self, asked: Question, decision: Decision) -> Answer:
        """The world's answer. A question that may have been asked before needs a function that
        recognises it, or a person."""
        repeatable = self._host.repeatable
        if asked.again and not repeatable and not self.may_repeat(decision.id):
            why = "this party stopped between asking and the answer"
            raise self._in_doubt(asked, decision, why)
        ask = partial(self._fitting_answer, asked.effect, decision)
        if repeatable:
            report = partial(self._report, decision=decision)
            answer = await until_answered(ask, self._clock, report)
        else:
            try:
                answer = await ask()
            except PullError as error:
                raise self._in_doubt(asked, decision, str(error)) from None
        if self.trouble:
            self._tell("")
        return answer

    async def _fitting_answer(self, effect: Pull | Act | Observe, decision: Decision) -> Answer:
        return _fitting(effect, await self._callers[type(effect)].call(decision))

    def _in_doubt(self, asked: Question, decision: Decision, why: str) -> "_InDoubtError":
        self.doubt = decision
        self._report(
            f"in doubt: nobody knows whether decision {decision.id} was carried out ({why}); find "
            f"out, then `lotor runs resolve {decision.run} {decision.id} "
            f"{_WAYS_OUT[type(asked.effect)]}`",
            decision,
        )
        return _InDoubtError()

    def _report(self, text: str, decision: Decision) -> None:
        self._log.error(text, extra={"event": "pull-trouble", "round": decision.round})
        self._tell(text)

    def _tell(self, trouble: str) -> None:
        self.trouble = trouble
        self.changed()

    def may_repeat(self, decision: str) -> bool:
        """Whether a person has said to ask this one again."""
        return self._may_repeat == decision

    def resolved(self, asked: Question, verdict: Resolve) -> None:
        """A person has decided what became of it, or that it is to be asked (again)."""
        if verdict.again:
            self._may_repeat = verdict.decision
        else:
            self._host.answered(self._settled(asked.effect, verdict))
        self.doubt = None
        self._tell("")

    def _settled(self, effect: Pull | Act | Observe, verdict: Resolve) -> Answer:
        """The answer that a person gives, if it fits the question."""
        if isinstance(effect, Pull) and (verdict.lost or verdict.reward is not None):
            return self._owner.reward_range[0] if verdict.lost else verdict.reward
        if isinstance(effect, Act) and verdict.lost:
            return None
        if isinstance(effect, Observe) and verdict.features is not None:
            return _fitting(effect, verdict.features)
        raise InputError(
            f"decision {verdict.decision} cannot be resolved that way: give "
            f"`{_WAYS_OUT[type(effect)]}`"
        )

    def report_late(self, asked: Question, t: int, seconds: float) -> None:
        """Peers could see that the answer in round t took longer than a tick."""
        self.late_pulls += 1
        pull = isinstance(asked.effect, Pull)
        self._log.warning(
            f"{'a pull' if pull else 'an answer'} took {seconds:.3f} s, longer than the tick of "
            f"{self._owner.tick:g} s: whoever sees the network can tell that this party was "
            f"{'pulled' if pull else 'slow'}; set a longer tick",
            extra={"event": "late-pull", "round": t},
        )
        self.changed()


class _InDoubtError(Exception):
    """A person must decide."""


def _fitting(effect: Pull | Act | Observe, answer: Answer) -> Answer:
    """The answer, or a PullError where features are too many, too few or too long."""
    if not isinstance(effect, Observe):
        return answer
    return to_features(effect.decision, answer, _wanted(effect), effect.length)


def _wanted(effect: Observe) -> int:
    low, high = effect.columns
    return high - low
