"""SECURITY.md says what leakage.py says, row by row."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lotor.protocols.helba import leakage as helba
from lotor.protocols.leakage import Finding
from lotor.protocols.ppcb import leakage as ppcb
from lotor.protocols.protocol import PROTOCOLS

PAGE = (Path(__file__).parents[2] / "SECURITY.md").read_text().replace("**", "")


@pytest.mark.parametrize("measured", [ppcb.MEASURED, helba.MEASURED])
def test_findings(measured: Mapping[str, Finding]) -> None:
    for role, finding in measured.items():
        row = f" | {finding.paper} | {finding.measured} |".replace("**", "")
        lines = [line for line in PAGE.splitlines() if line.endswith(row)]
        assert any(line.startswith(f"| {role}") for line in lines), role


@pytest.mark.parametrize(
    ("keys", "measured"), [(ppcb.KEYS, ppcb.MEASURED), (helba.KEYS, helba.MEASURED)]
)
def test_keys(
    keys: Mapping[str, tuple[str, tuple[str, ...]]], measured: Mapping[str, Finding]
) -> None:
    for name, (purpose, holders) in keys.items():
        assert set(holders) <= set(measured)
        assert f"| {name} | {purpose} | {', '.join(holders)} |".replace("**", "") in PAGE


def test_forms() -> None:
    rows = [
        f"| {name} | {form.name} | {form.apart} |"
        for name, kind in PROTOCOLS.items()
        for form in map(kind.form_called, kind.forms)
    ]
    assert "\n".join(["|---|---|---|", *rows, ""]) in PAGE
