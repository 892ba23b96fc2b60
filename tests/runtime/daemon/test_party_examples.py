"""The examples of docs/party.md, one for each role, are parties that do a run together."""

import asyncio
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

from daemons import DaemonGroup, until
from lotor.crypto.certificates import PartyKey, Subject
from lotor.protocols.form import AnyForm, Member
from lotor.protocols.protocol import PROTOCOLS, roles_that_bring, roles_that_order
from lotor.runtime.daemon.address import Address
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import PartyConfig, read_config
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit, check_role
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox.federation import free_port

PAGE = (Path(__file__).parents[3] / "docs" / "party.md").read_text()
BLOCK = re.compile(
    r"^```toml\n(# ([\w-]+): (?:an?|the) ([\w-]+) in ([\w -]+) runs\n.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
BUDGET = 12
# What the page leaves to the reader: the functions and the model of each example.
MODULES = {
    "hospital": "def pull(decision):\n    return decision.round % 2",
    "clinic": "def features(decision):\n    return [decision.round / 100] * 12",
    "treatments": "def act(decision):\n    pass",
    "outcomes": "def pull(decision):\n    return decision.round % 2",
    "shop": (
        "import lotor\ncatalogue = lotor.VectorArms([[1, 0], [0, 1]])\n"
        "def sell(decision):\n    return decision.round % 2"
    ),
    "visits": (
        "def contexts(decision):\n    return [decision.round / 100] * 6\n"
        "def reward(decision):\n    return decision.round % 2"
    ),
}
MODELS = {
    "linucb-ds": "import lotor\nmodel = lotor.LinearArms([[1, 0], [0, 1]], theta=[0.7, 0.5])",
    "spectral-ucb-ds": "import lotor\nmodel = lotor.GraphArms([[0, 1], [1, 0]], values=[0.2, 0.5])",
}
# The default form of each protocol, and forms whose parties are others.
SETTINGS = [*PROTOCOLS, "helba two-servers", "linucb-ds paper-live"]


def form_of(setting: str) -> AnyForm:
    protocol, _, form = setting.partition(" ")
    kind = PROTOCOLS[protocol]
    return kind.form_called(form or kind.default_form())


def examples(protocol: str) -> dict[str, tuple[str, str]]:
    """The role and the party.toml of each party of a protocol's examples."""
    return {
        name: (role, block)
        for block, name, role, protocols in BLOCK.findall(PAGE)
        if protocol in protocols.split(" and ")
    }


def configs(protocol: str, folder: Path) -> dict[str, PartyConfig]:
    """The examples as they are written."""
    found = {}
    for name, (_, block) in examples(protocol).items():
        path = folder / f"{name}.toml"
        path.write_text(block)
        found[name] = read_config(path)
    return found


@pytest.fixture(autouse=True)
def _own_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in (set(sys.modules) - before) & {*MODULES, "survey"}:
        del sys.modules[name]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_role_has_an_example(protocol: str) -> None:
    """Those of the default form among the protocol's own; a dealer is the same everywhere."""
    kind = PROTOCOLS[protocol]
    for form in map(kind.form_called, kind.forms):
        own = f"{protocol} {form.name}"
        roles = {role for role, _ in examples(own if own in SETTINGS else protocol).values()}
        named = {role.name for role in form.roles}
        exactly = own in SETTINGS or form.name == kind.default_form()
        assert named == roles if exactly else named <= {*roles, "dealer"}


@pytest.mark.parametrize("protocol", SETTINGS)
def test_the_doctor_finds_that_each_example_fits_its_role(tmp_path: Path, protocol: str) -> None:
    openers, bringers = roles_that_order(PROTOCOLS), roles_that_bring(PROTOCOLS)
    authority = AuthorityFolder.create(tmp_path / "authority", "clinics").authority
    for name, config in configs(protocol, tmp_path).items():
        request = PartyKey.new().request(Subject(name, examples(protocol)[name][0]))
        kit = ExaminedKit(tmp_path, certificate=authority.sign(request, 30), config=config)
        assert {one.result for one in check_role(kit, openers, bringers)} == {"ok"}, name


@pytest.mark.parametrize("protocol", SETTINGS)
def test_the_examples_name_each_other(tmp_path: Path, protocol: str) -> None:
    """All members but further owners have an example, and of each pair that talks one dials."""
    form = form_of(protocol)
    found, roles = configs(protocol, tmp_path), examples(protocol)
    (opener,) = (name for name, (role, _) in roles.items() if role == form.opener)
    members = {**found[opener].members, form.opener: (opener,)}
    for role, names in members.items():
        assert set(names) & set(found), role
        assert role == form.owner_role or {roles[name][0] for name in names} == {role}
    seats = form.seats({role: [Member(name) for name in names] for role, names in members.items()})
    kinds = {seat: form.role(seat).name for seat in seats}
    for seat, others in form.links(kinds).items():
        for other in others:
            pair = seats[seat].name, seats[other].name
            if set(pair) <= set(found):
                assert sum(one in found[two].peers for one, two in (pair, pair[::-1])) == 1, pair


@pytest.mark.parametrize("protocol", SETTINGS)
def test_the_examples_do_a_run(tmp_path: Path, protocol: str) -> None:
    """As they are written, but for the addresses, the least budget, and owners of one example."""
    form = form_of(protocol)
    found, roles = configs(protocol, tmp_path), examples(protocol)
    ports: dict[str, Address] = {}
    for name in (name for name, one in found.items() if one.listen):
        ports[name] = Address("127.0.0.1", free_port(ports.values()))
    (opener,) = (name for name, (role, _) in roles.items() if role == form.opener)
    members = {role: list(names) for role, names in found[opener].members.items()}
    seated = {name: role for role, names in members.items() for name in names}
    everybody = {**seated, opener: form.opener}
    placed = {
        name: _placed(found[name if name in found else "lyon"], ports.get(name), ports)
        for name in everybody
    }
    home = DaemonGroup(tmp_path / "kits", everybody, placed, PROTOCOLS)
    modules = {**MODULES, "survey": MODELS.get(protocol, "")}
    for kit in home.kits.values():
        for module, text in modules.items():
            (kit / f"{module}.py").write_text(text)

    async def scene() -> LiveRun:
        try:
            await home.up()
            name, _, _ = protocol.partition(" ")
            options: dict[str, str | int] = {"form": form.name}
            if form.name == "paper-live":
                options["key_bits"] = 2048  # which are made sooner
            run = home.order(opener, StartRun(name, BUDGET, options, members))
            live = await home.live(opener, run)
            await until(lambda: live.state != RUNNING)
            return live
        finally:
            await home.down()

    live = asyncio.run(scene())
    assert (live.state, live.note) == (FINISHED, "")


def _placed(config: PartyConfig, own: Address | None, ports: Mapping[str, Address]) -> PartyConfig:
    """The same party on this machine, with small runs allowed."""
    peers = {name: ports[name] for name in config.peers}
    consent = config.consent
    if consent is not None:
        consent = msgspec.structs.replace(consent, least_budget=1)
    return msgspec.structs.replace(config, listen=own, peers=peers, consent=consent)
