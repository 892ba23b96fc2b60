"""`lotor budget` shows what runs have cost, for each customer and in all."""

import json
import os
from math import inf
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.testing import CliRunner

from commands import lotor
from lotor.cli.main import app
from lotor.core.version import VERSION
from lotor.runtime.daemon.config import PartyConfig, write_config
from lotor.runtime.daemon.config_tables import ConsentRules, OwnerTable
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.journal import FINISHED, RUNNING, STOPPED, RunRow
from lotor.runtime.durable.ledger import Charge
from lotor.sandbox.kits import make_kits

RULES = ConsentRules(
    customers=("*",), policies=("*",), least_budget=1, total_budget=10_000, privacy_budget=50.0
)
LONG = "a-customer-with-a-rather-long-name-of-fifty-letters"


def charged(customer: str, pulls: int, epsilon: float | None, certificate: str = "aaaa") -> Charge:
    return Charge(
        customer=customer,
        certificate=certificate,
        protocol="ppcb",
        form="dealt",
        policy="linear-epsilon-greedy",
        pulls=pulls,
        epsilon=epsilon,
        delta=0.0 if epsilon is None else 1e-6,
    )


def make_kit(
    folder: Path, rules: ConsentRules | None, *charges: Charge, owner: OwnerTable | None = None
) -> Path:
    """A kit with a running run, a finished one, a stopped one, and so on."""
    kit = make_kits(folder, {"lyon": "owner"})["lyon"]
    write_config(kit / "party.toml", PartyConfig(consent=rules, owner=owner))
    with open_kit(kit) as at:
        for number, charge in enumerate(charges):
            run, state = f"{number:032x}", (RUNNING, FINISHED, STOPPED)[number % 3]
            row = RunRow(run, b"", b"", "lyon", RUNNING, "", 0.0, 0.0, VERSION, charge.pulls)
            at.journal.add(row, b"state", charge=charge)
            at.journal.change(run, state, "")
    return kit


def read(kit: Path) -> Any:
    return json.loads(lotor("budget", "--kit", str(kit), "--json").stdout)


def shown(kit: Path) -> list[str]:
    """The table as a terminal of 80 columns shows it."""
    with mock.patch.dict(os.environ, COLUMNS="80"):
        result = CliRunner().invoke(app, ["budget", "--kit", str(kit)])
    assert result.exit_code == 0
    return result.stdout.splitlines()


def test_it_adds_up_for_each_customer_and_in_all(tmp_path: Path) -> None:
    kit = make_kit(
        tmp_path / "f",
        RULES,
        charged("acme", 1_000, 12.5),
        charged("acme", 2_000, 7.25, certificate="bbbb"),
        charged("globex", 4_000, 0.25),
        charged("initech", 500, None),
    )
    found = read(kit)
    assert (found["party"], found["role"]) == ("lyon", "owner")
    assert found["limits"] == {
        "total_budget": 10_000,
        "privacy_budget": 50.0,
        "largest_delta": 1e-6,
    }
    # The run of globex was stopped before its first pull.
    assert found["left"] == {"pulls": 6_500, "epsilon": 30.0}
    assert found["total"] == {
        "runs": 4,
        "running": 2,
        "approved": 0,
        "granted": 7_500,
        "charged": 3_500,
        "accounted": True,
        "epsilon": 20.0,
        "delta": 3e-6,
    }
    acme, globex, initech = (found["customers"][name] for name in ("acme", "globex", "initech"))
    assert (acme["runs"], acme["charged"], acme["epsilon"]) == (2, 3_000, 19.75)
    assert acme["certificates"] == ["aaaa", "bbbb"]
    assert (globex["granted"], globex["charged"], globex["epsilon"]) == (4_000, 0, 0.25)
    assert (initech["accounted"], initech["epsilon"]) == (False, 0.0)
    assert [run["used"] for run in found["runs"]] == [None, 2_000, 0, None]
    assert [run["ended"] is None for run in found["runs"]] == [True, False, False, True]
    lines = [line.split() for line in shown(kit)]
    assert ["acme", "2", "3,000", "3,000", "19.75", "2e-06"] in lines
    assert ["initech", "1", "500", "500", "-", "-"] in lines
    assert ["in", "all", "4", "7,500", "3,500", "20.00", "3e-06"] in lines
    assert ["limit", "10,000", "50.00", "1e-06", "a", "run"] in lines
    assert ["left", "6,500", "30.00"] in lines


def test_what_is_infinite_leaves_nothing(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "f", RULES, charged("acme", 20_000, inf))
    found = read(kit)
    assert found["left"] == {"pulls": 0, "epsilon": 0.0}
    assert found["total"]["epsilon"] is found["runs"][0]["epsilon"] is None
    lines = [line.split() for line in shown(kit)]
    assert ["in", "all", "1", "20,000", "20,000", "infinite", "1e-06"] in lines
    assert ["left", "0", "0.00"] in lines


def test_a_small_epsilon_is_not_shown_as_zero(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "f", RULES, charged("acme", 1, 1e-9))
    assert ["in", "all", "1", "1", "1", "1.0e-09", "1e-06"] in [line.split() for line in shown(kit)]


@pytest.mark.parametrize("rules", [None, RULES])
def test_it_is_readable_at_80_columns(tmp_path: Path, rules: ConsentRules | None) -> None:
    charges = [charged(LONG, 10**9, 123_456.78) for _ in range(3)]
    kit = make_kit(tmp_path / "f", rules, *charges)
    lines = shown(kit)
    assert max(map(len, lines)) <= 80
    assert any("3,000,000,000" in line and "370,370.34" in line for line in lines)
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        (OwnerTable(pull="m:f"), "no [consent] table in party.toml: every run that somebody else "),
        (None, "neither [owner] nor [consent] in party.toml: it takes part in every run unasked, "),
    ],
)
def test_without_rules_there_is_no_limit_and_it_says_what_starts(
    tmp_path: Path, owner: OwnerTable | None, said: str
) -> None:
    kit = make_kit(tmp_path / "f", None, owner=owner)
    found = read(kit)
    assert set(found["limits"].values()) == {None}
    assert found["left"] == {"pulls": None, "epsilon": None}
    assert found["runs"] == []
    text = " ".join(" ".join(shown(kit)).split())
    assert "since 20" in text
    assert f"This party has {said}" in text


def test_a_kit_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = lotor("budget", "--kit", str(tmp_path / "nowhere"))
    assert result.returncode != 0
    assert result.stdout == ""
    assert "nowhere" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "nowhere").exists()
