"""LinUCB-DS's principal writes down nothing that decrypts, and theta stays with its owner."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import quote

import msgspec
import numpy as np
import pytest

from lotor import LinUCBDS
from lotor.crypto.paillier import PrivateKey
from lotor.environments import LinearArms
from lotor.environments.sources import MadeUpArms
from lotor.policies.linear import LinUCB
from lotor.protocols.linucb_ds.paper.comp import LinUCBCompMemory
from lotor.protocols.linucb_ds.paper.customer import LinUCBCustomerMemory
from lotor.protocols.linucb_ds.paper.game import MASK, LinUCBPrincipalMemory
from lotor.protocols.plain.linear import linear_layout
from lotor.runtime.daemon.config import read_config, write_config
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals
from scanning import (
    Secret,
    contents,
    forms_of,
    forms_of_number,
    forms_of_reward,
    forms_of_small_numbers,
    leaks,
)
from surveys import survey_federation

pytestmark = pytest.mark.slow

BUDGET, PATIENCE = 100, 120.0
VECTORS = np.random.default_rng(3).normal(size=(6, 3)).tolist()
SURVEY = MadeUpArms(LinearArms, VECTORS, [0.51728394, -0.33164257, 0.61942683])
KINDS = {
    "comp": LinUCBCompMemory,
    "customer": LinUCBCustomerMemory,
    "principal": LinUCBPrincipalMemory,
}


@dataclass(repr=False)
class Watched:
    """A federation that ran to its end, and all that could be seen of it."""

    federation: Federation
    run: str = ""
    total: float = 0.0
    places: dict[str, bytes] = field(default_factory=dict)
    snapshots: dict[str, set[bytes]] = field(default_factory=dict)

    def look(self, moment: str) -> None:
        for name, data in contents(self.federation.folder).items():
            self.places[f"{name} ({moment})"] = data

    def take_snapshots(self) -> None:
        for name in KINDS:
            path = self.federation.kits[name] / "state" / "journal.db"
            try:
                uri = f"file:{quote(str(path))}?mode=ro"
                with closing(sqlite3.connect(uri, uri=True, timeout=30)) as database:
                    rows = database.execute("SELECT snapshot FROM progress").fetchall()
            except sqlite3.OperationalError:
                continue  # not made yet
            self.snapshots.setdefault(name, set()).update(data for (data,) in rows if data)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """Without a seed: every key is drawn."""
    federation = survey_federation(
        tmp_path_factory.mktemp("federation"), LinUCBDS(form="paper"), SURVEY, seed=1
    )
    federation.prepare()
    path = federation.kits["principal"] / "party.toml"
    write_config(path, msgspec.structs.replace(read_config(path), trial=None))
    watched, journals = Watched(federation), Journals(federation)
    loudly = ("--log-level", "debug")
    with closing(federation):
        for name in ("principal", "comp", "owner"):
            federation.launch(name, "serve", *loudly)
        options = ("--form", "paper", "--budget", str(BUDGET), "--key-bits", "2048", "--json")
        order = ("start", "linucb-ds", *options)
        federation.launch("customer", *order, *loudly)
        deadline, looked = time.monotonic() + PATIENCE, False
        while federation.running("customer"):
            assert time.monotonic() < deadline, federation.complaint("customer")
            watched.take_snapshots()
            run = journals.run()
            if run is not None and not looked and journals.round(run) > BUDGET // 2:
                watched.look("running")
                looked = True
            time.sleep(0.01)
        assert federation.exit_code("customer") == 0, federation.complaint("customer")
        watched.look("finished")
    watched.look("closed")
    run = journals.run()
    assert run is not None
    total = journals.total(run)
    assert total is not None
    watched.run, watched.total = run, total
    return watched


def _decrypting(watched: Watched) -> Iterator[Secret]:
    """The private keys, in every form."""
    for name in ("comp", "customer"):
        home = (f"{name}/state/",)
        for data in watched.snapshots[name]:
            memory = msgspec.msgpack.decode(data, type=KINDS[name])
            assert isinstance(memory, LinUCBCompMemory | LinUCBCustomerMemory)
            key = PrivateKey.from_bytes(memory.private_key)
            yield Secret(f"{name}'s key", forms_of(memory.private_key), home)
            for prime, value in (("p", key.p), ("q", key.q)):
                yield Secret(f"{name}'s prime {prime}", forms_of_number(int(value)), home)


def _data(watched: Watched) -> Iterator[Secret]:
    arms = SURVEY.arms()
    layout = linear_layout(arms.vectors, LinUCB(), 64)
    home = ("owner/survey.py", "owner/__pycache__")
    fixed = forms_of_small_numbers([int(number) for number in layout.theta(arms.theta)])
    for i, value in enumerate(SURVEY.pays):
        yield Secret(f"theta {i}", forms_of_reward(value) | fixed, home)
    yield Secret("the total", forms_of_reward(watched.total), ("customer/state/", "customer.out"))


def _draws(watched: Watched) -> Iterator[Secret]:
    for data in watched.snapshots["principal"]:
        memory = msgspec.msgpack.decode(data, type=LinUCBPrincipalMemory)
        for purpose, key in memory.keys.items():
            yield Secret(f"{purpose} key", forms_of(key), ("principal/state/",))


@pytest.fixture(scope="module")
def secrets(watched: Watched) -> list[Secret]:
    return [*_decrypting(watched), *_data(watched), *_draws(watched)]


def test_all_was_watched(watched: Watched, secrets: list[Secret]) -> None:
    names = {secret.name for secret in secrets}
    assert {"comp's key", "comp's prime q", "customer's prime p", f"{MASK} key"} <= names
    memories = [
        msgspec.msgpack.decode(data, type=LinUCBPrincipalMemory)
        for data in watched.snapshots["principal"]
    ]
    assert any(memory.model is not None and memory.t > 0 for memory in memories)
    assert any(place.startswith("principal/state/journal.db") for place in watched.places)


def test_the_scan_finds_every_secret_where_it_belongs(
    watched: Watched, secrets: list[Secret]
) -> None:
    for secret in secrets:
        at_home = [data for place, data in watched.places.items() if secret.at_home(place)]
        seen = [data for found in watched.snapshots.values() for data in found]
        assert any(map(secret.is_in, [*at_home, *seen])), secret.name


def test_nothing_that_decrypts_and_no_theta_is_anywhere_else(
    watched: Watched, secrets: list[Secret]
) -> None:
    assert leaks(watched.places, secrets) == []


def test_the_principals_journal_has_neither_keys_nor_theta_nor_the_total(
    watched: Watched, secrets: list[Secret]
) -> None:
    """Its snapshots as well, which later ones replace."""
    own = {f"snapshot {i}": data for i, data in enumerate(watched.snapshots["principal"])}
    own |= {
        place: data
        for place, data in watched.places.items()
        if place.startswith(("principal/", "principal."))
    }
    foreign = [secret for secret in secrets if not secret.name.startswith("linear ")]
    assert [secret.name for secret in foreign for data in own.values() if secret.is_in(data)] == []


def test_a_planted_secret_is_found(watched: Watched, secrets: list[Secret]) -> None:
    name, clean = next(
        item for item in watched.places.items() if item[0].startswith("principal/state/journal.db")
    )
    for secret in secrets:
        if not secret.at_home(name):
            for form in secret.forms:
                assert leaks({name: clean[:40] + form + clean[40:]}, [secret])
