"""An owner's model: how it is found, and what becomes of runs that it does not fit."""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

import lotor
from daemons import DaemonGroup, until
from lotor.core.errors import ConfigError
from lotor.environments.sources import MadeUpArms
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.config import (
    Address,
    ConsentRules,
    LimitsTable,
    OwnerTable,
    PartyConfig,
    TrialTable,
)
from lotor.runtime.daemon.party_functions import load_model
from lotor.runtime.durable.journal import FINISHED, REFUSED, WAITING
from lotor.sandbox.federation import free_port

SURVEY = MadeUpArms(lotor.LinearArms, [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], [0.7, 0.5])
LONG = MadeUpArms(lotor.LinearArms, SURVEY.table, [7.0625, 5.0])
MODEL = OwnerTable(model="survey_of_tests:model")
PULL = OwnerTable(pull="survey_of_tests:pull", repeatable=True)
BOTH = OwnerTable(model="survey_of_tests:model", pull="survey_of_tests:pull", repeatable=True)
ROLES = {
    "cloud-a": "principal",
    "cloud-b": "comp",
    "cloud-c": "controller",
    "acme": "customer",
    "lyon": "owner",
}
BUDGET, SEED = 12, 5
CONSENT = ConsentRules(
    customers=("acme",),
    policies=("*",),
    least_budget=1,
    total_budget=10**9,
    least_owners=1,
)
LINEAR = {"principal": ["cloud-a"], "comp": ["cloud-b"], "owner": ["lyon"]}


@pytest.fixture(autouse=True)
def _untouched_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name == "survey_of_tests":
            del sys.modules[name]


def kit(folder: Path, text: str) -> Path:
    (folder / "survey_of_tests.py").write_text(text)
    return folder


# -- finding it ------------------------------------------------------------------------------------


