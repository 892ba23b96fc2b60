"""The examples of docs/federation, one for each role, are parties that do a run together.

tests/test_pages.py follows these pages word by word; here the parties of each share one process.
"""

import asyncio
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
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
from pages import FEDERATIONS, Page

EXAMPLE = re.compile(r"# ([\w-]+): (?:an?|the) ([\w-]+) in ([\w -]+) runs\n")
BUDGET = 12
# The default form of each protocol, and forms whose parties are others.
SETTINGS = [*PROTOCOLS, "helba two-servers", "linucb-ds paper-live"]


def form_of(setting: str) -> AnyForm:
    protocol, _, form = setting.partition(" ")
    kind = PROTOCOLS[protocol]
    return kind.form_called(form or kind.default_form())


@dataclass(frozen=True)
class Example:
    """A party of a page: its party.toml, and the modules beside it."""

    role: str
    text: str
    modules: Mapping[str, str]


@cache
def examples(setting: str) -> Mapping[str, Example]:
    """Each party that the pages have for a setting."""
    found = {}
    for files in (Page(path).files() for path in FEDERATIONS):
        for path, text in files.items():
            about = EXAMPLE.match(text)
            if about is not None and setting in about[3].split(" and "):
                folder = path.removesuffix("party.toml")
                modules = {
                    other.removeprefix(folder): code
                    for other, code in files.items()
                    if other.startswith(folder) and other.endswith(".py")
                }
                found[about[1]] = Example(about[2], text, modules)
    return found


def configs(protocol: str, folder: Path) -> dict[str, PartyConfig]:
    """The examples as a reader writes them."""
    found = {}
    for name, example in examples(protocol).items():
        path = folder / f"{name}.toml"
        path.write_text(example.text)
        found[name] = read_config(path)
    return found


def roles_of(setting: str) -> dict[str, str]:
    return {name: example.role for name, example in examples(setting).items()}


def members_of(setting: str, found: Mapping[str, PartyConfig]) -> tuple[str, dict[str, list[str]]]:
    """Who starts the run, and who has each role in it."""
    form, roles = form_of(setting), roles_of(setting)
    (opener,) = (name for name, role in roles.items() if role == form.opener)
    members = {role: list(names) for role, names in found[opener].members.items()}
    owners = [name for name, role in roles.items() if role == form.owner_role]
    if form.owner_role is not None and not set(owners) <= set(members[form.owner_role]):
        members[form.owner_role] = owners  # as the page says by `lotor start --owners`
    return opener, {**members, form.opener: [opener]}


@pytest.fixture(autouse=True)
def _own_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in (set(sys.modules) - before) & {
        module.removesuffix(".py")
        for setting in SETTINGS
        for example in examples(setting).values()
        for module in example.modules
    }:
        del sys.modules[name]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_role_has_an_example(protocol: str) -> None:
    """Those of the default form among the protocol's own; a dealer is the same everywhere."""
    kind = PROTOCOLS[protocol]
    for form in map(kind.form_called, kind.forms):
        own = f"{protocol} {form.name}"
        found = examples(own if own in SETTINGS else protocol)
        roles = {example.role for example in found.values()}
        named = {role.name for role in form.roles}
        exactly = own in SETTINGS or form.name == kind.default_form()
        assert named == roles if exactly else named <= {*roles, "dealer"}


@pytest.mark.parametrize("protocol", SETTINGS)
def test_the_doctor_finds_that_each_example_fits_its_role(tmp_path: Path, protocol: str) -> None:
    openers, bringers = roles_that_order(PROTOCOLS), roles_that_bring(PROTOCOLS)
    authority = AuthorityFolder.create(tmp_path / "authority", "clinics").authority
    for name, config in configs(protocol, tmp_path).items():
        request = PartyKey.new().request(Subject(name, examples(protocol)[name].role))
        kit = ExaminedKit(tmp_path, certificate=authority.sign(request, 30), config=config)
        assert {one.result for one in check_role(kit, openers, bringers)} == {"ok"}, name


@pytest.mark.parametrize("protocol", SETTINGS)
def test_the_examples_name_each_other(tmp_path: Path, protocol: str) -> None:
    """All members but further owners have an example, and of each pair that talks one dials."""
    form = form_of(protocol)
    found, roles = configs(protocol, tmp_path), roles_of(protocol)
    _, members = members_of(protocol, found)
    for role, names in members.items():
        assert set(names) & set(found), role
        assert role == form.owner_role or {roles[name] for name in names} == {role}
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
    found = configs(protocol, tmp_path)
    ports: dict[str, Address] = {}
    for name in (name for name, one in found.items() if one.listen):
        ports[name] = Address("127.0.0.1", free_port(ports.values()))
    opener, members = members_of(protocol, found)
    everybody = {name: role for role, names in members.items() for name in names}
    del members[form.opener]
    placed = {
        name: _placed(found[name if name in found else "lyon"], ports.get(name), ports)
        for name in everybody
    }
    home = DaemonGroup(tmp_path / "kits", everybody, placed, PROTOCOLS)
    for name, kit in home.kits.items():
        example = examples(protocol)[name if name in found else "lyon"]
        for module, text in example.modules.items():
            (kit / module).write_text(text)

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
