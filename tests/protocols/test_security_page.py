"""SECURITY.md says what leakage.py says, row by row."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import lotor
from golden.commands import tree
from golden.surface import walk
from lotor.protocols.helba.paper import leakage as helba
from lotor.protocols.helba.shared import leakage as hidden
from lotor.protocols.helba.two_servers import leakage as two_servers
from lotor.protocols.leakage import Finding
from lotor.protocols.linucb_ds.dealt import leakage as linear_dealt
from lotor.protocols.linucb_ds.live import leakage as linear_live
from lotor.protocols.linucb_ds.shared import leakage as linear_shared
from lotor.protocols.ppcb import leakage as ppcb
from lotor.protocols.ppcb.shared import leakage as ppcb_shared
from lotor.protocols.protocol import PROTOCOLS
from lotor.protocols.revealing import SENTENCES
from lotor.protocols.samba.dealt import leakage as dealt
from lotor.protocols.samba.shared import leakage as shared

PAGE = (Path(__file__).parents[2] / "SECURITY.md").read_text().replace("**", "")
WORDS = " ".join(PAGE.split())


PAGES = (
    ppcb,
    ppcb_shared,
    helba,
    hidden,
    two_servers,
    shared,
    dealt,
    linear_shared,
    linear_dealt,
    linear_live,
)


@pytest.mark.parametrize("measured", [page.MEASURED for page in PAGES])
def test_findings(measured: Mapping[str, Finding]) -> None:
    for role, finding in measured.items():
        row = f" | {finding.paper} | {finding.measured} |".replace("**", "")
        lines = [line for line in PAGE.splitlines() if line.endswith(row)]
        assert any(line.startswith(f"| {role}") for line in lines), role


@pytest.mark.parametrize("form", ["shared", "dealt"])
@pytest.mark.parametrize("reveal", SENTENCES)
def test_what_a_customer_may_be_told(form: str, reveal: str) -> None:
    told = lotor.Samba.form_called(form).findings((reveal,))["customer"]
    row = f'| customer, `reveal="{reveal}"` | {told.paper} | {told.measured} |'
    assert row.replace("**", "") in PAGE


@pytest.mark.parametrize(("keys", "measured"), [(page.KEYS, page.MEASURED) for page in PAGES])
def test_keys(
    keys: Mapping[str, tuple[str, tuple[str, ...]]], measured: Mapping[str, Finding]
) -> None:
    for name, (purpose, holders) in keys.items():
        assert set(holders) <= set(measured)
        assert f"| {name} | {purpose} | {', '.join(holders)} |".replace("**", "") in PAGE


def test_what_an_operator_types_can_be_kept_out_of_the_list_of_processes() -> None:
    """All options of `lotor runs resolve` that take an answer are named, and each reads stdin."""
    resolve = dict(walk("lotor", tree()))["lotor runs resolve"]
    answers = [
        max(one.opts, key=len)
        for one in resolve.params
        if one.param_type_name == "option" and not one.required and one.default is None
    ]
    assert answers == ["--reward", "--features"]
    for option in answers:
        assert f"`{option} -`" in WORDS
    assert "`--reward` or `--features` of `lotor runs resolve` is seen by all" in WORDS


def test_what_the_noise_of_two_arms_comes_to() -> None:
    """The default noise, on the mean of two answers that are independent but for their sign."""
    bits = lotor.Helba(form="paper").noise_bits
    assert f"asked for, 2^-{bits} by default" in WORDS
    assert (
        f"both answers mirror each other, so that their noise is at best 2^-{bits + 0.5}" in WORDS
    )
    assert f"so that 2^-{bits + 0.5} is left on both" in helba.MEASURED["user"].evidence


def test_what_strangers_trials_and_simulations_show() -> None:
    for said in (
        "Strangers who reach a party's port learn its name, its role",
        "With `[trial]` in party.toml a party's draws come from a seed",
        "`lotor serve` warns of it in the log and `lotor doctor` in its report",
        "In LinUCB-DS and SpectralUCB-DS these are the permutations of each round, too",
    ):
        assert said in WORDS


def test_forms() -> None:
    rows = [
        f"| {name} | {form.name} | {form.apart} |"
        for name, kind in PROTOCOLS.items()
        for form in map(kind.form_called, kind.forms)
    ]
    lines = PAGE.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(rows[0]))
    assert lines[at - 1] == "|" + 7 * "---|"
    assert not lines[at + len(rows)]
    assert all(line.startswith(row) for line, row in zip(lines[at:], rows, strict=False))
