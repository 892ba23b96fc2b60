"""The processes that benchmarks measure: a federation's daemons, and a bare echo.

Linux only: its /proc says what a process has used.
"""

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from select import select

import msgspec

import lotor
from lotor.core.effects import Decision, Message
from lotor.core.errors import RunEndedError
from lotor.protocols.samba.cast import hospitals
from lotor.protocols.samba.paper.messages import (
    MaskedScores,
    PermutedBits,
    PermutedScores,
    PullingBits,
)
from lotor.protocols.samba.paper.wire import SEALED_BIT, SEALED_SCORE
from lotor.protocols.samba.wire import place_of
from lotor.runtime.daemon.address import Address
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.frames import Data
from lotor.runtime.wire import encode
from lotor.sandbox import federation as sandbox

ROLES = ("owner", "controller", "comp", "customer")
DEALER = "dealer"
KEY_BITS, SEED = 2048, 7
# Rounds before the first point that is measured, and after the last one.
LEAD, TAIL = 64, 160
PATIENCE = 30.0  # seconds within which an echo must be up
HOSPITAL = '''"""Outcomes in memory: a decision that is asked again gets the same one."""

OUTCOMES = {outcomes!r}
_given = {{}}
_taken = {{}}


def pull(decision):
    if decision.id not in _given:
        number = _taken[decision.run] = _taken.get(decision.run, -1) + 1
        _given[decision.id] = OUTCOMES[number]
    return _given[decision.id]
'''


@dataclass(frozen=True, slots=True)
class Taken:
    """What a round took: µs of CPU by role, and seconds."""

    cpu: Mapping[str, float]
    seconds: float

    @property
    def total(self) -> float:
        return sum(self.cpu.values())


