"""A throw-away federation whose one owner has a model instead of a function to pull."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lotor.environments import LinearArms
from lotor.runtime.daemon.config import OwnerTable
from lotor.runtime.daemon.loopback import Loopback

MEMBERS = {name: name for name in ("principal", "comp", "customer", "owner")}
MODULE = '''"""What this owner knows: how its arms look, and what they pay."""

import lotor

model = lotor.{kind}({table}, {pays}, noise_sd={noise_sd})
'''


@dataclass(frozen=True, slots=True)
class Survey:
    """What an owner knows: vectors and theta of LinearArms, or weights and values of GraphArms."""

    kind: type[LinearArms]
    table: list[list[float]]
    pays: list[float] = field(repr=False)
    noise_sd: float = 0.1

    def arms(self) -> LinearArms:
        return self.kind(self.table, self.pays, noise_sd=self.noise_sd)

    def module(self) -> str:
        """The same as a Python module with a `model`."""
        return MODULE.format(
            kind=self.kind.__name__, table=self.table, pays=self.pays, noise_sd=self.noise_sd
        )


@dataclass(slots=True)
class ModelLoopback(Loopback):
    """Customer, owner, principal and comp; `module` is the owner's, with its `model`."""

    rewards: Mapping[str, Sequence[float]] = field(default_factory=dict)
    seed: int = 0
    module: str = ""

    @classmethod
    def of(cls, folder: Path, survey: Survey, *, seed: int) -> "ModelLoopback":
        """The owner knows this; draws are those of a simulation with this seed."""
        return cls(folder, seed=seed, module=survey.module())

    @property
    def owners(self) -> list[str]:
        return ["owner"]

    @property
    def listeners(self) -> list[str]:
        return ["principal"]

    @property
    def pullers(self) -> list[str]:
        return ["principal"]

    @property
    def members(self) -> dict[str, str]:
        return dict(MEMBERS)

    def _write_data(self) -> None:
        (self.kits["owner"] / "survey.py").write_text(self.module)

    def _owner_tables(self) -> dict[str, OwnerTable]:
        return {"owner": OwnerTable(model="survey:model")}
