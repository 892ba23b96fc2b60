"""A federation writes no secret where it does not belong: logs, processes, other parties' files."""

import asyncio
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import msgspec
import numpy as np
import pytest

from commands import lotor as command
from lotor.core.effects import Decision
from lotor.core.errors import LotorError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.paillier import PrivateKey
from lotor.environments import Outcomes
from lotor.policies import UCB
from lotor.protocols.form import Assignment, Contribution
from lotor.protocols.protocol import PROTOCOLS
from lotor.protocols.samba.cast import HOSPITAL_MODULE, hospitals
from lotor.protocols.samba.memory import SambaMemory
from lotor.protocols.samba.paper.comp import SambaPaperCompMemory
from lotor.protocols.samba.paper.controller import SambaPaperControllerMemory
from lotor.protocols.samba.paper.customer import SambaPaperCustomerMemory
from lotor.protocols.samba.paper.form import SambaPaper
from lotor.protocols.samba.paper.owner import SambaPaperOwner, SambaPaperOwnerMemory
from lotor.runtime.daemon import announcement, commands
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.function_caller import FunctionCaller
from lotor.runtime.daemon.kit import unlock_key
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.node import Node
from lotor.runtime.daemon.resources import reward_in
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.frames import Join
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.journal import WAITING, Journal, RunRow
from lotor.runtime.durable.link import Link
from lotor.runtime.durable.record import PullRecord, SavedRun
from lotor.runtime.durable.run_output import RunOutput
from lotor.sandbox import Federation
from scanning import Secret, contents, forms_of, forms_of_number, forms_of_reward, leaks

pytestmark = pytest.mark.slow
OWNERS = ("lyon", "porto", "graz")
SERVERS = {
    "controller": SambaPaperControllerMemory,
    "comp": SambaPaperCompMemory,
    "customer": SambaPaperCustomerMemory,
}
BUDGET = 24
PATIENCE = 120
IS_LINUX = sys.platform == "linux"
# A run stands still in its fifth round for as long as somebody looks at it.
HELD = f"""{HOSPITAL_MODULE}
import time

ask, hold = pull, Path(__file__).with_name("hold")


def pull(decision):
    while decision.round > 4 and hold.exists():
        time.sleep(0.01)
    return ask(decision)
"""


