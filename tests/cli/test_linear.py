"""LinUCB-DS and SpectralUCB-DS on the command line."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lotor
from cli.killing import LOTOR, killed_demo
from lotor.cli.main import app
from lotor.core.errors import InputError
from lotor.crypto.paillier import InsecureKeyWarning
from lotor.environments.sources import made_up

LINEAR = ["linucb-ds", "spectral-ucb-ds"]
FAST = ["--budget", "30", "--form", "paper", "--key-bits", "2048", "--seed", "7"]


def output(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "140"})
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("protocol", LINEAR)
def test_compare_shows_costs_counts_and_the_measured_leakage(protocol: str) -> None:
    shown = output("run", protocol, *FAST, "--compare")
    for text in (
        "same arms",
        "principal",
        "Figure 4, transcribed",
        "Figure 5, as printed",
        "each arm's bonus",
        "everything, when it knows",
    ):
        assert text in shown


@pytest.mark.parametrize("protocol", LINEAR)
def test_compare_as_json(protocol: str) -> None:
    report = json.loads(output("run", protocol, *FAST, "--compare", "--json", "--trajectory"))
    assert report["same"] is True
    assert report["secure"]["arms"] == report["plain"]["arms"]
    assert len(report["plain"]["arms"]) == 30
    assert report["leakage"]["principal"]["paper"].startswith("the pulled arms")
    counts = report["operations"]
    assert set(counts) == {"counted", "expected", "figure_4", "figure_5"}
    assert counts["expected"].items() <= counts["counted"].items()
    assert counts["counted"]["paillier_decryptions"] < counts["figure_5"]["paillier_decryptions"]


def test_options_reach_the_protocol() -> None:
    options = ["--slot-bits", "96", "--workers", "2", "--policy", "linucb:S=4,R=0.2"]
    arms = ["--arms", "movielens-factors-like", "--k", "6", "--dimensions", "2", "--user", "3"]
    document = json.loads(output("run", "linucb-ds", *FAST, *options, *arms, "--json"))
    assert document["k"] == 6
    assert document["options"] == {
        "policy": "linucb:gamma=1.0,delta=0.01,R=0.2,S=4.0",
        "key_bits": 2048,
        "slot_bits": 96,
        "workers": 2,
        "form": "paper",
    }


@pytest.mark.parametrize("policy", ["linucb", "spectral-ucb"])
def test_plain_runs_linear_policies_too(policy: str) -> None:
    options = ["--policy", policy, "--budget", "30", "--seed", "7", "--slot-bits", "96"]
    document = json.loads(output("run", "plain", *options, "--json"))
    assert (document["protocol"], document["k"]) == ("plain", 10)
    assert document["options"]["slot_bits"] == 96


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["linucb-ds", "--policy", "spectral-ucb"], "spectral-ucb, which is for spectral-ucb-ds:"),
        (
            ["linucb-ds", "--policy", "ucb"],
            "the policy ucb, which is for samba: choose a policy for linucb-ds, such as linucb, or",
        ),
        (["samba", "--policy", "linucb"], "the policy linucb, which is for linucb-ds: choose"),
        (["linucb-ds", "--owners", "2"], "--owners belongs to `lotor run samba`"),
        (["linucb-ds", "--selection", "bits"], "--selection belongs"),
        (["linucb-ds", "--choose", "top"], "--choose belongs"),
        (["linucb-ds", "--threshold", "3"], "--threshold belongs"),
        (["linucb-ds", "--workers", "0"], "at least 1"),
        (["linucb-ds", "--key-bits", "512"], "2048"),
        (["linucb-ds", "--budget", "1"], "budget of 1"),
        (["linucb-ds", "--arms", "0.9,0.1"], "does not name arms that are vectors"),
        (["linucb-ds", "--arms", "movielens:absent.data"], "absent.data"),
        (
            ["linucb-ds", "--arms", "movielens-factors-like", "--policy", "linucb:S=1"],
            "state a larger S",
        ),
        (["linucb-ds", "--arms", "movielens-factors-like", "--sha256", "0"], "--sha256 belongs"),
        (["linucb-ds", "--arms", "linear:4"], "linear:K,D"),
        (["linucb-ds", "--arms", "linear:x,2"], "linear:K,D"),
        (["linucb-ds", "--arms", "linear:1,2"], "at least 2"),
        (["linucb-ds", "--arms", "graph:4,2"], "graph:K"),
        (["linucb-ds", "--k", "3", "--user", "2"], "--k, --user belong to named arms"),
        (["samba", "--slot-bits", "64"], "--slot-bits belongs to `lotor run linucb-ds`"),
        (["samba", "--workers", "2"], "--workers belongs"),
        (["samba", "--user", "2"], "--user belongs to `lotor run linucb-ds`"),
        (["plain", "--dimensions", "2"], "--dimensions does not go with --policy ucb"),
        (["plain", "--slot-bits", "64"], "it is for the policies of `lotor run linucb-ds` and"),
        (["plain", "--policy", "linucb", "--workers", "2"], "--workers belongs to `lotor run"),
    ],
    ids=" ".join,
)
def test_unusable_input_is_an_error_that_names_it(arguments: list[str], complaint: str) -> None:
    done = CliRunner().invoke(app, ["run", *arguments])
    assert isinstance(done.exception, InputError)
    assert complaint in str(done.exception)
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["linucb-ds", "--slot-bits", "32"], "'32' is not one of '64', '96'"),
        (["plain", "--policy", "linucb", "--slot-bits", "7"], "'7' is not one of '64', '96'"),
        (["plain", "--policy", "linucb", "--compare"], "No such option: --compare"),
    ],
    ids=" ".join,
)
def test_what_no_option_takes_is_wrong_usage(arguments: list[str], complaint: str) -> None:
    done = CliRunner().invoke(app, ["run", *arguments], env={"COLUMNS": "140"})
    assert (done.exit_code, done.stdout) == (2, "")
    assert complaint in done.stderr


def test_an_error_is_one_line_on_stderr() -> None:
    command = [*LOTOR, "run", "linucb-ds", "--owners", "2"]
    done = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "lotor: --owners belongs to `lotor run samba`\n"


def test_movielens_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rows = [
        f"{user}\t{item}\t{(user * item) % 5 + 1}\t0" for user in (1, 2, 3) for item in (1, 2, 3)
    ]
    path = tmp_path / "u.data"
    path.write_text("\n".join(rows) + "\n")
    arms = ["--arms", f"movielens:{path}", "--k", "3", "--user", "2", "--dimensions", "2"]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for policy in ("linucb:S=9", "spectral-ucb:C=9"):
        plain = ["run", "plain", "--policy", policy, "--budget", "20", "--json", *arms]
        with pytest.raises(ValueError, match=digest):
            CliRunner().invoke(app, plain, catch_exceptions=False)
        assert json.loads(output(*plain, "--sha256", digest))["k"] == 3


def test_made_up_arms_are_always_the_same_and_keep_the_default_bounds() -> None:
    for text, policy in (("linear:7,3", lotor.LinUCB()), ("graph:9", lotor.SpectralUCB())):
        one, other = (made_up(text, graph=text.startswith("graph")) for _ in range(2))
        assert one == other
        policy.check_theta(one.arms().theta, one.arms().eigenvalues)
    assert (made_up("linear:7,3", graph=False).arms().k, one.arms().k) == (7, 9)
    assert isinstance(made_up("linear:7,3", graph=True).arms(), lotor.GraphArms)
    assert "pays" not in repr(one)


def test_what_start_orders() -> None:
    ordered = lotor.LinUCBDS.configured(None, {"form": "paper", "slot_bits": 96}).order_options()
    assert (ordered["slot_bits"], ordered["form"]) == (96, "paper")
    spectral = lotor.SpectralUCBDS.configured(
        "spectral-ucb:C=2", {"form": "paper", "key_bits": 2048}
    )
    given = spectral.order_options()
    assert str(given["policy"]).startswith("spectral-ucb:")
    assert "C=2" in str(given["policy"])
    assert given["key_bits"] == 2048
    assert lotor.SpectralUCBDS.ordered(given) == spectral
    samba = lotor.Samba.configured("ucb", {"selection": "bits"})
    assert samba.order_options()["selection"] == "bits"


@pytest.mark.parametrize(
    ("protocol", "options", "complaint"),
    [
        ("nope", [], "no protocol is called 'nope': choose one of helba, linucb-ds, ppcb, samba"),
        ("linucb-ds", ["--selection", "bits"], "--selection belongs to `lotor start samba`"),
        ("linucb-ds", ["--policy", "ucb"], "for linucb-ds, such as linucb, or"),
        ("samba", ["--slot-bits", "64"], "--slot-bits belongs to .*linucb-ds` and .*spectral-ucb"),
        ("samba", ["--policy", "linucb"], "for samba, such as ucb, or another"),
        ("samba", ["--policy", "nope"], "no policy is called 'nope'"),
    ],
)
def test_what_start_refuses(
    tmp_path: Path, protocol: str, options: list[str], complaint: str
) -> None:
    order = ["start", protocol, "--kit", str(tmp_path), "--budget", "9", *options]
    with pytest.raises(InputError, match=complaint):
        CliRunner().invoke(app, order, catch_exceptions=False)


def test_policies_say_which_protocol_they_fit() -> None:
    listed = {row["policy"].split(":")[0]: row for row in json.loads(output("policies", "--json"))}
    assert listed["linucb"]["protocols"] == ["linucb-ds", "plain"]
    assert listed["spectral-ucb"]["protocols"] == ["spectral-ucb-ds", "plain"]
    assert listed["ucb"]["protocols"] == ["samba", "plain"]
    assert listed["reinforcement-comparison"]["protocols"] == ["plain"]
    assert "linucb:gamma=1.0" in output("policies")


def test_a_principal_can_ask_for_a_certificate(tmp_path: Path) -> None:
    kit = tmp_path / "cloud-a"
    shown = output(
        "keys", "request", "--role", "principal", "--name", "cloud-a", "--kit", str(kit), "--json"
    )
    assert json.loads(shown)["role"] == "principal"


def test_trial_keys_of_a_linear_federation(tmp_path: Path) -> None:
    made = ["keys", "demo", str(tmp_path / "trial"), "--protocol", "linucb-ds", "--owner", "lyon"]
    kits = json.loads(output(*made, "--json"))
    assert set(kits) == {"authority", "customer", "principal", "comp", "lyon"}


@pytest.mark.long
@pytest.mark.parametrize("protocol", LINEAR)
def test_the_demo_survives_kills_and_equals_plain(protocol: str, tmp_path: Path) -> None:
    report = killed_demo(tmp_path, protocol, "--budget", "80")
    assert set(report["parties"]) == {"customer", "owner", "principal", "comp"}
    assert list(tmp_path.iterdir()) == []


def test_the_demo_has_no_hospitals_to_count() -> None:
    done = CliRunner().invoke(app, ["demo", "--protocol", "linucb-ds", "--hospitals", "3"])
    assert isinstance(done.exception, InputError)
    assert "one owner: give no number of hospitals" in str(done.exception)


def test_a_simulation_may_have_the_papers_short_keys_with_a_warning() -> None:
    short = ["--form", "paper", "--insecure-key-bits", "1024", "--budget", "5", "--json"]
    with pytest.warns(InsecureKeyWarning, match="a 1024-bit Paillier key can be broken"):
        document = json.loads(output("run", "linucb-ds", *short))
    assert document["options"]["key_bits"] == 1024


def test_a_federation_has_no_option_for_short_keys(tmp_path: Path) -> None:
    order = ["start", "linucb-ds", "--budget", "5", "--kit", str(tmp_path)]
    done = CliRunner().invoke(app, [*order, "--insecure-key-bits", "1024"])
    assert done.exit_code == 2
    assert "No such option: --insecure-key-bits" in done.stderr
