"""Runs `lotor` and notes at every tick of CPU time what it is doing: `sampler.py OUT ARGS…`.

Unlike a profiler that counts calls it costs next to nothing, so that small functions do not look
dear. Only work in the event loop counts: not the imports. C code is charged to its caller.
"""

import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

from lotor.cli import main

INTERVAL = 0.001  # seconds; the kernel rounds it up to its own tick
LOOP = "_run_once"
LINES = 45


class Sampler:
    """Samples by function: on top of the stack, and anywhere in it."""

    def __init__(self) -> None:
        self.samples = 0
        self.own: Counter[str] = Counter()
        self.within: Counter[str] = Counter()

    def take(self, _number: int, frame: FrameType | None) -> None:
        names = []
        while frame is not None:
            code = frame.f_code
            names.append(f"{Path(code.co_filename).name}:{code.co_name}")
            if code.co_name == LOOP:
                self.samples += 1
                self.own[names[0]] += 1
                self.within.update(set(names))
                return
            frame = frame.f_back

    def report(self) -> str:
        lines = [f"{self.samples} samples of the event loop", "  self   with  where"]
        for name, count in self.within.most_common(LINES):
            own, within = self.own[name] / self.samples, count / self.samples
            lines.append(f"{own:6.1%} {within:6.1%}  {name}")
        return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sampler = Sampler()
    out = Path(sys.argv.pop(1))
    signal.signal(signal.SIGPROF, sampler.take)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    try:
        main()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        out.write_text(sampler.report())
