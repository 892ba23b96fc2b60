"""The trial federation of deploy/ does a run: in containers, or else its commands as processes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.test_party import until
from deployment import files
from lotor.runtime.daemon.credentials import SERVICE_VARIABLE
from lotor.runtime.daemon.protecting import Choice, kit_folder, protect
from lotor.sandbox.federation import QUICK, free_port
from lotor.sandbox.kits import make_kits
from shell import run_script

pytestmark = pytest.mark.long

LOTOR = [sys.executable, "-P", "-c", "from lotor.cli import main; main()"]
ENGINE = ["docker", "compose", "-f", str(files.COMPOSE)]
TOTAL = re.compile(r"total reward (\d+) ")


def test_the_commands_do_a_run_as_processes(tmp_path: Path) -> None:
    """Word by word, but that all share one machine: other folders, other ports, one loopback."""
    home = tmp_path / "federation"
    home.mkdir()
    script = files.script_of_kits().replace("/settings", str(files.TRIAL))
    for name in ("once", "again"):  # the second time it changes nothing
        (tmp_path / name).mkdir()
        run_script(script.replace("/federation", str(home)), tmp_path / name, {})
    assert not (home / "making").exists()
    ports = settle(home / "trial")
    programs = [name for name in files.services() if name not in ("kits", "customer")]
    with processes({name: here(name, home) for name in programs}) as running:
        until(lambda: all(healthy(ports[name]) for name in programs))
        customer = subprocess.run(  # noqa: S603
            here("customer", home), capture_output=True, text=True, check=False, timeout=120
        )
        assert customer.returncode == 0, customer.stderr
        found = TOTAL.search(customer.stdout)
        assert found is not None
        assert 0 < int(found[1]) <= 100
        for process in running.values():
            process.terminate()
            assert process.wait(30) == 0
    assert not healthy(ports["lyon"])


def test_the_unit_serves_a_protected_kit_by_its_credential(tmp_path: Path) -> None:
    """With what systemd would put in its place: the name, the state folder, the credential."""
    kit = make_kits(tmp_path / "lotor", {"lyon": "controller"})["lyon"]
    port = free_port()
    (kit / "party.toml").write_text(f"[local]\nport = {port}\n")
    key_file = tmp_path / "credentials" / "lotor"
    key_file.parent.mkdir()
    protect(kit_folder(kit), Choice(new_key_file=key_file), cost=QUICK)
    key_file.chmod(0o440)  # as systemd leaves it
    words = [word.replace("%i", "lyon") for word in files.served_by_unit()[1:]]
    command = [*LOTOR, *(word.replace("/var/lib", str(tmp_path)) for word in words)]
    hidden = key_file.rename(tmp_path / "elsewhere")
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
    final = files.unit()["Service"]["RestartPreventExitStatus"].split()
    assert str(refused.returncode) in final
    hidden.rename(key_file)
    variables = {SERVICE_VARIABLE: str(key_file.parent)}
    with processes({"lyon": command}, variables) as running:
        until(lambda: healthy(port))
        running["lyon"].send_signal(signal.SIGTERM)
        assert running["lyon"].wait(30) == 0


def test_the_containers_do_a_run(tmp_path: Path) -> None:
    answers = shutil.which("docker") and all(
        subprocess.run(words, capture_output=True, check=False).returncode == 0  # noqa: S603
        for words in (("docker", "info"), ("docker", "compose", "version"))
    )
    if not answers:
        pytest.skip("there is no docker engine here, or no docker compose")
    engine = [*ENGINE, "--project-name", f"lotor-trial-{os.getpid()}"]
    made = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(files.ROOT)]
    subprocess.run(made, check=True, capture_output=True)  # noqa: S603
    # The wheel goes where the page says; what lies there already would be a second one.
    override = tmp_path / "override.yaml"
    build = {"build": {"context": str(tmp_path), "dockerfile": str(files.CONTAINER)}}
    override.write_text(json.dumps({"services": dict.fromkeys(files.services(), build)}))
    engine[4:4] = ["-f", str(override)]
    try:
        subprocess.run([*engine, "up", "--build", "--detach"], check=True)  # noqa: S603
        customer = subprocess.run(  # noqa: S603
            [*engine, "run", "--rm", "customer"], capture_output=True, text=True, check=True
        )
        assert TOTAL.search(customer.stdout)
    finally:
        subprocess.run([*engine, "down", "--volumes", "--rmi", "all"], check=True)  # noqa: S603


def settle(trial: Path) -> Mapping[str, int]:
    """Let each party of the trial have ports of its own; its local port, by its name."""
    hub, local = free_port(), {}
    for path in sorted(trial.glob("*/party.toml")):
        port = local[path.parent.name] = free_port()
        text = path.read_text().replace("controller:7400", f"127.0.0.1:{hub}")
        text = text.replace("0.0.0.0:7400", f"127.0.0.1:{hub}").replace("7411", str(port))
        path.write_text(text)
    return local


def here(name: str, home: Path) -> list[str]:
    words = [word.replace("/federation", str(home)) for word in files.services()[name]["command"]]
    return [*LOTOR, *words]


@contextmanager
def processes(
    commands: Mapping[str, list[str]], variables: Mapping[str, str] | None = None
) -> Iterator[Mapping[str, subprocess.Popen[bytes]]]:
    environment = {**os.environ, **(variables or {})}
    running = {
        name: subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)  # noqa: S603
        for name, command in commands.items()
    }
    try:
        yield running
    finally:
        for process in running.values():
            process.kill()
            process.wait()


def healthy(port: int) -> bool:
    """What the container's own health check says."""
    words = [word.replace("7411", str(port)) for word in files.health_check()]
    done = subprocess.run([sys.executable, *words[1:]], capture_output=True, check=False)  # noqa: S603
    return done.returncode == 0
