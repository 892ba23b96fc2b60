"""What `lotor demo` runs, for each protocol that daemons can run."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol as Interface

from rich.console import Console

import lotor
from lotor.cli.demo_contextual import PPCBTrial
from lotor.cli.demo_helba import DEFAULT_BUDGET as HELBA_BUDGET
from lotor.cli.demo_helba import HelbaTrial
from lotor.cli.linear_options import DEFAULT_ARMS, linear_from, made_up
from lotor.cli.options import refuse_given, samba_from
from lotor.cli.show import show_leakage
from lotor.protocols.linucb_ds.leakage import MEASURED as LINEAR_MEASURED
from lotor.runtime import Result
from lotor.runtime.daemon.loopback import Loopback
from lotor.runtime.daemon.loopback_model import ModelLoopback, Survey
from lotor.runtime.run import Progress

SAMBA_POLICY, SAMBA_HOSPITALS = "ucb", 3
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
    def exact(self) -> bool:
        """Whether it computes with the very numbers of plain, or rounds."""

    def federation(self, folder: Path) -> Loopback:
        """All parties, with their data."""

    def story(self, policy: str) -> str:
        """Who has done what."""

    def order(self) -> list[str]:
        """What follows `lotor start`."""

    def plain(self, progress: Progress) -> Result:
        """The same trial with no cryptography, in this process."""

    def show_leakage(self, out: Console) -> None:
        """Who learns what."""


@dataclass(frozen=True, slots=True)
class SambaTrial:
    """SAMBA: each hospital's data stays with it."""

    policy: str | None
    budget: int
    seed: int
    hospitals: int | None

    @property
    def exact(self) -> bool:
        return True

    @property
    def means(self) -> dict[str, float]:
        return dict(list(HOSPITALS.items())[: self.hospitals or SAMBA_HOSPITALS])

    def federation(self, folder: Path) -> Loopback:
        return Loopback.bernoulli(folder, self.means, budget=self.budget, seed=self.seed)

    def story(self, policy: str) -> str:
        return (
            f"{len(self.means)} hospitals ({', '.join(self.means)}) treated {self.budget} patients "
            f"and chose by {policy} among their treatments."
        )

    def order(self) -> list[str]:
        return ["samba", "--policy", self.policy or SAMBA_POLICY, "--budget", str(self.budget)]

    def plain(self, progress: Progress) -> Result:
        return lotor.run(
            samba_from(self.policy or SAMBA_POLICY).plain(),
            lotor.BernoulliArms(list(self.means.values())),
            budget=self.budget,
            seed=self.seed,
            progress=progress,
        )

    def show_leakage(self, out: Console) -> None:
        show_leakage(out)


@dataclass(frozen=True, slots=True)
class LinearTrial:
    """LinUCB-DS and SpectralUCB-DS: one owner's model, at two clouds that do not see it."""

    protocol: str
    policy: str | None
    budget: int
    seed: int
    hospitals: int | None

    def __post_init__(self) -> None:
        refuse_given({"hospitals": self.hospitals}, "to `lotor demo --protocol samba`")

    @property
    def exact(self) -> bool:
        return True

    @property
    def survey(self) -> Survey:
        return made_up(DEFAULT_ARMS[self.protocol], graph=self.protocol == "spectral-ucb-ds")

    def federation(self, folder: Path) -> Loopback:
        return ModelLoopback.of(folder, self.survey, seed=self.seed)

    def story(self, policy: str) -> str:
        return (
            f"One owner gave a model of {self.survey.arms().k} arms to two clouds, encrypted; they "
            f"chose {self.budget} times by {policy}, and the customer learned the total."
        )

    def order(self) -> list[str]:
        policy = [] if self.policy is None else ["--policy", self.policy]
        return [self.protocol, *policy, "--budget", str(self.budget)]

    def plain(self, progress: Progress) -> Result:
        return lotor.run(
            linear_from(self.protocol, self.policy).plain(),
            self.survey.arms(),
            budget=self.budget,
            seed=self.seed,
            progress=progress,
        )

    def show_leakage(self, out: Console) -> None:
        show_leakage(out, findings=LINEAR_MEASURED)


TRIALS: dict[str, Callable[[str | None, int, int, int | None], DemoTrial]] = {
    "samba": SambaTrial,
    "ppcb": PPCBTrial,
    "helba": HelbaTrial,
    **{name: partial(LinearTrial, name) for name in DEFAULT_ARMS},
}
BUDGET, BUDGETS = 300, {"helba": HELBA_BUDGET}
