"""Lets the party of one run go on: step by step, question by question, at its own pace."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from lotor.core.effects import Pull
from lotor.core.errors import InputError, JournalWriteError, LotorError, PullError
from lotor.runtime.daemon.answerer import Answerer
from lotor.runtime.daemon.commands import Resolve
from lotor.runtime.daemon.departures import Departures
from lotor.runtime.daemon.errands import Errands
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.durable.background_step import BackgroundStep, run_in_thread
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.questions import Question

NOTHING_HERE = "is asked for something, but its party.toml has no [owner] table"


@dataclass(frozen=True, slots=True)
class DriverEvents:
    """What a driver calls: the party has `finished` or `failed`; it was asked for something that
    its party.toml is `lacking`; its trouble with an answer has `changed`."""

    finished: Callable[[Host], None]
    failed: Callable[[Host, Exception], None]
    lacking: Callable[[str], None]
    changed: Callable[[], None]


class RunDriver:
    """Call `advance` whenever something has changed.

    While `departures` is not open, nobody else may notice how far the party is.
    """

    def __init__(
        self, run: str, host: Host, context: RunContext, log: RunLog, events: DriverEvents
    ) -> None:
        owner = context.config.owner
        self.departures = Departures(
            owner.tick if owner is not None else 0.0, context.clock, self.advance
        )
        self._run = run
        self._host = host
        self._context = context
        self._log = log
        self._events = events
        self._answerer: Answerer | None = None
        self._asked: Question | None = None
        self._round_told = host.round
        self._task: asyncio.Task[None] | None = None
        if owner is not None:
            callers = context.resources.callers
            self._answerer = Answerer(host, owner, callers, context.clock, log)
            self._answerer.changed = events.changed
        self._errands = self._new_errands()

    def _new_errands(self) -> Errands | None:
        """Who carries out decisions whose outcomes may come later, if a function does."""
        resources = self._context.resources
        caller = resources.callers.get(Pull)
        if caller is None:
            return None
        return Errands(
            self._run,
            resources.decisions(self._context.journal),
            caller,
            self._context.clock,
            self._log,
            self.outcomes_told,
            self._context.fatal,
            repeatable=self._host.repeatable,
        )

    @property
    def round(self) -> int:
        """The round that others may know of."""
        return self._host.round if self.departures.open else self._round_told

    @property
    def trouble(self) -> str:
        """Why a question of the party has no answer yet, for its operator alone."""
        found = [one.trouble for one in (self._answerer, self._errands) if one is not None]
        return "; ".join(filter(None, found))

    @property
    def in_doubt(self) -> bool:
        """Whether others may hear that an answer is missing, which tells who was asked."""
        answerer = self._answerer
        return answerer is not None and bool(answerer.trouble) and not self.departures.hiding

    @property
    def busy(self) -> bool:
        """Whether a step or an answer is under way."""
        return self._task is not None

    def close(self) -> None:
        """Stop whatever is under way; nothing is sent any more."""
        self._cancel()
        if self._errands is not None:
            self._errands.close()
        self.departures.clear()

    def advance(self, moment: float | None = None) -> None:
        """Let the party go on as far as it can, and see to what it asks for.

        `moment` is when it could have gone on, if that was earlier than now.
        """
        if self._task is None and self.departures.open:
            self._go_on(self._context.clock.now() if moment is None else moment)

    def outcomes_told(self) -> None:
        """Outcomes of decisions may have been told, or the time to wait for them may be over."""
        if self._errands is not None:
            self._errands.look()
        if self._answerer is not None:
            self._answerer.outcomes_told()
        if self._host.lacks_outcomes:
            self.advance()

    def _go_on(self, moment: float) -> None:
        try:
            self._drive(self._host, moment)
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Say so, or stop the daemon: a caller such as a task or an alarm would drop an error."""
        try:
            self._events.failed(self._host, error)
        except JournalWriteError as unwritten:
            self._context.fatal(unwritten)

    def _drive(self, host: Host, moment: float) -> None:
        host.advance()
        if self._errands is not None and host.issued():
            self._errands.look()
        answerer, asked = self._answerer, host.asked
        while asked is not None and answerer is not None and answerer.answer_at_once(asked):
            host.advance()
            asked = host.asked
        if host.background_step is not None:
            self._task = asyncio.create_task(self._run_step(host.background_step))
        elif asked is not None:
            self._answer(asked, moment)
        if host.finished and self.departures.open:
            self._events.finished(host)

    async def _run_step(self, step: BackgroundStep) -> None:
        await run_in_thread(step)
        self._task = None
        self.advance()

    def _answer(self, asked: Question, moment: float) -> None:
        answerer = self._answerer
        lack = NOTHING_HERE if answerer is None else answerer.lack(asked)
        if answerer is None or lack is not None:
            self._events.lacking(str(lack))
        elif answerer.doubt is None and (asked is self._asked or self.departures.open):
            if asked is not self._asked:
                self._asked, self._round_told = asked, self.round
                self.departures.close(moment)
            self._task = asyncio.create_task(self._answered(answerer, asked))

    async def _answered(self, answerer: Answerer, asked: Question) -> None:
        try:
            answered = await answerer.answer(asked)
        except LotorError as error:  # it could not be written down
            self._context.fatal(error)
            return
        self._task = None
        if answered:
            self._use_answer(answerer, asked)

    def _use_answer(self, answerer: Answerer, asked: Question) -> None:
        """Go on at once, so that all is ready when it may leave.

        A slow party begins when the others would see the answer, and takes its own time.
        """
        if self.departures.open or not self._host.party.slow:
            self._go_on(self._context.clock.now())
        late = self.departures.answered()
        if late is not None:
            try:
                answerer.report_late(asked, self.round, late)
            except JournalWriteError as error:
                self._context.fatal(error)

    def resolve(self, verdict: Resolve) -> bool:
        """A person says what became of a question in doubt; False when it is too early to tell."""
        answerer, asked = self._answerer, self._host.asked
        if answerer is None:
            return True
        if asked is None or asked.decision is None or asked.decision.id != verdict.decision:
            # The party may not have come to it again yet.
            return self._context.journal.answered(self._run, verdict.decision)
        if not answerer.trouble:
            return answerer.may_repeat(verdict.decision)
        self._cancel()  # it goes on asking, in vain
        try:
            answerer.resolved(asked, verdict)
        except (InputError, PullError) as error:
            self._log.error(str(error), extra={"event": "not-resolved"})
        self._go_on(self._context.clock.now())
        if self._host.asked is not asked:
            self.departures.answered()
        return True

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
