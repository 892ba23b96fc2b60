"""A throw-away federation on this machine: every party a process, with real certificates.

For demonstrations, tests and benchmarks. All private keys lie in one folder, and decisions are
drawn from a seed, so that the result can be compared with plain.
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from lotor.core.effects import Decision
from lotor.core.errors import RunEndedError
from lotor.environments import BernoulliArms, Outcomes
from lotor.runtime.daemon.config import (
    Address,
    ConsentRules,
    LimitsTable,
    OwnerTable,
    PartyConfig,
    TrialTable,
    write_config,
)
from lotor.runtime.daemon.demo_keys import demo_federation

HOSPITAL = '''"""Outcomes of this hospital's patients, each handed to one decision for ever."""

from pathlib import Path

from lotor.environments import Outcomes

pull = Outcomes(Path(__file__).with_name("patients.db"))
'''
SERVERS = {"controller": "controller", "comp": "comp", "customer": "customer"}
CONSENT = ConsentRules(
    customers=("customer",), policies=("*",), least_budget=1, total_budget=10**9, least_owners=1
)

# Below the ports that systems give to outgoing connections: while the hub is away, one of those
# could take its port, and even connect to itself.
PORTS = range(10_000, 32_000)
PATIENCE = 5.0


def free_port(taken: Collection[Address] = ()) -> int:
    while True:
        port = secrets.choice(PORTS)
        if any(port == address.port for address in taken):
            continue
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@dataclass(slots=True)
class Spent:
    """What a party's processes have used up."""

    cpu_seconds: float = 0.0
    starts: int = 0


@dataclass(slots=True)
class Loopback:
    """Kits by name, and the processes that run them.

    `rewards` are the outcomes by owner, and `hospital` is the module with its `pull`.
    """

    folder: Path
    rewards: Mapping[str, Sequence[float]]
    seed: int
    tick: float = 0.0
    wait: float = 60.0
    log: str = "json"
    hospital: str = HOSPITAL
    kits: dict[str, Path] = field(default_factory=dict)
    spent: dict[str, Spent] = field(default_factory=dict)
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @classmethod
    def bernoulli(
        cls, folder: Path, means: Mapping[str, float], *, budget: int, seed: int
    ) -> "Loopback":
        """Owners with one arm each, whose outcomes are those of `BernoulliArms` with this seed."""
        pull = BernoulliArms(list(means.values())).start(seed)
        rewards = {
            name: [pull(Decision("", t, arm, "")) for t in range(budget)]
            for arm, name in enumerate(means)
        }
        return cls(folder, rewards, seed)

    @property
    def owners(self) -> list[str]:
        return list(self.rewards)

    @property
    def opener(self) -> str:
        """The party that starts the run, and learns the total."""
        return "customer"

    @property
    def listeners(self) -> list[str]:
        """The parties that all others dial, each at a port of its own."""
        return ["controller"]

    @property
    def hub(self) -> str:
        """The listener that everybody dials."""
        return self.listeners[0]

    def dials(self, name: str) -> list[str]:
        """Whom a party dials: of two listeners, the later one the earlier one."""
        listeners = self.listeners
        return listeners[: listeners.index(name)] if name in listeners else listeners

    @property
    def pullers(self) -> list[str]:
        """The parties whose journals say which arms were pulled."""
        return self.owners

    @property
    def drawers(self) -> list[str]:
        """The parties whose draws decide arms: here they draw from the seed."""
        return self.pullers

    def round_and_arm(self, decision: str) -> tuple[int, int]:
        """What a decision in a puller's journal was, by its id."""
        _, arm, t = decision.split("/")
        return int(t), int(arm)

    @property
    def members(self) -> dict[str, str]:
        """All parties and their roles."""
        return {**SERVERS, **dict.fromkeys(self.owners, "owner")}

    def prepare(self) -> None:
        """Write keys, certificates, configurations and the owners' data."""
        members = self.members
        self.kits = demo_federation(self.folder, members)
        self.spent = {name: Spent() for name in members}
        ports: dict[str, Address] = {}
        for name in self.listeners:
            ports[name] = Address("127.0.0.1", free_port(ports.values()))
        for name in members:
            write_config(self.kits[name] / "party.toml", self._config(name, ports))
        self._write_data()

    def _write_data(self) -> None:
        for name, rewards in self.rewards.items():
            (self.kits[name] / "hospital.py").write_text(self.hospital)
            Outcomes.create(self.kits[name] / "patients.db", rewards)

    def _owner_tables(self) -> dict[str, OwnerTable]:
        """What parties bring, by name."""
        table = OwnerTable(pull="hospital:pull", repeatable=True, tick=self.tick)
        return dict.fromkeys(self.owners, table)

    def _config(self, name: str, ports: Mapping[str, Address]) -> PartyConfig:
        by_role: dict[str, tuple[str, ...]] = {}
        for member, role in self.members.items():
            if member != self.opener:
                by_role[role] = (*by_role.get(role, ()), member)
        brings = self._owner_tables().get(name)
        consent = msgspec.structs.replace(CONSENT, customers=(self.opener,))
        return PartyConfig(
            listen=ports.get(name),
            peers={other: ports[other] for other in self.dials(name)},
            limits=LimitsTable(wait=self.wait),
            owner=brings,
            consent=consent if brings is not None and name != self.opener else None,
            members=by_role if name == self.opener else {},
            trial=TrialTable(seed=self.seed) if name in self.drawers else None,
        )

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-P", "-c", "from lotor.cli import main; main()", *arguments]

    def launch(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Run a command on a party's kit; its log goes to a file beside the kit."""
        self.spent[name].starts += 1
        with self.log_file(name).open("ab") as log, self.out_file(name).open("ab") as out:
            process = subprocess.Popen(  # noqa: S603
                [*self.command(*arguments), "--kit", str(self.kits[name]), "--log", self.log],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                # ctrl-C is for whoever started the federation, who then ends the parties.
                process_group=0,
            )
        self._processes[name] = process
        return process

    def serve(self, *names: str) -> None:
        for name in names or [name for name in self.kits if name != self.opener]:
            self.launch(name, "serve")

    def log_file(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def out_file(self, name: str) -> Path:
        return self.folder / f"{name}.out"

    def running(self, name: str) -> bool:
        """Whether a party's process lives; counts what it used when it does not."""
        process = self._processes.get(name)
        if process is None:
            return False
        if process.returncode is None:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                return True
            self._ended(name, process, status, usage.ru_utime + usage.ru_stime)
        return False

    def _ended(
        self, name: str, process: subprocess.Popen[bytes], status: int, cpu_seconds: float
    ) -> None:
        process.returncode = os.waitstatus_to_exitcode(status)
        self.spent[name].cpu_seconds += cpu_seconds

    def exit_code(self, name: str) -> int | None:
        return None if self.running(name) else self._processes[name].returncode

    def end(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to a party's process, and wait until it is gone."""
        process = self._processes.get(name)
        if process is None or not self.running(name):
            return
        os.kill(process.pid, number)
        _, status, usage = os.wait4(process.pid, 0)
        self._ended(name, process, status, usage.ru_utime + usage.ru_stime)

    def kill(self, name: str) -> None:
        """kill -9."""
        self.end(name, signal.SIGKILL)

    def close(self) -> None:
        """End all processes; one that does not heed SIGTERM is killed."""
        living = [name for name in self._processes if self.running(name)]
        for name in living:
            os.kill(self._processes[name].pid, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and any(self.running(name) for name in living):
            time.sleep(0.02)
        for name in living:
            self.kill(name)

    def last_words(self, name: str, count: int = 5) -> list[str]:
        """The end of a party's log, without what JSON adds for programs."""
        lines = self.log_file(name).read_text(errors="replace").strip().splitlines()[-count:]
        return [_message(line) for line in lines]

    def complaint(self, name: str) -> RunEndedError:
        """What a party that has failed had to say."""
        words = "\n  ".join(self.last_words(name)) or "(its log is empty)"
        return RunEndedError(
            f"{name} ended by itself with exit code {self.exit_code(name)}; its log ends with\n"
            f"  {words}"
        )


def _message(line: str) -> str:
    try:
        return str(json.loads(line)["message"])
    except (ValueError, KeyError, TypeError):
        return line
