"""`lotor init` writes what a party needs, and parties that it set up do a run together."""

import asyncio
import json
from itertools import chain
from pathlib import Path

import pytest

from commands import lotor
from daemons import SandboxDaemons, until
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox.federation import free_port
from lotor.sandbox.kits import make_kits

MEMBERS = {
    "acme": "customer",
    "cloud-a": "controller",
    "cloud-b": "comp",
    "lyon": "owner",
    "porto": "owner",
    "graz": "owner",
}
BUDGET = 12
FUNCTIONS = """
import lotor

def pull(decision): return decision.round % 2
def act(decision): pass
def features(decision): return [decision.round / 100] * 6
def few(decision): return [decision.round / 100] * 2
linear = lotor.LinearArms([[1, 0], [0, 1]], theta=[0.7, 0.5])
graph = lotor.GraphArms([[0, 1], [1, 0]], values=[0.2, 0.5])
"""
BROUGHT = {
    "samba": {"owner": ["--pull", "own:pull", "--repeatable"]},
    "linucb-ds": {"owner": ["--model", "own:linear"]},
    "spectral-ucb-ds": {"owner": ["--model", "own:graph"]},
    "ppcb": {
        "owner": ["--features", "own:few", "--dimensions", "2"],
        "actor": ["--act", "own:act", "--arms", "2"],
        "receiver": ["--pull", "own:pull"],
    },
    "helba": {
        "user": [
            "--features",
            "own:features",
            "--dimensions",
            "6",
            "--pull",
            "own:pull",
            "--arms",
            "2",
        ],
    },
}


def init(kit: Path, *arguments: str) -> dict[str, object]:
    done = lotor("init", "--kit", str(kit), *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def refused(*arguments: str) -> str:
    done = lotor("init", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def kits(tmp_path: Path) -> dict[str, Path]:
    return make_kits(tmp_path, MEMBERS)


def test_the_certificate_says_the_role_and_the_command_what_is_missing(
    kits: dict[str, Path],
) -> None:
    done = lotor("init", "--kit", str(kits["lyon"]))
    assert done.returncode == 0, done.stderr
    assert "role      owner" in done.stdout
    assert "Fill in [peers]: name and address of the controller." in done.stderr
    assert "Fill in [owner]: pull, or inbox = true." in done.stderr
    assert "Every run waits for `lotor runs approve`" in done.stderr
    assert (kits["lyon"] / "party.toml").read_text().startswith("# lyon: the owner in samba runs")
    assert "is not overwritten" in refused("--kit", str(kits["lyon"]))
    assert init(kits["lyon"], "--inbox", "--force")["missing"] == [
        "[peers]: name and address of the controller"
    ]
    assert "leave out --role" in refused("--kit", str(kits["lyon"]), "--role", "comp")


def test_a_kit_without_a_certificate(tmp_path: Path) -> None:
    assert "make a kit with `lotor keys request`" in refused("--kit", str(tmp_path / "none"))
    assert "say it by --role" in refused("--kit", str(tmp_path))
    assert init(tmp_path, "--role", "dealer")["form"] == "dealt"
    assert lotor("keys", "request", "--role", "comp", "--name", "x", "--kit", str(tmp_path / "x"))
    assert init(tmp_path / "x")["role"] == "comp"


def test_options_that_cannot_be_read(kits: dict[str, Path]) -> None:
    where = ("--kit", str(kits["lyon"]))
    assert "write it as NAME=HOST:PORT" in refused(*where, "--dial", "cloud-a")
    assert "is not an address" in refused(*where, "--dial", "cloud-a=nowhere")
    assert "names a twice" in refused(*where, "--dial", "a=b:1", "--dial", "a=b:2")
    assert "give two numbers" in refused(*where, "--inbox", "--reward-range", "5")
    assert "write it as ROLE=NAME" in refused(*where, "--member", "owner")
    assert "owner.dimensions" in refused(*where, "--protocol", "ppcb", "--features", "a:b")
    assert not (kits["lyon"] / "party.toml").exists()


def test_all_that_is_asked_for_is_written(kits: dict[str, Path]) -> None:
    written = init(
        kits["lyon"],
        *("--dial", "cloud-a=hub.example.org:7400", "--inbox", "--arms", "2"),
        *("--reward-range", "-1,5", "--customer", "acme", "--policy", "ucb", "--local", "7411"),
        *("--least-owners", "2", "--least-budget", "10", "--total-budget", "1e4"),
        *("--privacy-budget", "0.5"),
    )
    assert written["missing"] == []
    config = read_config(kits["lyon"] / "party.toml")
    assert config.owner is not None
    assert config.consent is not None
    assert config.local is not None
    assert (config.owner.inbox, config.owner.arms) == (True, 2)
    assert config.owner.reward_range == (-1.0, 5.0)
    assert (config.consent.customers, config.consent.policies) == (("acme",), ("ucb",))
    assert (config.consent.least_owners, config.consent.least_budget) == (2, 10)
    assert (config.consent.total_budget, config.consent.privacy_budget) == (10_000, 0.5)
    assert config.local.port == 7411


@pytest.mark.long
@pytest.mark.parametrize("setting", [*PROTOCOLS, "helba two-servers"])
def test_parties_that_it_set_up_do_a_run(tmp_path: Path, setting: str) -> None:
    protocol, _, name = setting.partition(" ")
    kind = PROTOCOLS[protocol]
    form = kind.form_called(name or kind.default_form())
    members = {
        f"{role.name}-{number}": role.name
        for role in form.roles
        for number in range(len(role.seats) or 3)
    }
    kits = make_kits(tmp_path, members)
    # In the order of their seats, the parties of a role take the role's hubs.
    places = {
        role.name: iter([one for one in members if members[one] == role.name])
        for role in form.roles
    }
    hubs = {next(places[form.role(seat).name]): free_port() for seat in form.hubs}
    opener = next(one for one, role in members.items() if role == form.opener)
    for party, kit in kits.items():
        (kit / "own.py").write_text(FUNCTIONS)
        dialled = list(hubs)[: list(hubs).index(party)] if party in hubs else list(hubs)
        arguments = ["--protocol", protocol, "--form", form.name]
        arguments += chain(*(("--dial", f"{hub}=127.0.0.1:{hubs[hub]}") for hub in dialled))
        if party in hubs:
            arguments += ["--listen", f"127.0.0.1:{hubs[party]}"]
        if party == opener:
            others = [(role, one) for one, role in members.items() if one != opener]
            arguments += chain(*(("--member", f"{role}={one}") for role, one in others))
        else:
            arguments += ["--customer", opener, "--policy", "*", "--least-budget", "1"]
        arguments += BROUGHT[protocol].get(members[party], [])
        assert init(kit, *arguments)["missing"] == []

    async def scene() -> tuple[str, str]:
        group = SandboxDaemons(tmp_path, members, {}, PROTOCOLS, kits=kits)
        try:
            await group.up()
            listed = read_config(kits[opener] / "party.toml").members
            order = StartRun(
                protocol,
                BUDGET,
                {"form": form.name},
                {role: list(names) for role, names in listed.items()},
            )
            live = await group.live(opener, group.order(opener, order))
            await until(lambda: live.state != RUNNING)
            return live.state, live.note
        finally:
            await group.down()

    assert asyncio.run(scene()) == (FINISHED, "")
