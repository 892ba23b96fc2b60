"""Decisions whose outcomes may come later, carried out by the party's own function."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import cast

from lotor.core.effects import HIDDEN, Decision
from lotor.core.errors import InputError, JournalWriteError, LotorError, PullError
from lotor.runtime.daemon.clock import Clock
from lotor.runtime.daemon.function_caller import FunctionCaller, until_answered
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.durable.open_decisions import OpenDecision, OpenDecisions
from lotor.runtime.durable.record import Answer


class Errands:
    """Calls the function of one run's `pull` for each open decision, and tells what it answers.

    With `repeatable`, the function recognises a decision that it has answered before, so that it
    can be asked again. Otherwise it is asked once, and if its answer is lost, a person tells it.
    `told` is called after each outcome.
    """

    def __init__(
        self,
        run: str,
        decisions: OpenDecisions,
        caller: FunctionCaller,
        clock: Clock,
        log: RunLog,
        told: Callable[[], None],
        fatal: Callable[[LotorError], None],
        *,
        repeatable: bool,
    ) -> None:
        self._run = run
        self._decisions = decisions
        self._caller = caller
        self._clock = clock
        self._log = log
        self._told = told
        self._fatal = fatal
        self._repeatable = repeatable
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._doubtful: dict[str, str] = {}

    @property
    def trouble(self) -> str:
        """Why outcomes are missing that the function should have answered with."""
        return "; ".join(self._doubtful.values())

    def look(self) -> None:
        """See to the decisions that have appeared, and forget those that a person has told."""
        open_now = {one.id: one for one in self._decisions.waiting(self._run)}
        for name in self._doubtful.keys() - open_now.keys():
            del self._doubtful[name]
        for name, one in open_now.items():
            if name in self._under_way:
                continue
            if one.taken is None or self._repeatable:
                self._doubtful.pop(name, None)
                self._under_way[name] = asyncio.create_task(self._carry_out(one))
            elif name not in self._doubtful:
                self._doubt(one, "this party stopped between asking and the answer")

    async def _carry_out(self, one: OpenDecision) -> None:
        """Ask the function, and tell what it answers, unless a person was faster."""
        decision = Decision(one.run, one.round, HIDDEN if one.arm is None else one.arm, one.id)
        try:
            if self._repeatable or self._decisions.take_one(one.id):
                reward = await self._answer(decision)
                self._decisions.tell(one.id, cast("float", reward))
        except PullError as error:
            self._doubt(one, str(error))
        except InputError as error:
            self._log.warning(str(error), extra={"event": "late-outcome", "round": one.round})
        except JournalWriteError as error:
            self._fatal(error)
            return
        del self._under_way[one.id]
        self._told()

    async def _answer(self, decision: Decision) -> Answer:
        def report(text: str) -> None:
            self._log.error(text, extra={"event": "pull-trouble", "round": decision.round})

        ask = partial(self._caller.call, decision)
        return await until_answered(ask, self._clock, report) if self._repeatable else await ask()

    def _doubt(self, one: OpenDecision, why: str) -> None:
        self._doubtful[one.id] = (
            f"nobody knows whether decision {one.id} was carried out ({why}): find out, then "
            f"`lotor reward {one.run} {one.id}` tells its outcome, or, if it was not carried out, "
            f"`lotor decisions give-back {one.id}` has it asked again"
        )
        self._log.error(
            f"in doubt: {self._doubtful[one.id]}",
            extra={"event": "pull-trouble", "round": one.round},
        )

    def close(self) -> None:
        """Stop; nothing is told any more."""
        for task in self._under_way.values():
            task.cancel()
        self._under_way.clear()
