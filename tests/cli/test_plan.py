"""`lotor plan`: the rehearsal on the command line."""

import json

import pytest
from typer.testing import CliRunner

from lotor.cli.main import app
from lotor.core.errors import InputError


def output(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["plan", *arguments], env={"COLUMNS": "140"})
    assert done.exit_code == code, done.output
    return done.stdout


def test_a_plan_for_people() -> None:
    shown = " ".join(
        output("samba", "--arms", "0.9,0.1", "--budget", "40", "--rtt", "20ms").split()
    )
    assert "rehearsed 40 of 40 rounds" in shown
    assert "time, 20 ms a round trip" in shown
    assert "about " not in shown.split("Its parties")[1].split("Processor time is")[0]


def test_a_plan_for_programs() -> None:
    options = ("ppcb", "--arms", "contexts:3,6", "--budget", "30", "--rtt", "0.05s", "--json")
    found = json.loads(output(*options))
    rehearsal = found["rehearsal"]
    assert (found["protocol"], found["form"]) == ("ppcb", "shared")
    assert (rehearsal["budget"], rehearsal["rtt"], rehearsal["exact"]) == (30, 0.05, True)
    assert rehearsal["seconds"] > rehearsal["round_trips"] * 0.05
    # The other way to take reciprocals has fewer round trips, and at this distance less time.
    (other,) = found["alternatives"].values()
    assert other["round_trips"] < rehearsal["round_trips"]
    assert other["seconds"] < rehearsal["seconds"]


def test_a_plan_names_the_quickest_way() -> None:
    options = ("ppcb", "--arms", "contexts:3,6", "--budget", "20")
    assert "--reciprocal" not in output(*options)
    shown = output(*options, "--rtt", "0.1s")
    (line,) = (line for line in shown.splitlines() if "the quickest" in line)
    assert "--reciprocal garbled" in line
    again = output(*options, "--rtt", "0.1s", "--reciprocal", "garbled")
    (line,) = (line for line in again.splitlines() if "the quickest" in line)
    assert "as ordered" in line


def test_no_rehearsal() -> None:
    options = ("samba", "--arms", "0.9,0.1", "--budget", "40")
    assert "rehears" not in output(*options, "--seconds", "0")
    assert "rehearsal" not in json.loads(output(*options, "--seconds", "0s", "--json"))


@pytest.mark.parametrize("option", ["--rtt", "--seconds"])
@pytest.mark.parametrize("value", ["-1", "x", "nan", "1e999"])
def test_what_is_no_time(option: str, value: str) -> None:
    output("samba", f"{option}={value}", code=2)


def test_a_distance_without_a_rehearsal_is_refused() -> None:
    for options in (("samba", "--seconds", "0"), ("helba", "--form", "paper")):
        done = CliRunner().invoke(app, ["plan", *options, "--rtt", "20ms"])
        assert isinstance(done.exception, InputError)
        assert "--rtt tells how long a run takes by rehearsing it" in str(done.exception)
