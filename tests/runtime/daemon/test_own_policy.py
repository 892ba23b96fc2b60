"""A policy that lies in the kits and is listed under [code], in a federation of daemons."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import lotor
from daemons import SandboxDaemons, until
from lotor.crypto.paillier import private
from lotor.policies import POLICIES, from_text
from lotor.protocols.protocol import PROTOCOLS
from lotor.protocols.samba.cast import hospitals
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import CodeTable, read_config, write_config
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals
from runtime.daemon.stage import few_primes

BUDGET, SEED = 20, 7
MEANS = {"lyon": 0.3, "porto": 0.6, "graz": 0.5}
NAME, TEXT = "policy_of_a_kit:Greedy", "policy_of_a_kit:Greedy:least=0.25"
MODULE = '''
from dataclasses import dataclass

from lotor.policies import Policy


@dataclass(frozen=True, slots=True)
class Greedy(Policy):
    """The best mean so far."""

    least: float = 0.0

    def score(self, arms, t, l, draw):
        return arms.mean.clip(self.least)
'''


@pytest.fixture(autouse=True)
def _nothing_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a daemon allows and imports is its process's, and here that of all tests."""
    monkeypatch.setattr(private, "random_prime", few_primes)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(POLICIES, "_allowed", set(POLICIES._allowed))
    monkeypatch.setattr(POLICIES, "_loaded", dict(POLICIES._loaded))
    monkeypatch.setattr(POLICIES, "_names", dict(POLICIES._names))
    yield
    sys.modules.pop("policy_of_a_kit", None)


def test_daemons_run_a_policy_of_their_kits_and_equal_plain(tmp_path: Path) -> None:
    cast = hospitals(MEANS, budget=BUDGET, seed=SEED, policy=TEXT)
    code = CodeTable(policies=(NAME,))
    made = Federation(tmp_path / "f", lotor.Samba.form_called("shared"), cast, SEED)
    made.prepare()
    for kit in made.kits.values():
        (kit / "policy_of_a_kit.py").write_text(MODULE)
        config = read_config(kit / "party.toml")
        write_config(kit / "party.toml", msgspec.structs.replace(config, code=code))

    async def scenario() -> str:
        group = SandboxDaemons.of(made, PROTOCOLS)
        try:
            await group.up()
            listed = read_config(made.kits["customer"] / "party.toml").members
            members = {role: list(names) for role, names in listed.items()}
            options: dict[str, str | int] = {"policy": TEXT}
            run = group.order("customer", StartRun("samba", BUDGET, options, members))
            live = await group.live("customer", run)
            await until(lambda: live.state != RUNNING)
            assert (live.state, live.note) == (FINISHED, "")
            (announced,) = live.agreement.announcement.code[1:]
            assert announced.distribution == "policy_of_a_kit"
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    plain = lotor.run(from_text(TEXT), cast.environment, budget=BUDGET, seed=SEED)
    journals = Journals(made)
    assert journals.trajectory(run, BUDGET) == plain.arms
    assert journals.total(run) == plain.reward
