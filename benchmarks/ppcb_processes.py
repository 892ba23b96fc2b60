"""PPCB with every party a process, in both forms: loopback TLS, every step durable.

Linux only: its /proc says what a process has used. CPU and wall time count between two checkpoints
of the second server, so that neither start nor end does.
"""

import sys
import tempfile
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path

from machine import Others
from processes import Taken, used
from rich.table import Table
from tables import table, verdict

import lotor
from lotor.core.errors import LotorError
from lotor.protocols.ppcb.demo import feature_parties
from lotor.protocols.ppcb.terms import SECOND
from lotor.runtime.daemon.serving import open_kit
from lotor.sandbox import Federation

ROLES = ("server-0", "server-1", "dealer", "actor", "receiver", "owner")
# Steps before the first point that is measured, and after the last one.
LEAD, TAIL = 30, 20
SERVER_AIM, DEALER_AIM = 2.0, 2.0
# 25 steps a second without a dealer.
WALL_AIMS = {"shared": 40.0, "dealt": 4.0}
SEED = 7


class Daemons:
    """All parties of a run, up."""

    def __init__(self, folder: Path, arms: lotor.ContextualArms, budget: int, form: str) -> None:
        half = arms.d // 2
        taken = lotor.ContextualArms(arms.contexts[:budget], arms.rewards[:budget])
        features = {"owner-1": half, "owner-2": arms.d - half}
        cast = feature_parties(taken, features, helpers=["dealer"] if form == "dealt" else [])
        self._form = form
        self._made = Federation(folder, lotor.PPCB.form_called(form), cast, SEED)
        self._made.prepare()
        self._pids: dict[str, int] = {}

    def close(self) -> None:
        self._made.close()

    def take(self, steps: int) -> Taken:
        """One run, from a checkpoint after its start to one before its end."""
        made, started = self._made, time.time()
        for name in made.kits:
            if name != made.opener:
                self._pids[name] = made.launch(name, "serve").pid
        budget = str(LEAD + steps + TAIL)
        order = ("ppcb", "--form", self._form, "--json", "--budget", budget)
        opener = made.launch(made.opener, "start", *order)
        self._pids[made.opener] = opener.pid
        points = [self._point(started, aim) for aim in (LEAD, LEAD + steps)]
        while made.running(made.opener):
            time.sleep(0.05)
        if made.exit_code(made.opener):
            raise made.complaint(made.opener)
        (first, began, before), (last, ended, after) = points
        cpu = {
            role: (after[role] - before[role]) / (last - first) * 1e3
            for role in ROLES
            if role in after
        }
        return Taken(cpu, (ended - began) / (last - first))

    def _point(self, started: float, aim: int) -> tuple[int, float, dict[str, float]]:
        """The second server's next step from this one on, the time, and the CPU used by then."""
        seen = None
        with open_kit(self._made.kits[SECOND]) as at:
            while True:
                run = next((row.id for row in at.journal.runs() if row.created >= started), None)
                t = at.journal.progress(run)[0] if run is not None else 0
                if t >= aim and seen not in (None, t):
                    return t, time.perf_counter(), self._used()
                seen = t
                for name in self._made.kits:
                    if not self._made.running(name):
                        raise self._made.complaint(name)
                # Who looks all the time takes from those who are measured.
                time.sleep(0.002 if t >= aim - 10 else 0.1)

    def _used(self) -> dict[str, float]:
        cpu: dict[str, float] = defaultdict(float)
        for name, pid in self._pids.items():
            cpu[name if name in ROLES else "owner"] += used(pid)
        return cpu


def as_processes(
    arms: lotor.ContextualArms, steps: int, form: str
) -> tuple[Table | str, float | None]:
    """A table, and the CPU ms of those who compute in a step, if they could be run."""
    if not sys.platform.startswith("linux"):
        return "6. Processes are left out: what they use is read from Linux's /proc", None
    try:
        with tempfile.TemporaryDirectory() as folder:
            daemons = Daemons(Path(folder), arms, LEAD + steps + TAIL, form)
            # The daemons end within, so that what they used is not taken for that of others.
            with Others() as others, closing(daemons):
                taken = daemons.take(steps)
    except LotorError as error:
        return f"6. Processes are left out, since a run of them failed: {error}", None
    title = (
        f"6. Form {form}, every party a process, loopback TLS, durable, D = {arms.d}, "
        f"A = {arms.k}, two feature parties, {steps} steps; others used {others.text}"
    )
    return _shown(title, taken, form), _computing(taken)


def _computing(taken: Taken) -> float:
    """Of those who compute; the others bring features and rewards, and carry arms out."""
    return sum(taken.cpu.get(role, 0.0) for role in ("server-0", "server-1", "dealer"))


def _shown(title: str, taken: Taken, form: str) -> Table:
    made = table(title, *("what", "ms a step", "the ms"))
    wall = taken.seconds * 1e3
    made.add_row("wall", f"{wall:.2f}", verdict(wall, WALL_AIMS[form], at_most=True))
    aims = dict.fromkeys(("server-0", "server-1"), SERVER_AIM) | {"dealer": DEALER_AIM}
    for role in taken.cpu:
        aim = aims.get(role) if form == "dealt" else None
        judged = "" if aim is None else verdict(taken.cpu[role], aim, at_most=True)
        name = "both owners" if role == "owner" else role
        made.add_row(f"CPU, {name}", f"{taken.cpu[role]:.2f}", judged)
    made.add_row("CPU, servers and dealer", f"{_computing(taken):.2f}")
    made.add_row("CPU, all", f"{taken.total:.2f}")
    return made
