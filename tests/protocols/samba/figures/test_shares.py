"""Figure 8(d): every participant has a share, or there is no figure."""

import pytest

from lotor.protocols.cell import Outcome
from lotor.protocols.samba.figures.shares import SambaShares

MEASURED = {
    "rounds": 5.0,
    "cpu of comp": 3.0,
    "cpu of controller": 4.0,
    "cpu of owner-1": 1.0,
    "cpu of owner-2": 1.0,
    "cpu of customer": 1.0,
}


def test_owners_are_one_participant() -> None:
    table = SambaShares().table([Outcome(labels={"form": "paper", "K": 2}, figures=MEASURED)])
    assert table["share"] == [0.3, 0.4, 0.2, 0.1]
    assert table["parties"] == [1, 1, 2, 1]


def test_a_time_that_was_not_measured_is_never_0() -> None:
    figures = {name: value for name, value in MEASURED.items() if name != "cpu of customer"}
    with pytest.raises(ValueError, match="nobody measured the CPU time of customer"):
        SambaShares().table([Outcome(labels={"form": "paper", "K": 2}, figures=figures)])
