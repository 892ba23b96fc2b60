"""Settings and helpers for all tests."""

import os
import shutil
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from light_transfers import light_transfers, real_transfers
from lotor.environments.rating_files import NOTICES
from lotor.sandbox import federation

__all__ = ["light_transfers", "real_transfers"]

# A journal waits for the disk at each commit, which nothing here can tell from memory.
MEMORY = "/dev/shm"  # noqa: S108
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2**31:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

# Machines are noisy: a slow example is no failure.
settings.register_profile(
    "lotor", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("lotor")


def pytest_xdist_auto_num_workers() -> int:
    """Two more than cores: some tests wait for processes, timers or peers most of the time."""
    return (os.cpu_count() or 1) + 2


@pytest.fixture(scope="session", autouse=True)
def _own_ports() -> Iterator[None]:
    """Workers choose among ports of their own: one that is free may be another's in a moment."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(federation, "PORTS", federation.PORTS[worker::workers])
        yield


@pytest.fixture(autouse=True)
def _notices_anew() -> None:
    """What is said once in a process is said once in each test."""
    NOTICES.clear()


@pytest.fixture(scope="session", autouse=True)
def _heeds_ctrl_c() -> None:
    """Tests send it; but what a script starts in the background ignores it, children included."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
