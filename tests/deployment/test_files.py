"""What is in deploy/ fits together, and fits this version of Lotor."""

import shutil
import subprocess
from pathlib import Path

import pytest

from commands import understood
from deployment import files
from lotor.cli import exit_codes
from lotor.core.errors import ConfigError, JournalWriteError, TransportError
from lotor.protocols.protocol import PROTOCOLS
from lotor.protocols.samba import Samba
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.credentials import SERVICE_NAME

PARTIES = {
    name: service for name, service in files.services().items() if name not in ("kits", "customer")
}


def lint(*command: str | Path) -> None:
    """Let a tool look at a file, where there is such a tool."""
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"there is no {command[0]} here")
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("line", list(files.commands()))
def test_each_command_is_one_of_lotors(line: str) -> None:
    assert understood(line)


@pytest.fixture
def unit_here(tmp_path: Path) -> Path:
    """The unit, with a program that is there."""
    path = tmp_path / files.UNIT.name
    path.write_text(files.UNIT.read_text().replace(files.served_by_unit()[0], "/bin/true"))
    return path


def test_systemd_understands_the_unit(unit_here: Path) -> None:
    lint("systemd-analyze", "verify", unit_here)


def test_systemd_calls_the_unit_safe(unit_here: Path) -> None:
    """From 0, safe, to 100."""
    lint("systemd-analyze", "security", "--offline=true", "--threshold=20", unit_here)


def test_the_unit_serves_the_kit_that_is_its_state() -> None:
    service = files.unit()["Service"]
    kit = service["StateDirectory"].removeprefix("lotor/")
    assert files.served_by_unit()[1:4] == ["serve", "--kit", f"/var/lib/lotor/{kit}"]
    assert service["LoadCredential"].split(":")[0] == SERVICE_NAME
    assert service["NoNewPrivileges"] == service["PrivateTmp"] == "yes"
    assert service["ProtectSystem"] == "strict"


def test_the_unit_starts_again_whatever_may_pass_by_itself() -> None:
    service = files.unit()["Service"]
    final = set(map(int, service["RestartPreventExitStatus"].split()))
    assert service["Restart"] == "always"
    assert exit_codes.of(ConfigError("")) in final
    assert not final & {exit_codes.of(TransportError("")), exit_codes.of(JournalWriteError(""))}
    assert exit_codes.DONE not in final


def test_docker_understands_the_federation() -> None:
    known = shutil.which("docker") and subprocess.run(
        ["docker", "compose", "version"],  # noqa: S607
        capture_output=True,
        check=False,
    )
    if not known or known.returncode != 0:
        pytest.skip("there is no docker compose here")
    lint("docker", "compose", "-f", files.COMPOSE, "--profile", "customer", "config", "--quiet")


def test_the_container_has_what_a_party_needs_and_is_not_root() -> None:
    assert "lotor-*.whl)[ops,protect]" in files.CONTAINER.read_text()
    assert files.instructions()["USER"] not in ("root", "0")
    service = next(iter(PARTIES.values()))
    build = (files.DEPLOY / service["build"]["context"], service["build"]["dockerfile"])
    assert (build[0] / build[1]).resolve() == files.CONTAINER
    assert build[0].resolve() == files.ROOT / "dist"


def test_all_services_are_confined_alike_and_know_their_volumes() -> None:
    for name, service in files.services().items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert not {"privileged", "network_mode", "user", "ports"} & set(service), name
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert source in files.compose()["volumes"] or (files.DEPLOY / source).is_dir(), name
        for other in service.get("depends_on", {}):
            assert other in files.services(), name


def test_the_federation_is_one_of_sambas() -> None:
    """Everybody whom the customer names is a service, and whoever is dialled listens there."""
    form = PROTOCOLS["samba"].form_called(Samba().form)
    folders = {name: name if (files.TRIAL / name).is_dir() else "owner" for name in PARTIES}
    members = read_config(files.TRIAL / "customer" / "party.toml").members
    assert set(members) == {role.name for role in form.roles if role.name != form.opener}
    assert sorted(name for names in members.values() for name in names) == sorted(PARTIES)
    for name, folder in {**folders, "customer": "customer"}.items():
        config = read_config(files.TRIAL / folder / "party.toml")
        for peer, address in config.peers.items():
            listens = read_config(files.TRIAL / folders[peer] / "party.toml").listen
            assert listens is not None
            assert (address.host, address.port, listens.host) == (peer, listens.port, "0.0.0.0")  # noqa: S104
        if name != "customer":
            assert config.local is not None
            assert str(config.local.port) in " ".join(files.health_check())
            assert files.services()[name]["command"][:3] == [
                "serve",
                "--kit",
                f"/federation/trial/{name}",
            ]