@dataclass(repr=False)
class Watched:
    """A federation that ran to its end, and all that could be seen of it.

    pytest shows arguments of tests that fail, so this shows nothing.
    """

    federation: Federation
    rewards: Mapping[str, list[float]]
    run: str = ""
    places: dict[str, bytes] = field(default_factory=dict)
    snapshots: dict[str, set[bytes]] = field(default_factory=dict)

    def look(self, moment: str) -> None:
        """Take down files and processes as they are now."""
        for name, data in contents(self.federation.folder).items():
            self.places[f"{name} ({moment})"] = data

    def look_at_process(self, name: str, pid: int) -> None:
        for what in ("cmdline", "environ"):
            data = Path(f"/proc/{pid}/{what}").read_bytes() if IS_LINUX else b""
            self.places[f"{what} of {name}"] = data

    def ask(self, name: str, question: str) -> list[tuple[object, ...]]:
        path = self.federation.kits[name] / "state" / "journal.db"
        try:
            uri = f"file:{quote(str(path))}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, timeout=30)) as database:
                return database.execute(question).fetchall()
        except sqlite3.OperationalError:
            return []  # not made yet

    def memories(self, name: str) -> list[SambaMemory]:
        """All snapshots of a party that were seen."""
        kind = SERVERS.get(name, SambaPaperOwnerMemory)
        return [msgspec.msgpack.decode(data, type=kind) for data in self.snapshots.get(name, ())]

    def take_snapshots(self) -> None:
        for name in self.federation.kits:
            for (data,) in self.ask(name, "SELECT snapshot FROM progress"):
                if isinstance(data, bytes):
                    self.snapshots.setdefault(name, set()).add(data)

    def until(self, true: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, self.federation.complaint("customer")
            self.take_snapshots()
            time.sleep(0.02)

    def command(self, *arguments: str) -> bytes:
        done = command(*arguments)
        assert done.returncode == 0
        return done.stdout.encode()

    def waits(self, name: str) -> bool:
        return any(state == WAITING for (state,) in self.ask(name, "SELECT state FROM runs"))

    def is_set_up(self, name: str) -> bool:
        return any(memory.terms is not None and memory.t for memory in self.memories(name))


def prepared(folder: Path) -> Watched:
    """Keys are drawn, not taken from a seed; the last owner has to be asked for its consent."""
    # No two of them agree in their first six digits, rounded or not.
    draw = np.random.default_rng(5)
    rewards = (draw.choice(90_000, (len(OWNERS), BUDGET), replace=False) + 10_000.123456) / 1e5
    drawn = dict(zip(OWNERS, rewards.tolist(), strict=True))
    cast = hospitals(dict.fromkeys(OWNERS, 0.5), budget=1, seed=1, policy="ucb")
    federation = Federation(folder, SambaPaper(), cast, seed=1, changes={"tick": 0.05})
    federation.prepare()
    for name in OWNERS:
        (federation.kits[name] / "hospital.py").write_text(HELD)
        (federation.kits[name] / "patients.db").unlink()
        Outcomes.create(federation.kits[name] / "patients.db", drawn[name])
        (federation.kits[name] / "hold").touch()
        path = federation.kits[name] / "party.toml"
        consent = {"consent": None} if name == OWNERS[-1] else {}
        write_config(path, msgspec.structs.replace(read_config(path), trial=None, **consent))
    return Watched(federation, drawn)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    watched = prepared(tmp_path_factory.mktemp("federation"))
    federation = watched.federation
    loudly = ("--log-level", "debug")
    try:
        pids = {
            name: federation.launch(name, "serve", *loudly).pid
            for name in federation.kits
            if name != "customer"
        }
        form = ("--form", "paper", "--key-bits", "2048")
        order = ("start", "samba", "--budget", str(BUDGET), *form, "--json")
        pids["customer"] = federation.launch("customer", *order, *loudly).pid
        others = set(federation.kits) - {OWNERS[-1]}
        watched.until(lambda: watched.waits(OWNERS[-1]) and others <= set(watched.snapshots))
        watched.look("waiting")
        watched.run = str(watched.ask("customer", "SELECT id FROM runs")[0][0])
        last = str(federation.kits[OWNERS[-1]])
        watched.places["approve"] = watched.command("runs", "approve", watched.run, "--kit", last)
        watched.until(lambda: all(map(watched.is_set_up, OWNERS)))
        watched.look("running")
        for name, pid in pids.items():
            watched.look_at_process(name, pid)
        for name in OWNERS:
            (federation.kits[name] / "hold").unlink()
        watched.until(lambda: not federation.running("customer"))
        assert federation.exit_code("customer") == 0, federation.complaint("customer")
        watched.look("finished")
        for name, kit in federation.kits.items():
            shown = watched.command("runs", "show", watched.run, "--kit", str(kit), "--json")
            watched.places[f"show of {name}"] = shown
            found = command("doctor", "--kit", str(kit), "--json").stdout
            watched.places[f"doctor of {name}"] = found.encode()
    finally:
        federation.close()
    watched.look("closed")
    return watched


@pytest.fixture(scope="module")
def secrets(watched: Watched) -> list[Secret]:
    return [*_private_keys(watched), *_owners(watched), *_servers(watched), *_pulls(watched)]


def _private_keys(watched: Watched) -> Iterator[Secret]:
    for folder in (*watched.federation.kits.values(), watched.federation.folder / "authority"):
        key, home = unlock_key(folder), (f"{folder.name}/key.pem ",)
        raw = key.private.private_bytes_raw()
        yield Secret(f"private key of {folder.name}", forms_of(raw), home)
        pem = b"".join(key.to_pem().splitlines()[1:-1])
        yield Secret(f"PEM key of {folder.name}", frozenset({pem}), home)


def _homes(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}/state/" for name in names)


def _owners(watched: Watched) -> Iterator[Secret]:
    everybody = _homes(*OWNERS)
    for name in OWNERS:
        for memory in watched.memories(name):
            assert isinstance(memory, SambaPaperOwnerMemory)
            yield Secret(f"own key of {name}", forms_of(memory.own_key), _homes(name))
            if memory.sealing_key:
                sealing = forms_of(memory.sealing_key)
                yield Secret(f"sealing key of {name}", sealing, _homes(name))
            # Before the set-up is over, these are its own and, at the first owner, all owners'.
            shared = memory.terms is not None or name == OWNERS[0]
            homes = everybody if shared else _homes(name)
            yield Secret(f"mask key of {name}", forms_of(memory.mask_key), homes)
            yield Secret(f"coin key of {name}", forms_of(memory.coin_key), homes)


def _servers(watched: Watched) -> Iterator[Secret]:
    for memory in watched.memories("comp"):
        assert isinstance(memory, SambaPaperCompMemory)
        yield Secret("AES key", forms_of(memory.aes_key), _homes("comp", *OWNERS))
    for memory in watched.memories("controller"):
        assert isinstance(memory, SambaPaperControllerMemory)
        yield Secret("permutation", forms_of(memory.permutation_key), _homes("controller"))
    for memory in watched.memories("customer"):
        assert isinstance(memory, SambaPaperCustomerMemory)
        key, home = PrivateKey.from_bytes(memory.private_key), _homes("customer")
        yield Secret("Paillier key", forms_of(memory.private_key), home)
        for name, prime in (("p", key.p), ("q", key.q)):
            yield Secret(f"Paillier prime {name}", forms_of_number(int(prime)), home)


def _pulls(watched: Watched) -> Iterator[Secret]:
    """Rewards, and which arm was pulled when, are in the owner's folder and in no other."""
    for name, rewards in watched.rewards.items():
        for i, reward in enumerate(rewards):
            yield Secret(f"reward {i} of {name}", forms_of_reward(reward), (f"{name}/",))
        for (decision,) in watched.ask(name, "SELECT decision FROM pulls"):
            if decision is not None:
                text = frozenset({str(decision).encode()})
                yield Secret(f"a decision at {name}", text, (f"{name}/",))


def test_all_was_watched(watched: Watched, secrets: list[Secret]) -> None:
    kinds = {secret.name for secret in secrets}
    for owner in OWNERS:
        assert {f"own key of {owner}", f"mask key of {owner}", f"coin key of {owner}"} <= kinds
        assert {f"a decision at {owner}", f"private key of {owner}"} <= kinds
    assert {"sealing key of lyon", "AES key", "permutation", "Paillier key"} <= kinds
    assert {"Paillier prime p", "Paillier prime q", "private key of authority"} <= kinds
    assert sum(secret.name.startswith("a decision") for secret in secrets) == BUDGET
    for name in watched.federation.kits:
        assert watched.places[f"{name}.log (closed)"]
        assert watched.places[f"show of {name}"]
        assert watched.places[f"doctor of {name}"]
        assert watched.places[f"{name}/state/journal.db-wal (running)"]
        if IS_LINUX:
            assert watched.places[f"cmdline of {name}"]
            assert b"PATH=" in watched.places[f"environ of {name}"]


def test_the_scan_finds_every_secret_where_it_belongs(
    watched: Watched, secrets: list[Secret]
) -> None:
    for secret in secrets:
        at_home = [data for place, data in watched.places.items() if secret.at_home(place)]
        assert any(map(secret.is_in, at_home)), secret.name
    shared = next(secret for secret in secrets if secret.name == "AES key")
    for name in ("comp", *OWNERS):
        own = [data for place, data in watched.places.items() if place.startswith(_homes(name))]
        assert any(map(shared.is_in, own)), name


def test_no_secret_is_anywhere_else(watched: Watched, secrets: list[Secret]) -> None:
    assert leaks(watched.places, secrets) == []


@pytest.mark.parametrize("place", ["lyon.log", "customer.out", "cmdline of comp", "show of graz"])
def test_a_planted_secret_is_found_in_every_form(
    watched: Watched, secrets: list[Secret], place: str
) -> None:
    (name, clean), *_ = [item for item in watched.places.items() if item[0].startswith(place)]
    for secret in secrets:
        for form in secret.forms:
            planted = {name: clean[:40] + form + clean[40:]}
            assert leaks(planted, [secret]) == [f"{secret.name} in {name}"]


def test_a_secret_in_another_partys_journal_is_found(
    watched: Watched, secrets: list[Secret], tmp_path: Path
) -> None:
    """Planted in a real journal, as a blob and as text."""
    state = tmp_path / "controller" / "state"
    shutil.copytree(watched.federation.kits["controller"] / "state", state)
    for kind in ("AES key", "mask key of lyon", "own key of graz", "Paillier key"):
        secret = next(one for one in secrets if one.name == kind)
        assert leaks(contents(tmp_path), [secret]) == []
        with closing(Journal(state, "controller controller")) as journal:
            for value in (max(secret.forms), sorted(secret.forms)[0]):
                journal.commands.add("run", value)
            assert f"{kind} in controller/state/journal.db, its rows" in leaks(
                contents(tmp_path), [secret]
            )
        assert f"{kind} in controller/state/journal.db" in leaks(contents(tmp_path), [secret])


def test_keys_and_journals_are_their_owners_alone(watched: Watched) -> None:
    for kit in watched.federation.kits.values():
        modes = {path: path.stat().st_mode & 0o777 for path in (kit, *kit.rglob("*"))}
        assert modes[kit] == modes[kit / "state"] == 0o700
        assert modes[kit / "key.pem"] == 0o600
        assert modes[kit / "state" / "journal.db"] == 0o600
        for path, mode in modes.items():
            if path.parent.name == "state" or path.suffix == ".db":
                assert mode == 0o600, path
            assert not mode & 0o022, path


# -- what objects and errors show ------------------------------------------------------------------


def _snapshot(watched: Watched, name: str) -> bytes:
    return max(watched.snapshots[name], key=len)


def _text(*things: object) -> Mapping[str, bytes]:
    return {"text": "\n".join(f"{thing!r} {thing}" for thing in things).encode()}


def test_objects_show_no_secret(watched: Watched, secrets: list[Secret], tmp_path: Path) -> None:
    snapshot = _snapshot(watched, "lyon")
    reward = watched.rewards["lyon"][0]
    kit = shutil.copytree(watched.federation.kits["lyon"], tmp_path / "lyon")
    with open_kit(kit) as at:
        node = Node(at.kit, at.config, at.journal)
        row = at.journal.runs()[0]
        agreement = announcement.check(
            row.announcement, row.signature, protocols=PROTOCOLS, trust=None, key=at.kit.key
        )
        assignment = Assignment(
            row.id, "lyon", snapshot, agreement.identity, Contribution(1), seed=5_123_456_789
        )
        live = LiveRun(agreement, node.context, row.state, row.note)
        record = at.journal.record(row.id)
        host = Host("lyon", lambda _: live.new_party(), record, agreement.peers, lambda *_: None)
        link = Link("controller")
        link.post(snapshot)
        link.accept(1, snapshot)
        saved = SavedRun(
            snapshot, False, 1, 1, 1, 1, RunOutput(reward), {"controller": link}, False
        )
        things = [
            at,
            at.kit,
            at.kit.key,
            at.journal,
            node,
            node.context,
            row,
            agreement,
            agreement.identity,
            assignment,
        ]
        things += [live, record, host, link, saved, PullRecord(1, "d", reward, True)]
        things += [RunRow("r", snapshot, snapshot, "lyon", "running", "", 0.0, 0.0, "1")]
        things += [commands.Resolve("d", reward), *watched.memories("lyon")]
        shown = _text(*things)
    assert leaks(shown, secrets) == []
    assert b"5123456789" not in shown["text"]
    assert repr(snapshot[:8])[2:-1].encode() not in shown["text"]
    assert leaks(_text(snapshot, reward), secrets)


def _damaged_snapshot(snapshot: bytes, reward: float) -> None:
    identity = msgspec.msgpack.decode(snapshot, type=SambaPaperOwnerMemory)
    scale = RewardScale(0.0, 1.0)
    SambaPaperOwner(
        _Named(identity.party),  # type: ignore[arg-type]
        identity.run,
        UCB(),
        held=1,
        scale=scale,
        snapshot=snapshot[:-1],
    )


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name


def _two_messages(snapshot: bytes, reward: float) -> None:
    link = Link("controller")
    link.accept(1, snapshot)
    link.accept(1, snapshot + b"x")


def _too_far(snapshot: bytes, reward: float) -> None:
    Link("controller").accept(2, snapshot)


def _old_journal(snapshot: bytes, reward: float) -> None:
    Link("controller", known=5).join(Join("run", 1, 1, 0, 0, 0), 9)


def _no_command(snapshot: bytes, reward: float) -> None:
    commands.from_bytes(snapshot)


def _no_announcement(snapshot: bytes, reward: float) -> None:
    announcement.check(snapshot, snapshot, protocols=PROTOCOLS, trust=None, key=None)  # type: ignore[arg-type]


def _reward_out_of_range(snapshot: bytes, reward: float) -> None:
    asker = FunctionCaller(lambda _: reward, reward_in(RewardScale(-2.0, -1.0)))
    try:
        asyncio.run(asker.call(Decision.named("run", 1, 0)))
    finally:
        asker.close()


@pytest.mark.parametrize(
    "fault",
    [
        _damaged_snapshot,
        _two_messages,
        _too_far,
        _old_journal,
        _no_command,
        _no_announcement,
        _reward_out_of_range,
    ],
)
def test_errors_show_no_secret(
    watched: Watched, secrets: list[Secret], fault: Callable[[bytes, float], None]
) -> None:
    with pytest.raises(LotorError) as caught:
        fault(_snapshot(watched, "lyon"), watched.rewards["lyon"][0])
    notes = getattr(caught.value, "__notes__", [])
    assert leaks(_text(caught.value, caught.value.__context__, *notes), secrets) == []
