"""Cells on a Ray cluster, whose processes and nodes may die in the middle of a sweep."""

import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, cast

from lotor.core.errors import InputError, StudyError
from lotor.core.version import VERSION
from lotor.environments.base import Environment
from lotor.protocols.cell import AnyCell, Outcome, RunCell
from lotor.studies.workers import Numbered, finished

# How often Ray starts a cell again whose process or node died.
RETRIES = 5
# Cells that wait at the nodes for each core, so that no core waits for the next one.
AHEAD = 4


class RayCluster:
    """A connection to a Ray cluster, where Lotor must be installed on each node."""

    def __init__(self, address: str) -> None:
        # Ray tells its makers how it is used unless it is told not to, and warns of a change in
        # how it hides accelerators, which no cell uses.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        try:
            import ray  # noqa: PLC0415
        except ImportError:
            raise InputError(
                "a cluster needs Ray, which is not installed: run pip install 'lotor[cluster]'"
            ) from None
        self._ray: Any = ray
        self._address = address
        self._joined = False

    def __enter__(self) -> "RayCluster":
        if self._ray.is_initialized():
            return self
        try:
            _check_reachable(self._address)
            self._ray.init(
                address=self._address,
                log_to_driver=False,
                logging_level="error",
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(
                f"no Ray cluster can be joined at {self._address!r} ({error}): start one with "
                "`ray start --head`, and give the address that it prints, such as 10.0.0.5:6379"
            ) from None
        self._joined = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._joined:
            self._ray.shutdown()

    def run(self, cells: Sequence[Numbered], workers: int | None) -> Iterator[tuple[int, Outcome]]:
        """Outcomes as they come; `workers` is how many cells run at once, if not all that can."""
        ray = self._ray
        start = ray.remote(num_cpus=1, max_retries=RETRIES)(_on_node).remote
        environments: dict[int, Any] = {}
        todo, running = iter(cells), dict[Any, AnyCell]()
        try:
            while True:
                while len(running) < self._room(workers) and (one := next(todo, None)) is not None:
                    place, cell = one
                    running[start(place, *self._packed(cell, environments), VERSION)] = cell
                if not running:
                    return
                (done,), _ = ray.wait(list(running), num_returns=1)
                del running[done]
                yield self._got(done)
        finally:
            for waiting in running:
                ray.cancel(waiting, force=True)

    def _room(self, workers: int | None) -> int:
        """How many cells to hand out at once; nodes may join and leave meanwhile."""
        if workers is not None:
            return workers
        return AHEAD * max(int(self._ray.cluster_resources().get("CPU", 1)), 1)

    def _packed(self, cell: AnyCell, sent: dict[int, Any]) -> tuple[AnyCell, Any]:
        """A cell and its environment, which is sent once for all cells that share it."""
        if not isinstance(cell, RunCell):
            return cell, None
        key = id(cell.environment)
        if key not in sent:
            sent[key] = self._ray.put(cell.environment)
        return replace(cell, environment=cast("Environment", None)), sent[key]

    def _got(self, done: Any) -> tuple[int, Outcome]:
        errors = self._ray.exceptions
        try:
            return cast("tuple[int, Outcome]", self._ray.get(done))
        except errors.RayTaskError as error:
            raise error.cause from None
        except errors.RayError as error:
            raise StudyError(
                f"the cluster lost a cell {RETRIES + 1} times ({type(error).__name__}): look at "
                "its nodes' memory; a sweep with a folder for finished cells goes on from there"
            ) from None


def _check_reachable(address: str) -> None:
    """Fail at once where nobody listens: Ray tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("it is not HOST:PORT")
    socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _on_node(
    place: int, cell: AnyCell, environment: Environment | None, version: str
) -> tuple[int, Outcome]:
    if version != VERSION:
        raise StudyError(
            f"a node of the cluster has Lotor {VERSION}, and this machine {version}: install the "
            "same version on all of them"
        )
    if isinstance(cell, RunCell) and environment is not None:
        cell = replace(cell, environment=environment)
    return finished(place, cell)
