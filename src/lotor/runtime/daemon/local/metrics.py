"""What watchers of a party may know: its health, and numbers that its peers know as well.

Everybody on this machine can read them. So nothing here depends on who was pulled: no counts of
this party's own pulls, no notes for its operator, rounds only as far as others may know of them.
A journal grows with each pull, so that the size of an owner's is left out.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from lotor.core.errors import ConfigError
from lotor.core.version import VERSION
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.local.answers import KINDS
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.daemon.status import BLOCKED, STATES
from lotor.runtime.durable.journal import RUNNING, WAITING

if TYPE_CHECKING:
    from prometheus_client import Metric

DAY: Final = 86400.0


class RunProgressTimes:
    """Since when each open run has been in its round, looked at regularly and not at each message.

    Some parties have no rounds of their own: what others say of theirs counts, too.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[str, tuple[int, float]] = {}

    def look(self, runs: Mapping[str, LiveRun]) -> None:
        now, before = self._clock(), self._since
        self._since = {}
        for live in open_runs(runs):
            t = max([live.round, *(status.round for status in live.statuses.known.values())])
            last = before.get(live.run)
            self._since[live.run] = last if last is not None and last[0] == t else (t, now)

    def seconds(self, run: str) -> float:
        """How long ago a run was first seen in its round."""
        now = self._clock()
        return now - self._since[run][1] if run in self._since else 0.0


def open_runs(runs: Mapping[str, LiveRun]) -> list[LiveRun]:
    return [live for live in list(runs.values()) if live.state in (RUNNING, WAITING)]


class PartyMetrics:
    """The metrics of one party; `refused` counts requests to the local interface by kind."""

    def __init__(
        self, context: RunContext, runs: Mapping[str, LiveRun], refused: Mapping[str, int]
    ) -> None:
        self.progress = RunProgressTimes()
        self._context = context
        self._runs = runs
        self._refused = refused

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        import prometheus_client as prometheus  # noqa: PLC0415

        registry = prometheus.CollectorRegistry(auto_describe=False)
        registry.register(self)
        return prometheus.generate_latest(registry)

    def collect(self) -> Iterator["Metric"]:
        """What a registry asks for."""
        from prometheus_client.core import (  # noqa: PLC0415
            CounterMetricFamily,
            GaugeMetricFamily,
            InfoMetricFamily,
        )

        yield InfoMetricFamily("lotor", "The version.", {"version": VERSION})
        for name, (text, label, values) in self._gauges().items():
            gauge = GaugeMetricFamily(f"lotor_{name}", text, labels=[label] if label else [])
            for value_of, value in values.items():
                gauge.add_metric([value_of] if label else [], value)
            yield gauge
        for name, (text, label, values) in self._counters().items():
            counter = CounterMetricFamily(f"lotor_{name}", text, labels=[label] if label else [])
            for value_of, value in values.items():
                counter.add_metric([value_of] if label else [], value)
            yield counter

    def _gauges(self) -> dict[str, tuple[str, str, Mapping[str, float]]]:
        """Name, then what it says, the name of its label, and its values by label."""
        kit, open_here = self._context.kit, open_runs(self._runs)
        found: dict[str, tuple[str, str, Mapping[str, float]]] = {
            "runs": ("Runs, by the state that peers are told.", "state", self._states()),
            "run_round": (
                "The round of an open run, as far as peers know of it.",
                "run",
                {live.run: live.round for live in open_here},
            ),
            "run_seconds_since_progress": (
                "How long an open run has been in its round.",
                "run",
                {live.run: self.progress.seconds(live.run) for live in open_here},
            ),
            "run_missing_peers": (
                "Peers of an open run that are not connected.",
                "run",
                {live.run: len(live.peers.names) - len(live.peers.present()) for live in open_here},
            ),
            "peer_connected": ("Whether a peer is connected.", "peer", self._peers()),
            "certificate_days_left": (
                "Days until a certificate expires.",
                "of",
                {
                    "party": _days_until(kit.certificate.not_after),
                    "authority": _days_until(kit.trust.not_after),
                },
            ),
        }
        if self._context.config.owner is None:
            path = self._context.journal.path
            size = sum(
                one.stat().st_size
                for one in (path, path.with_name(f"{path.name}-wal"))
                if one.exists()
            )
            found["journal_bytes"] = ("The journal's size on the disk.", "", {"": size})
        return found

    def _counters(self) -> dict[str, tuple[str, str, Mapping[str, float]]]:
        connections = self._context.connections
        return {
            "messages_sent": (
                "Messages of runs that have left since the start, repeated ones included.",
                "",
                {"": connections.messages_sent},
            ),
            "bytes_sent": (
                "Bytes of these messages.",
                "",
                {"": connections.bytes_sent},
            ),
            "local_requests_refused": (
                "Requests that the local interface has refused since the start.",
                "kind",
                {kind: self._refused.get(kind, 0) for kind in KINDS},
            ),
        }

    def _states(self) -> Mapping[str, float]:
        """How many runs are in each state; a run that is set aside here is blocked for others."""
        counts = Counter(self._context.journal.states())
        open_here = counts.pop(RUNNING, 0) + counts.pop(WAITING, 0)
        for live in open_runs(self._runs):
            own = live.statuses.own
            counts[live.state if own is None else own.state] += 1
            open_here -= 1
        counts[BLOCKED] += max(open_here, 0)
        return {state: counts[state] for state in STATES}

    def _peers(self) -> Mapping[str, float]:
        """All that this party dials, that its open runs need, and that are connected."""
        connected = set(self._context.connections.names())
        names = connected | set(self._context.config.peers)
        for live in open_runs(self._runs):
            names |= set(live.peers.names.values())
        return {name: float(name in connected) for name in sorted(names)}


def load_prometheus() -> None:
    """Say what is missing before anybody asks."""
    try:
        import prometheus_client  # noqa: F401, PLC0415
    except ImportError:
        raise ConfigError(
            "the local interface ([local] in party.toml) needs prometheus-client, which is not "
            "installed: run pip install 'lotor[ops]'"
        ) from None


def _days_until(moment: datetime) -> float:
    return (moment - datetime.now(UTC)).total_seconds() / DAY
