"""What Linux says about this machine and its processes; elsewhere nothing is known."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Self

_STAT = Path("/proc/stat")
_IDLE = (3, 4)  # idle and waiting for disks, among the numbers of the first line
_NOISE = 0.1


class Others:
    """How busy all other processes keep this machine meanwhile.

    `helping` are the CPU seconds so far of children that go on, and are no others.
    """

    text = "not known"

    def __init__(self, helping: Callable[[], float] = lambda: 0.0) -> None:
        self._helping = helping

    def __enter__(self) -> Self:
        self._busy, self._began = self._busy_now(), perf_counter()
        return self

    def _busy_now(self) -> float:
        return _busy_of_others() - self._helping()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if _STAT.exists():
            cores = (self._busy_now() - self._busy) / (perf_counter() - self._began)
            quiet = "" if cores < _NOISE else ": not quiet"
            self.text = f"{max(0.0, cores):.2f} cores{quiet}"


def _busy_of_others() -> float:
    """CPU seconds that the machine was busy with others, this process's ended children excepted."""
    if not _STAT.exists():
        return 0.0
    numbers = [int(number) for number in _STAT.read_text().splitlines()[0].split()[1:9]]
    busy = sum(number for place, number in enumerate(numbers) if place not in _IDLE)
    return busy / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def print_peak() -> None:
    """The most memory that this process and its children ever had, in MB; 0 if not known."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    names = ["self", *(children.read_text().split() if children.exists() else ())]
    print(sum(_peak(name) for name in names) / 1e3)


def own_peak() -> float:
    """The same of this process alone."""
    return _peak("self") / 1e3


def _peak(process: str) -> float:
    """In kB; not from getrusage, which also counts what the parent held when it started one."""
    status = Path(f"/proc/{process}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1.024


def peak_of_fresh_process(*command: str) -> float:
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, *command], check=True, capture_output=True, text=True
    )
    return float(done.stdout)
