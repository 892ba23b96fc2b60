"""The paper's form updates every arm, and is there to compare with: no federation runs it."""

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

import lotor
from lotor.cli.main import app
from lotor.core.errors import InputError, ProtocolError
from lotor.protocols.ppcb.dealt.circuits import AllArmsCircuits, ChosenArmCircuits
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.daemon.initial.place import party_place
from lotor.sandbox.federation import Federation
from protocols.ppcb.stage import play, some_arms
from runtime.daemon.test_announcement import cast

PAPER, DEALT = (lotor.PPCB(epsilon=0.3, form=form) for form in ("paper", "dealt"))
LARGE = some_arms(5, rounds=12, k=10, d=40)
REFUSED = "ppcb in the form paper runs in one process only, .* a federation runs the forms shared"


def test_every_arm_is_updated_where_only_one_would_learn_elsewhere() -> None:
    """To the same decisions, which are those of plain."""
    runs = {one.form: play(one, LARGE, budget=12) for one in (PAPER, DEALT)}
    for form, kind in (("paper", AllArmsCircuits), ("dealt", ChosenArmCircuits)):
        server = runs[form].parties["server-0"]
        assert isinstance(server, PPCBServer)
        assert type(server._circuits) is kind
    plain = lotor.run(PAPER.plain(), LARGE, budget=12, seed=1)
    assert runs["paper"].arms == runs["dealt"].arms == plain.arms


@pytest.mark.parametrize("delay", [0, 2])
def test_what_it_takes_is_forecast(delay: int) -> None:
    protocol = lotor.PPCB(epsilon=0.3, delay=delay, form="paper")
    counted = lotor.run(protocol, LARGE, budget=9, seed=1)
    expected = protocol.in_form().complexity(protocol, LARGE, 9)["expected"]
    assert {name: counted.operations[name] for name in expected} == expected


def test_it_goes_on_from_a_kept_model() -> None:
    keeping = lotor.PPCB(epsilon=0.3, keep=True, form="paper")
    first = lotor.run(keeping, LARGE, budget=5, seed=1)
    further = lotor.run(PAPER, LARGE, budget=7, seed=1, continues=first)
    whole = lotor.run(PAPER, LARGE, budget=12, seed=1)
    assert [*(first.arms or []), *(further.arms or [])] == whole.arms


def test_nobody_prepares_a_federation_for_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=REFUSED):
        Federation.of(tmp_path / "f", PAPER, budget=5, seed=1)
    with pytest.raises(InputError, match=REFUSED):
        party_place(PROTOCOLS, "dealer", "ppcb", "paper")
    assert list(tmp_path.iterdir()) == []
    assert party_place(PROTOCOLS, "dealer", "ppcb").form.name == "dealt"


@pytest.mark.parametrize(
    "command",
    [
        ["start", "ppcb", "--form", "paper", "--kit", "no-kit", "--budget", "5"],
        ["demo", "--protocol", "ppcb", "--form", "paper"],
        ["keys", "demo", "keys", "--protocol", "ppcb", "--form", "paper"],
        ["init", "--role", "dealer", "--protocol", "ppcb", "--form", "paper"],
    ],
    ids=lambda command: command[0],
)
def test_commands_of_federations_refuse_it(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=REFUSED):
        CliRunner().invoke(app, command, catch_exceptions=False)
    assert list(tmp_path.iterdir()) == []


def test_a_daemon_refuses_a_run_of_it() -> None:
    """Whoever announces it: another version might let somebody order it."""
    paper = PROTOCOLS["ppcb"].form_called("paper")
    told = cast().announced(protocol="ppcb", form="paper", wire=paper.wire)
    with pytest.raises(ProtocolError, match=f"announced wrongly: {REFUSED}"):
        cast().check(msgspec.structs.replace(told, order=b""))
