"""Does what the party's operator asks through the journal, from another process."""

import asyncio
import logging

from lotor.core.errors import JournalError, JournalWriteError, LotorError
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.opening import Opener, open_run
from lotor.runtime.durable.journal import REFUSED, STOPPED, WAITING

_log = logging.getLogger("lotor.daemon")


class Clerk:
    """Looks for commands whenever another process has written to the journal."""

    def __init__(self, node: Opener) -> None:
        self._node = node
        self._seen = -1
        self._too_early = False
        self._opening: dict[str, asyncio.Task[None]] = {}

    async def close(self) -> None:
        for opening in self._opening.values():
            opening.cancel()
        await asyncio.gather(*self._opening.values(), return_exceptions=True)

    def obey(self) -> None:
        journal = self._node.journal
        changes = journal.changes()
        if changes == self._seen and not self._too_early:
            return
        self._seen, self._too_early = changes, False
        for number, run, data in journal.commands.waiting():
            try:
                command = commands.from_bytes(data)
            except JournalError as error:
                RunLog(_log, run).error(str(error), extra={"event": "unknown-command"})
                journal.commands.done(number)
                continue
            live = self._node.runs.get(run)
            if isinstance(command, commands.Order) and live is None:
                if run not in self._opening:
                    self._opening[run] = asyncio.create_task(self._open(number, run, command))
            elif live is None:
                if isinstance(command, commands.Stop):
                    me = self._node.kit.subject.name
                    self._node.stop_aside(run, f"stopped by {me}: {command.reason}")
                journal.commands.done(number)
            elif self._do(live, command):
                journal.commands.done(number)
            else:
                self._too_early = True

    async def _open(self, number: int, run: str, order: commands.Order) -> None:
        """Open a run; what it needs may not be there yet."""
        impossible = None
        try:
            await open_run(self._node, run, order)
        except JournalWriteError as error:
            self._node.fatal(error)
            return
        except LotorError as error:
            impossible = (run, str(error))
        self._node.journal.commands.done(number, impossible)
        del self._opening[run]

    def _do(self, live: LiveRun, command: commands.Command) -> bool:
        """Carry out a command; False when it is too early."""
        me = self._node.kit.subject.name
        if isinstance(command, commands.Approve) and live.state == WAITING:
            live.log.info("approved", extra={"event": "approved"})
            live.begin()
        elif isinstance(command, commands.Refuse) and live.state == WAITING:
            live.end(REFUSED, f"refused by {me}: {command.reason}")
        elif isinstance(command, commands.Stop):
            live.end(STOPPED, f"stopped by {me}: {command.reason}")
        elif isinstance(command, commands.Resolve):
            return live.resolve(command)
        return True
