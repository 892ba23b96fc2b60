"""`lotor serve`, `lotor start` and `lotor runs`, as people use them: processes on federation."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

import lotor
from commands import lotor as command
from lotor.policies import from_text
from lotor.protocols.samba.cast import hospitals
from lotor.runtime.daemon.config import read_config, write_config
from lotor.sandbox import Federation

MEANS = {"lyon": 0.3, "porto": 0.5, "graz": 0.7}
LOTOR = [sys.executable, "-P", "-c", "from lotor.cli import main; main()"]
START = ("start", "samba", "--budget", "60", "--json")
SLOW_PULL = """
import time
from pathlib import Path

HERE = Path(__file__).parent


def pull(decision):
    with (HERE / "asked").open("a") as log:
        print(decision.id, file=log)
    while (HERE / "wait").exists():
        time.sleep(0.05)
    return 1.0
"""


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


class Town:
    """A federation and the commands of its operators."""

    def __init__(self, federation: Federation) -> None:
        self.federation = federation

    def lotor(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return command(*arguments, "--kit", str(self.federation.kits[name]))

    def process(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command that logs, and would serve: in a process of its own."""
        parts = [*LOTOR, *arguments, "--kit", str(self.federation.kits[name])]
        return subprocess.run(parts, capture_output=True, text=True, check=False, timeout=90)  # noqa: S603

    def data(self, name: str, *arguments: str) -> object:
        done = self.lotor(name, *arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        kit = str(self.federation.kits["customer"])
        command = self.federation.command(*START, *arguments, "--kit", kit)
        return subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def runs(self, name: str) -> dict[str, str]:
        """The states of all runs that a party has heard of."""
        rows = self.data(name, "runs", "list")
        assert isinstance(rows, list)
        return {row["run"]: row["state"] for row in rows}

    def waiting(self, name: str) -> list[str]:
        return [run for run, state in self.runs(name).items() if state == "waiting"]

    def finished(self, name: str, run: str) -> dict[str, object]:
        """What a party shows of a run, once it has written down the end as the customer has."""
        until(lambda: self.show(name, run)["state"] != "running")
        seen = self.show(name, run)
        assert seen["state"] == "finished"
        return seen

    def show(self, name: str, run: str) -> dict[str, object]:
        document = self.data(name, "runs", "show", run)
        assert isinstance(document, dict)
        return document


def plain(policy: str) -> float:
    arms = lotor.BernoulliArms(list(MEANS.values()))
    return lotor.run(from_text(policy), arms, budget=60, seed=7).reward


def federation_of(folder: Path, means: Mapping[str, float], budget: int) -> Federation:
    cast = hospitals(means, budget=budget, seed=7, policy="ucb")
    return Federation(folder, lotor.Samba.form_called("shared"), cast, 7)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town") / "federation"
    federation = federation_of(folder, MEANS, budget=600)
    federation.prepare()
    path = federation.kits["lyon"] / "party.toml"
    config = read_config(path)
    assert config.consent is not None
    consent = msgspec.structs.replace(config.consent, policies=("ucb",))
    write_config(path, msgspec.structs.replace(config, consent=consent))
    federation.serve()
    yield Town(federation)
    federation.close()


def test_a_run_gives_its_customer_the_total_and_owners_their_own(town: Town) -> None:
    first = town.start("--policy", "ucb")
    out, err = first.communicate(timeout=90)
    assert first.returncode == 0, err
    result = json.loads(out)
    assert result["reward"] == plain("ucb")
    run = result["run"]
    pulls, total = 0, 0.0
    for owner in MEANS:
        seen = town.finished(owner, run)
        assert "reward" not in seen
        own, mean = seen["own_pulls"], seen["own_mean"]
        assert isinstance(own, int)
        assert isinstance(mean, float)
        pulls, total = pulls + own, total + own * mean
    assert (pulls, round(total)) == (60, result["reward"])
    for name in ("controller", "comp", "customer"):
        seen = town.show(name, run)
        assert "own_pulls" not in seen
        assert ("reward" in seen) == (name == "customer")
    assert run[:6] in town.lotor("lyon", "runs", "list").stdout
    assert "own mean" in town.lotor("lyon", "runs", "show", run).stdout
    again = town.process("customer", "runs", "follow", run[:8], "--json")
    assert json.loads(again.stdout) == result


def test_what_an_owner_has_not_agreed_to_waits_for_its_approval(town: Town) -> None:
    """Two runs overlap here: the second is served by the process of the first, or takes over.

    Rewards are drawn from one table of patients, so only the counts are known beforehand.
    """
    first, second = town.start("--policy", "softmax"), town.start("--policy", "pursuit")
    until(lambda: len(town.waiting("lyon")) == 2)
    for run in town.waiting("lyon"):
        note = town.show("lyon", run)["note"]
        assert "is not among policies (ucb)" in str(note)
        done = town.lotor("lyon", "runs", "approve", run)
        assert done.returncode == 0, done.stderr
    for process in (first, second):
        out, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
        run = json.loads(out)["run"]
        seen = [town.finished(owner, run)["own_pulls"] for owner in MEANS]
        assert sum(n for n in seen if isinstance(n, int)) == 60


def test_a_refusal_names_the_owner(town: Town) -> None:
    process = town.start("--policy", "thompson-sampling")
    until(lambda: town.waiting("lyon"))
    (run,) = town.waiting("lyon")
    assert town.lotor("lyon", "runs", "refuse", run, "--reason", "not now").returncode == 0
    _, err = process.communicate(timeout=90)
    assert process.returncode == 4
    assert "refused by lyon: not now" in err
    until(lambda: town.show("comp", run)["state"] != "running")
    assert town.show("comp", run)["state"] == "refused"
    assert "is refused" in town.lotor("lyon", "runs", "approve", run).stderr


def test_a_run_can_be_stopped_by_anybody_in_it(town: Town) -> None:
    process = town.start("--policy", "softmax")
    until(lambda: town.waiting("lyon"))
    (run,) = town.waiting("lyon")
    until(lambda: run in town.runs("comp"))
    assert town.lotor("comp", "runs", "stop", run, "--reason", "power cut").returncode == 0
    _, err = process.communicate(timeout=90)
    assert process.returncode == 4
    assert "stopped by comp: power cut" in err
    assert town.lotor("comp", "runs", "stop", run).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--policy", "nope"), "no policy is called"),
        (("--policy", "reinforcement-comparison"), "arm score locality"),
    ],
)
def test_orders_of_no_usable_policy_are_refused(
    town: Town, arguments: tuple[str, ...], complaint: str
) -> None:
    done = town.lotor("customer", *START, *arguments)
    assert (done.returncode, complaint in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--budget", "2"), "no run can do"),
        (("--owners", "lyon,lyon"), "names a party twice"),
        (("--owners", "comp"), "comp"),
    ],
)
def test_senseless_orders_are_refused(
    town: Town, arguments: tuple[str, ...], complaint: str
) -> None:
    process = town.start(*arguments)
    _, err = process.communicate(timeout=90)
    assert (process.returncode, complaint in err) == (2, True), err


