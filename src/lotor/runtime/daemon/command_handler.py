"""Carries out what the party's operator asks for through the journal, from another process."""

import asyncio
import logging

from lotor.core.errors import JournalError, JournalWriteError, LotorError
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.daemon.run_registry import RunRegistry
from lotor.runtime.daemon.start_run import start_run
from lotor.runtime.durable.journal import REFUSED, RUNNING, WAITING

_log = logging.getLogger("lotor.daemon")


class CommandHandler:
    """Looks for commands whenever another process has written to the journal."""

    def __init__(self, context: RunContext, registry: RunRegistry) -> None:
        self._context = context
        self._registry = registry
        self._journal = context.journal
        self._seen = -1
        self._too_early = False
        self._starting: dict[str, asyncio.Task[None]] = {}

    async def close(self) -> None:
        for starting in self._starting.values():
            starting.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)

    def look_again(self) -> None:
        """Look at the next occasion even if no other process has written."""
        self._seen = -1

    def carry_out(self) -> None:
        """Carry out all commands that wait; one that comes too early waits on."""
        changes = self._journal.changes()
        if changes == self._seen and not self._too_early:
            return
        self._seen, self._too_early = changes, False
        queue = self._journal.commands
        for number, run, data in queue.waiting():
            try:
                command = commands.from_bytes(data)
            except JournalError as error:
                RunLog(_log, run).error(str(error), extra={"event": "unknown-command"})
                queue.done(number)
                continue
            live = self._registry.runs.get(run)
            if isinstance(command, commands.StartRun) and live is None:
                if self._journal.find(run) is not None or self._journal.pruning.state(run):
                    # It was started before, and is set aside or over since: it is no new run.
                    self._done(number, live, command)
                elif run not in self._starting:
                    self._starting[run] = asyncio.create_task(self._start(number, run, command))
            elif live is None or isinstance(command, commands.Prune):
                self._clear_away(run, command)
                self._done(number, live, command)
            elif self._do(number, live, command):
                self._done(number, live, command)
            else:
                self._too_early = True

    def _clear_away(self, run: str, command: commands.Command) -> None:
        """What can be done about a run that does not go on here."""
        if isinstance(command, commands.Stop):
            self._registry.stop_aside(run, self._stopped(command))
        elif isinstance(command, commands.Prune):
            self._registry.prune(run)

    def _let_begin(self, number: int, live: LiveRun, command: commands.NextRounds) -> None:
        """The grant and the end of its command are one step: it never counts twice."""
        with self._journal.transaction():
            if live.state == RUNNING:
                live.pacing.grant(command.count)
            self._journal.commands.done(number)
        live.pacing.tell()

    def _done(self, number: int, live: LiveRun | None, command: commands.Command) -> None:
        self._journal.commands.done(number)
        if isinstance(command, commands.Resolve) and (live is None or not live.open):
            self._journal.erasure.mark()  # an answer that came too late must not outlive the run

    def _stopped(self, command: commands.Stop) -> str:
        return f"stopped by {self._context.kit.subject.name}: {command.reason}"

    async def _start(self, number: int, run: str, command: commands.StartRun) -> None:
        """Start a run; the parties that it needs may not be there yet."""
        impossible = None
        try:
            await start_run(self._context, self._registry, run, command)
        except JournalWriteError as error:
            self._context.fatal(error)
            return
        except LotorError as error:
            impossible = (run, str(error))
        except Exception as error:
            # A fault in somebody's protocol or policy must not leave the operator waiting for ever.
            # The text of an error that nobody has foreseen might show what is secret.
            impossible = (run, f"starting it failed with {type(error).__name__}: report this")
        self._journal.commands.done(number, impossible)
        del self._starting[run]

    def _do(self, number: int, live: LiveRun, command: commands.Command) -> bool:
        """Carry out a command; False when it is too early."""
        if isinstance(command, commands.Approve) and live.state == WAITING:
            live.log.info("approved", extra={"event": "approved"})
            self._registry.approve(live)
        elif isinstance(command, commands.Refuse) and live.state == WAITING:
            me = self._context.kit.subject.name
            live.end(REFUSED, f"refused by {me}: {command.reason}")
        elif isinstance(command, commands.Stop):
            live.stop(self._stopped(command))
        elif isinstance(command, commands.NextRounds):
            self._let_begin(number, live, command)
        elif isinstance(command, commands.Pause):
            live.pause()
        elif isinstance(command, commands.Resume):
            live.go_on()
        elif isinstance(command, commands.Exclude):
            live.losses.agree(command.party, command.since)
        elif isinstance(command, commands.Resolve):
            return live.resolve(command)
        return True
