"""What is in deploy/, taken apart."""

import configparser
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "lotor@.service"
CONTAINER = DEPLOY / "Containerfile"
COMPOSE = DEPLOY / "compose.yaml"
TRIAL = DEPLOY / "trial"


class Unit(configparser.ConfigParser):
    """A unit of systemd; of a setting that stands there twice, the last line."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def unit() -> Unit:
    parser = Unit(strict=False, interpolation=None, comment_prefixes=("#",), delimiters=("=",))
    parser.read(UNIT)
    return parser


def served_by_unit() -> list[str]:
    return shlex.split(unit()["Service"]["ExecStart"])


def instructions() -> dict[str, str]:
    """What a Containerfile says, by instruction; of several of one kind, the last."""
    lines = re.sub(r"^#.*\n", "", CONTAINER.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return dict(line.split(maxsplit=1) for line in lines.splitlines() if line)


def health_check() -> list[str]:
    _, _, command = instructions()["HEALTHCHECK"].partition("CMD ")
    found: list[str] = json.loads(command)
    return found


@cache
def compose() -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return found


def services() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = compose()["services"]
    return found


def script_of_kits() -> str:
    """What the service that makes the keys runs, as its shell sees it."""
    (script,) = services()["kits"]["command"]
    return str(script).replace("$$", "$")


def commands() -> Iterator[str]:
    """Every command of `lotor` in deploy/, as a line of a shell."""
    yield shlex.join(["lotor", *served_by_unit()[1:]])
    yield shlex.join(json.loads(instructions()["ENTRYPOINT"]) + json.loads(instructions()["CMD"]))
    yield from (line.strip() for line in script_of_kits().splitlines() if "lotor" in line.split())
    for name, service in services().items():
        if name != "kits":
            yield shlex.join(["lotor", *service["command"]])
