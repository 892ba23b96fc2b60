"""A throw-away federation on this machine: every party a process, with real certificates.

All private keys lie in one folder, and decisions are drawn from a seed, so that the result can be
compared with plain. A `Cast` says who takes part, and with which tables and files.
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lotor.core.errors import RunEndedError
from lotor.crypto.wrapping import ScryptCost
from lotor.protocols.cast import Cast
from lotor.protocols.form import AnyForm
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon.config import (
    Address,
    ConsentRules,
    LimitsTable,
    OwnerTable,
    PartyConfig,
    TrialTable,
    write_config,
)
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.protecting import Choice, kit_folder, protect
from lotor.sandbox.kits import make_kits

# Below the ports that systems give to outgoing connections: while the hub is away, one of those
# could take its port, and even connect to itself.
PORTS = range(10_000, 32_000)
PATIENCE = 5.0
# A key file is drawn at random: to stretch it adds nothing.
QUICK = ScryptCost(log2_n=10)


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
class Federation:
    """The parties of a cast as processes; `changes` are made to every party's party.toml.

    With `key_files` every kit is encrypted, and its key file lies beside it.
    """

    folder: Path
    form: AnyForm
    cast: Cast
    seed: int
    wait: float = 60.0
    log: str = "json"
    changes: Mapping[str, object] = field(default_factory=dict)
    key_files: bool = False
    kits: dict[str, Path] = field(default_factory=dict)
    spent: dict[str, Spent] = field(default_factory=dict)
    journal_keys: dict[str, bytes | None] = field(default_factory=dict, repr=False)
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        folder: Path,
        protocol: SecureProtocol,
        *,
        budget: int,
        seed: int,
        size: int | None = None,
    ) -> "Federation":
        """The cast that a protocol has for its demonstration."""
        form = protocol.in_form()
        form.check_federated(protocol.name)
        return cls(folder, form, form.cast(protocol, budget, seed, size), seed)

    @property
    def opener(self) -> str:
        """The party that starts the run, and learns the total."""
        return self._named(self.form.opener)[0]

    @property
    def hubs(self) -> list[str]:
        """The parties that all others dial, each at a port of its own."""
        named = {role.name: iter(self._named(role.name)) for role in self.form.roles}
        return [next(named[self.form.role(seat).name]) for seat in self.form.hubs]

    def _named(self, role: str) -> list[str]:
        return [name for name, member in self.cast.members.items() if member.role == role]

    def dials(self, name: str) -> list[str]:
        """Whom a party dials: of two hubs, the later one dials the earlier one."""
        hubs = self.hubs
        return hubs[: hubs.index(name)] if name in hubs else hubs

    def round_and_arm(self, decision: str) -> tuple[int, int]:
        """What a decision in a puller's journal was, by its id."""
        return int(decision.rsplit("/", 1)[1]), self.cast.arm(self.folder, decision)

    @property
    def members(self) -> dict[str, str]:
        """All parties and their roles."""
        return {name: member.role for name, member in self.cast.members.items()}

    def prepare(self) -> None:
        """Write keys, certificates, configurations and the parties' data."""
        members = self.members
        self.kits = make_kits(self.folder, members)
        self.spent = {name: Spent() for name in members}
        ports: dict[str, Address] = {}
        for name in self.hubs:
            ports[name] = Address("127.0.0.1", free_port(ports.values()))
        _write_files(self.folder, self.cast.files)
        for name, member in self.cast.members.items():
            write_config(self.kits[name] / "party.toml", self._config(name, ports))
            _write_files(self.kits[name], member.files)
        if self.key_files:
            for name, kit in self.kits.items():
                choice = Choice(new_key_file=self.folder / f"{name}.key")
                protect(kit_folder(kit), choice, cost=QUICK)
                self.journal_keys[name] = Kit(kit).journal_key

    def _config(self, name: str, ports: Mapping[str, Address]) -> PartyConfig:
        by_role: dict[str, tuple[str, ...]] = {}
        for other, role in self.members.items():
            if other != self.opener:
                by_role[role] = (*by_role.get(role, ()), other)
        member = self.cast.members[name]
        owner = None if member.table is None else self._owner_table(member.table)
        consent = ConsentRules(
            customers=(self.opener,),
            policies=("*",),
            least_budget=1,
            total_budget=10**9,
            least_owners=1,
            code=("*",),
            forms=(self.form.name,),
            reveal=("*",),
        )
        return PartyConfig(
            listen=ports.get(name),
            peers={other: ports[other] for other in self.dials(name)},
            limits=LimitsTable(wait=self.wait),
            owner=owner,
            consent=consent if name != self.opener else None,
            members=by_role if name == self.opener else {},
            trial=TrialTable(seed=self.seed) if member.draws else None,
        )

    def _owner_table(self, table: Mapping[str, object]) -> OwnerTable:
        # A party that brings only a model has no settings of functions in its table.
        changes = self.changes if "repeatable" in table else {}
        return OwnerTable(**{**table, **changes})  # type: ignore[arg-type]

    def command(self, *arguments: str) -> list[str]:
        """A command of `lotor`; a party is served without loading the command line."""
        if arguments[:1] == ("serve",):
            return [sys.executable, "-P", "-m", "lotor.runtime.daemon", *arguments[1:]]
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
        """An error with the end of a failed party's log."""
        words = "\n  ".join(self.last_words(name)) or "(its log is empty)"
        return RunEndedError(
            f"{name} ended by itself with exit code {self.exit_code(name)}; its log ends with\n"
            f"  {words}"
        )


def _write_files(folder: Path, files: Mapping[str, str | Callable[[Path], None]]) -> None:
    for name, content in files.items():
        if isinstance(content, str):
            (folder / name).write_text(content)
        else:
            content(folder / name)


def _message(line: str) -> str:
    try:
        return str(json.loads(line)["message"])
    except (ValueError, KeyError, TypeError):
        return line
