"""The local interface of a daemon: its operations, its health and its metrics, under one port."""

from collections import Counter
from collections.abc import Callable, Mapping

from lotor.core.version import VERSION
from lotor.runtime.daemon.config_tables import LocalTable
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.local.answers import TEXT, LocalAnswer, to_json
from lotor.runtime.daemon.local.guard import made_token
from lotor.runtime.daemon.local.interface import LocalInterface
from lotor.runtime.daemon.local.link import load_h11
from lotor.runtime.daemon.local.metrics import PartyMetrics, load_prometheus
from lotor.runtime.daemon.local.server import LocalServer
from lotor.runtime.daemon.open_kit import OpenKit
from lotor.runtime.daemon.run_context import RunContext

PROMETHEUS = f"{TEXT}; version=0.0.4"


class LocalService:
    """What a node starts if its party.toml has a [local] table."""

    def __init__(
        self,
        table: LocalTable,
        context: RunContext,
        runs: Mapping[str, LiveRun],
        carry_out: Callable[[], None],
        works: Callable[[], bool],
    ) -> None:
        """`carry_out` does at once what the journal asks for; `works` until a fatal error."""
        load_h11()
        load_prometheus()
        self._table = table
        self._context = context
        self._runs = runs
        self._works = works
        refused: Counter[str] = Counter()
        self._metrics = PartyMetrics(context, runs, refused)
        at = OpenKit(context.kit, context.config, context.journal)
        self.server = LocalServer(
            LocalInterface(at, carry_out),
            {"/healthz": self._health, "/metrics": self._measured},
            made_token(context.config.state_folder(context.kit.path)),
            context.fatal,
            refused,
        )

    async def start(self) -> None:
        await self.server.start(self._table.port, ipv6=self._table.ipv6)

    async def close(self) -> None:
        await self.server.close()

    def look(self) -> None:
        """Every second: see which runs have gone on."""
        self._metrics.progress.look(self._runs)

    def _health(self) -> LocalAnswer:
        works = self._works()
        subject = self._context.kit.subject
        document = {
            "state": "serving" if works else "stopping",
            "party": subject.name,
            "role": subject.role,
            "version": VERSION,
        }
        return LocalAnswer(200 if works else 503, to_json(document))

    def _measured(self) -> LocalAnswer:
        return LocalAnswer(200, self._metrics.text(), PROMETHEUS)