def used(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Federation(sandbox.Federation):
    """Daemons whose owners answer from memory; one maybe under a profiler, or all `unwritten`."""

    profiled = ""
    unwritten = False
    _launching = ""

    @classmethod
    def make(cls, folder: Path, k: int, budget: int, form: str = "paper") -> "Federation":
        means = {f"owner{i}": (i + 1) / (k + 1) for i in range(k)}
        # Outcomes lie in memory, so their table is as small as it may be.
        chosen = lotor.Samba.form_called(form)
        servers = [role.name for role in chosen.roles if role.seats]
        cast = hospitals(means, budget=1, seed=SEED, policy="ucb", servers=servers)
        made = cls(folder, chosen, cast, SEED)
        made.prepare()
        pull = cast.environment.start(SEED)
        for arm, name in enumerate(made.owners):
            outcomes = [pull(Decision("", t, arm, "")) for t in range(budget)]
            (made.kits[name] / "hospital.py").write_text(HOSPITAL.format(outcomes=outcomes))
        return made

    @property
    def owners(self) -> tuple[str, ...]:
        return self.cast.pullers

    def launch(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        self._launching = name
        return super().launch(name, *arguments)

    def command(self, *arguments: str) -> list[str]:
        here = Path(__file__)
        if self._launching == self.profiled:
            script = here.with_name("sampler.py")
            return [sys.executable, str(script), str(self.samples), *arguments]
        if self.unwritten:
            return [sys.executable, str(here.with_name("unwritten.py")), *arguments]
        return super().command(*arguments)

    @property
    def samples(self) -> Path:
        """Where the profile goes."""
        return self.folder / "samples.txt"

    @property
    def order(self) -> tuple[str, ...]:
        """What a run is started with."""
        form = self.form.name
        key = ("--key-bits", str(KEY_BITS)) if form == "paper" else ()
        return ("samba", "--policy", "ucb", "--form", form, *key)

    def runs(self) -> "Runs":
        """Each owner is pulled once before the first choice."""
        return Runs(self, self.order, lead=LEAD + len(self.owners))


def hub_address(federation: sandbox.Federation) -> Address:
    listen = read_config(federation.kits[federation.hubs[0]] / "party.toml").listen
    assert listen is not None
    return listen


def dial(federation: sandbox.Federation, address: tuple[str, int]) -> None:
    """Let everybody find the hub at this address."""
    hub = federation.hubs[0]
    for name, kit in federation.kits.items():
        if name != hub:
            file = kit / "party.toml"
            config = read_config(file)
            peers = {**config.peers, hub: Address(*address)}
            write_config(file, msgspec.structs.replace(config, peers=peers))


class Runs:
    """A federation's daemons, up, and runs on them that are started with `order`."""

    def __init__(
        self, federation: sandbox.Federation, order: Sequence[str], lead: int = LEAD
    ) -> None:
        self._federation, self._order, self._lead = federation, order, lead
        names = [name for name in federation.kits if name != federation.opener]
        self._pids = {name: federation.launch(name, "serve").pid for name in names}

    def take(self, rounds: int) -> Taken:
        """One run, from a checkpoint after its start to one before its end."""
        federation, opener, lead = self._federation, self._federation.opener, self._lead
        started = time.time()
        budget = str(lead + rounds + TAIL)
        self._pids[opener] = federation.launch(
            *(opener, "start", *self._order, "--json", "--budget", budget)
        ).pid
        points = []
        for aim in (lead, lead + rounds):
            t = self._checkpoint(started, aim)
            points.append((t, time.perf_counter(), self._used()))
        while federation.running(opener):
            time.sleep(0.05)
        if federation.exit_code(opener):
            raise federation.complaint(opener)
        (first, began, before), (last, ended, after) = points
        cpu = {role: (after[role] - before[role]) / (last - first) * 1e6 for role in after}
        return Taken(cpu, (ended - began) / (last - first))

    def _used(self) -> dict[str, float]:
        cpu: dict[str, float] = defaultdict(float)
        for name, pid in self._pids.items():
            cpu[self._federation.members[name]] += used(pid)
        return cpu

    def _checkpoint(self, started: float, aim: int) -> int:
        """Wait for the hub's next checkpoint from this round on."""
        seen = None
        with open_kit(self._federation.kits[self._federation.hubs[0]]) as at:
            while True:
                run = next((row.id for row in at.journal.runs() if row.created >= started), None)
                t = at.journal.progress(run)[0] if run is not None else 0
                if t >= aim and seen not in (None, t):
                    return t
                seen = t
                for name in self._federation.kits:
                    if not self._federation.running(name):
                        raise self._federation.complaint(name)
                time.sleep(0.01)


def frame_bytes(message: Message) -> int:
    """How long a message is on the wire, in the middle of a run."""
    return len(encode(Data("0" * 32, 1_000, 1_000, 1_000, encode(message))))


# Of an owner with one arm.
PLACE = place_of(1_000, 1)
SCORES = frame_bytes(MaskedScores(PLACE, bytes(SEALED_SCORE)))
BITS = frame_bytes(PullingBits(PLACE, bytes(SEALED_BIT)))


class Echo:
    """A bare echo between the controller's kit and the owners', with frames as theirs are."""

    def __init__(
        self, federation: Federation, listen: Address, dial: tuple[str, int] | None = None
    ) -> None:
        """The server listens at one address; clients may find it at another."""
        there, sizes = Address(*(dial or listen)), self._sizes(federation)
        onward = [frame_bytes(PermutedScores(PLACE, bytes(len(federation.owners) * SEALED_SCORE)))]
        self._server = self._start(
            *(federation.kits["controller"], listen, sizes, BITS),
            *(onward if "comp" in sizes else ()),
        )
        self._line(PATIENCE)
        self._clients = [
            self._start(federation.kits[name], there, ["controller"], size)
            for name, size in sizes.items()
        ]

    def _sizes(self, federation: Federation) -> dict[str, int]:
        """Who answers the server, and how many bytes."""
        return dict.fromkeys(federation.owners, SCORES)

    @staticmethod
    def _start(
        kit: Path, address: Address, peers: Iterable[str], *sizes: int
    ) -> subprocess.Popen[str]:
        script = Path(__file__).with_name("echo.py")
        return subprocess.Popen(  # noqa: S603
            [sys.executable, script, kit, str(address), ",".join(peers), *map(str, sizes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def take(self, rounds: int) -> Taken:
        before = self._used()
        assert self._server.stdin is not None
        self._server.stdin.write(f"{rounds}\n")
        self._server.stdin.flush()
        seconds = float(self._line(PATIENCE + rounds))
        after = self._used()
        cpu = {role: (after[role] - before[role]) / rounds * 1e6 for role in after}
        return Taken(cpu, seconds / rounds)

    def _line(self, patience: float) -> str:
        """What the server says next."""
        out = self._server.stdout
        assert out is not None
        line = out.readline() if select([out], [], [], patience)[0] else ""
        if not line:
            raise RunEndedError("the echo does not answer: its processes said why, above")
        return line

    def _used(self) -> dict[str, float]:
        return {
            "server": used(self._server.pid),
            "clients": sum(used(client.pid) for client in self._clients),
        }

    def close(self) -> None:
        for process in (*self._clients, self._server):
            process.communicate()


class Frames(Echo):
    """All frames of a federation's round, and nothing else: Comp is asked, too."""

    def _sizes(self, federation: Federation) -> dict[str, int]:
        k = len(federation.owners)
        answer = frame_bytes(PermutedBits(PLACE, bytes(k * SEALED_BIT)))
        return {**super()._sizes(federation), "comp": answer}


def free_address() -> Address:
    return Address("127.0.0.1", sandbox.free_port())
