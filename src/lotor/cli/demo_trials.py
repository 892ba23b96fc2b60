"""What `lotor demo` runs, for each protocol that daemons can run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol as Interface

from rich.console import Console

import lotor
from lotor.cli.options import samba_from
from lotor.cli.show import show_leakage
from lotor.runtime import Result
from lotor.runtime.run import Progress

# Each hospital tries a treatment of its own, which helps this share of its patients.
HOSPITALS = {
    "lyon": 0.45,
    "porto": 0.6,
    "graz": 0.75,
    "turku": 0.5,
    "malmo": 0.35,
    "gdansk": 0.55,
    "bilbao": 0.4,
    "basel": 0.65,
    "torino": 0.3,
    "cork": 0.5,
    "split": 0.6,
    "leuven": 0.25,
    "tartu": 0.45,
    "aarhus": 0.7,
    "patras": 0.35,
    "szeged": 0.55,
    "brno": 0.4,
    "leiden": 0.65,
    "kosice": 0.3,
    "bergen": 0.5,
}


class DemoTrial(Interface):
    """What differs from protocol to protocol."""

    @property
    def budget(self) -> int: ...

    @property
    def seed(self) -> int: ...

    @property
    def means(self) -> dict[str, float]:
        """The owners of this trial, and how often their treatment helps."""

    def order(self) -> list[str]:
        """What follows `lotor start`."""

    def plain(self, progress: Progress) -> Result:
        """The same trial with no cryptography, in this process."""

    def show_leakage(self, out: Console) -> None:
        """Who learns what."""


@dataclass(frozen=True, slots=True)
class SambaTrial:
    """SAMBA: each hospital's data stays with it."""

    policy: str
    budget: int
    seed: int
    hospitals: int

    @property
    def means(self) -> dict[str, float]:
        return dict(list(HOSPITALS.items())[: self.hospitals])

    def order(self) -> list[str]:
        return ["samba", "--policy", self.policy, "--budget", str(self.budget)]

    def plain(self, progress: Progress) -> Result:
        return lotor.run(
            samba_from(self.policy).plain(),
            lotor.BernoulliArms(list(self.means.values())),
            budget=self.budget,
            seed=self.seed,
            progress=progress,
        )

    def show_leakage(self, out: Console) -> None:
        show_leakage(out)


TRIALS: dict[str, Callable[[str, int, int, int], DemoTrial]] = {"samba": SambaTrial}