def test_only_the_customer_starts_runs_and_one_process_serves(town: Town, tmp_path: Path) -> None:
    town.federation.end("lyon")
    refused = town.process("lyon", *START)
    assert refused.returncode == 2
    assert "lyon is owner" in refused.stderr
    log = tmp_path / "log"
    serve = [*LOTOR, "serve", "--kit", str(town.federation.kits["lyon"]), "--log", "json"]
    with log.open("w") as stderr, subprocess.Popen(serve, stderr=stderr) as serving:  # noqa: S603
        try:
            until(lambda: '"serving"' in log.read_text())
            assert "another process serves" in town.process("lyon", "serve").stderr
        finally:
            serving.terminate()
    assert serving.returncode == 0
    assert town.lotor("lyon", "runs", "show", "ffff").returncode == 2
    assert town.lotor("lyon", "runs", "resolve", "ffff", "x").returncode == 2


def asked(kit: Path) -> list[str]:
    """What a hospital was asked for, in order."""
    return (kit / "asked").read_text().split() if (kit / "asked").exists() else []


def crash_in_pull(town: Town, count: int, *answer: str) -> None:
    """Kill the hospital in its next pull, and say what became of the decision."""
    kit = town.federation.kits["solo"]
    until(lambda: len(asked(kit)) == count)
    town.federation.kill("solo")
    town.federation.serve("solo")
    decision = asked(kit)[-1]
    run = decision.split("/")[0]
    until(lambda: f"lotor runs resolve {run} {decision}" in str(town.data("solo", "runs", "list")))
    until(lambda: "operator" in str(town.show("customer", run)["others"]))
    assert decision not in str(town.show("customer", run))
    done = town.lotor("solo", "runs", "resolve", run, decision, *answer)
    assert done.returncode == 0, done.stderr


def test_a_pull_cut_off_by_a_crash_is_in_doubt_until_resolved(tmp_path: Path) -> None:
    """Three crashes in one run, and each answer that an operator has."""
    federation = federation_of(tmp_path / "federation", {"solo": 1.0}, budget=60)
    federation.prepare()
    kit = federation.kits["solo"]
    (kit / "hospital.py").write_text(SLOW_PULL)
    config = read_config(kit / "party.toml")
    assert config.owner is not None
    owner = msgspec.structs.replace(config.owner, repeatable=False)
    write_config(kit / "party.toml", msgspec.structs.replace(config, owner=owner))
    (kit / "wait").touch()
    town = Town(federation)
    try:
        federation.serve()
        process = town.start()
        crash_in_pull(town, 1, "--reward", "1")
        crash_in_pull(town, 2, "--lost")
        crash_in_pull(town, 3, "--again")
        until(lambda: len(asked(kit)) == 4)
        (kit / "wait").unlink()
        out, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
        assert json.loads(out)["reward"] == 59  # one was lost
        _, _, in_doubt, once_more = asked(kit)[:4]
        assert in_doubt == once_more
        assert len(asked(kit)) - 1 == len(set(asked(kit))) == 60
    finally:
        federation.close()