def test_an_object_or_what_a_function_returns(tmp_path: Path) -> None:
    kit(tmp_path, f"{SURVEY.module()}\ndef made():\n    return model\n")
    found = load_model("survey_of_tests:model", tmp_path)
    assert isinstance(found, lotor.LinearArms)
    assert found.theta.tolist() == SURVEY.pays
    assert load_model("survey_of_tests:made", tmp_path) is found


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("survey_of_tests", 'owner.model: must be written as "package.module:name"'),
        ("survey_of_tests:absent", "owner.model: module survey_of_tests .* has no absent"),
        ("nowhere_at_all:model", "owner.model: there is no module nowhere_at_all"),
        ("survey_of_tests:broken", "owner.model: .*broken failed with KeyError"),
        ("survey_of_tests:leaves", "owner.model: .*leaves failed with SystemExit"),
    ],
)
def test_what_cannot_be_loaded_is_explained(tmp_path: Path, spec: str, complaint: str) -> None:
    kit(
        tmp_path,
        "def broken():\n    raise KeyError('row')\ndef leaves():\n    raise SystemExit(2)\n",
    )
    with pytest.raises(ConfigError, match=complaint):
        load_model(spec, tmp_path)


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ({}, "a party has one or more"),
        ({"arms": 3}, "a party has one or more"),
        ({"model": "no spec"}, "model: must be written as"),
        ({"model": "a:b", "repeatable": True}, "repeatable: must be left out"),
        ({"model": "a:b", "tick": 1.0}, "tick: must be left out"),
        ({"model": "a:b", "reward_range": (0.0, 5.0)}, "reward_range: must be left out"),
        ({"model": "a:b", "arms": 0}, "arms: must be a whole number"),
    ],
)
def test_a_table_that_makes_no_sense(keys: Mapping[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        OwnerTable(**keys)  # type: ignore[arg-type]


# -- runs ------------------------------------------------------------------------------------------

TWO = LimitsTable(workers=2)


def town(
    folder: Path, owner: OwnerTable, survey: MadeUpArms = SURVEY, *, asks: bool = False
) -> DaemonGroup:
    """A federation for linear runs."""
    hub = Address("127.0.0.1", free_port())
    dials = {"cloud-a": hub}
    configs = {
        "cloud-a": PartyConfig(listen=hub, trial=TrialTable(seed=SEED), limits=TWO),
        "cloud-b": PartyConfig(peers=dials, limits=TWO),
        "acme": PartyConfig(peers=dials),
        "lyon": PartyConfig(
            peers=dials,
            owner=owner,
            consent=msgspec.structs.replace(CONSENT, customers=()) if asks else CONSENT,
        ),
    }
    roles = {name: ROLES[name] for name in configs}
    home = DaemonGroup(folder, roles, configs, PROTOCOLS)
    pull = "\ndef pull(decision):\n    return 1.0\n"
    kit(home.kits["lyon"], survey.module() + pull)
    return home


def order() -> commands.StartRun:
    return commands.StartRun("linucb-ds", BUDGET, {}, LINEAR)


async def ended(home: DaemonGroup, run: str, *names: str) -> dict[str, tuple[str, str]]:
    def over(name: str) -> bool:
        live = home.nodes[name].runs.get(run)
        return live is not None and live.state in (FINISHED, REFUSED, "failed")

    await until(lambda: all(map(over, names)))
    return {
        name: (home.nodes[name].runs[run].state, home.nodes[name].runs[run].note) for name in names
    }


def refused(
    folder: Path, owner: OwnerTable, survey: MadeUpArms = SURVEY, *, asks: bool = False
) -> str:
    """What all other parties hear when the owner does not take part."""

    async def scene() -> str:
        home = town(folder, owner, survey, asks=asks)
        await home.up()
        try:
            run = home.order("acme", order())
            if asks:
                await until(lambda: run in home.nodes["lyon"].runs)
                assert home.nodes["lyon"].runs[run].state == WAITING
                home.tell("lyon", run, commands.Approve())
            states = await ended(home, run, "acme", "cloud-a", "cloud-b")
            assert {state for state, _ in states.values()} == {REFUSED}
            (note,) = {note for _, note in states.values()}
            assert "lyon" in home.nodes["cloud-a"].connections.names()
            return note
        finally:
            await home.down()

    return asyncio.run(scene())


@pytest.mark.parametrize("asks", [False, True])
def test_a_run_is_refused_in_the_name_of_an_owner_without_a_model(
    tmp_path: Path, asks: bool
) -> None:
    note = refused(tmp_path, PULL, asks=asks)
    assert note.startswith("owner: ")
    assert "owner has no model of its arms" in note


def test_a_theta_beyond_the_ordered_bound_is_refused_and_not_shown(tmp_path: Path) -> None:
    note = refused(tmp_path, MODEL, LONG)
    assert "theta is longer than S = 1" in note
    assert "7.06" not in note


@pytest.mark.parametrize("owner", [MODEL, BOTH], ids=["model", "both"])
def test_a_run_with_a_model_equals_plain(tmp_path: Path, owner: OwnerTable) -> None:
    async def scene() -> tuple[object, int]:
        home = town(tmp_path, owner)
        await home.up()
        try:
            run = home.order("acme", order())
            states = await ended(home, run, *home.roles)
            assert {state for state, _ in states.values()} == {FINISHED}
            offered = home.nodes["lyon"].resources.contribution.arms
            return home.nodes["acme"].journal.output(run), offered
        finally:
            await home.down()

    reward, offered = asyncio.run(scene())
    plain = lotor.run(lotor.LinUCBDS().plain(), SURVEY.arms(), budget=BUDGET, seed=SEED)
    assert reward == plain.reward
    assert offered == (3 if owner is MODEL else 1)


def test_samba_is_refused_in_the_name_of_an_owner_without_a_pull(tmp_path: Path) -> None:
    async def scene() -> dict[str, tuple[str, str]]:
        hub = Address("127.0.0.1", free_port())
        dials = {"cloud-c": hub}
        configs = {
            "cloud-c": PartyConfig(listen=hub),
            "cloud-b": PartyConfig(peers=dials),
            "acme": PartyConfig(peers=dials),
            "lyon": PartyConfig(peers=dials, owner=MODEL, consent=CONSENT),
        }
        home = DaemonGroup(tmp_path, {name: ROLES[name] for name in configs}, configs, PROTOCOLS)
        kit(home.kits["lyon"], SURVEY.module())
        await home.up()
        try:
            members = {"controller": ["cloud-c"], "comp": ["cloud-b"], "owner": ["lyon"]}
            wanted = commands.StartRun("samba", BUDGET, {}, members)
            return await ended(home, home.order("acme", wanted), "acme", "cloud-c", "cloud-b")
        finally:
            await home.down()

    states = asyncio.run(scene())
    assert {state for state, _ in states.values()} == {REFUSED}
    assert all(
        "lyon: lyon has no function that answers pulls" in note for _, note in states.values()
    )


def test_stated_arms_are_those_of_the_model(tmp_path: Path) -> None:
    async def scene(arms: int) -> None:
        home = town(tmp_path / str(arms), msgspec.structs.replace(MODEL, arms=arms))
        try:
            await home.up("lyon")
        finally:
            await home.down()

    (tmp_path / "3").mkdir()
    (tmp_path / "4").mkdir()
    asyncio.run(scene(3))
    with pytest.raises(ConfigError, match=r"owner\.arms is 4, but the model has 3 arms"):
        asyncio.run(scene(4))
