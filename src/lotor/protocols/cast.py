"""Who plays what when a protocol is demonstrated as processes on one machine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lotor.environments.base import Environment


@dataclass(frozen=True, slots=True)
class CastMember:
    """A party of a demonstration: its role, its table of party.toml, and the files of its kit.

    `files` gives the text of each file, or a function that writes it. `draws` is set if the party's
    draws decide arms: it takes them from the seed, so that the result can be compared with plain.
    """

    role: str
    table: Mapping[str, object] | None = None
    files: Mapping[str, str | Callable[[Path], None]] = field(default_factory=dict)
    draws: bool = False


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays what when a protocol is demonstrated as processes on one machine.

    `environment` is the same world in one process, for plain. `pullers` are the parties whose
    journals say which arms were pulled, and `arm` reads the arm of a decision: from its id, or
    from the files in the federation's folder, where `files` are put.
    """

    story: str
    members: Mapping[str, CastMember]
    environment: Environment
    pullers: tuple[str, ...]
    arm: Callable[[Path, str], int]
    files: Mapping[str, str | Callable[[Path], None]] = field(default_factory=dict)


def arm_in_id(folder: Path, decision: str) -> int:  # noqa: ARG001
    """The arm of a decision whose id tells it: run/arm/round."""
    return int(decision.split("/")[1])
