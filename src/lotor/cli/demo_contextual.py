"""What `lotor demo --protocol ppcb` runs: firms that each know something about a traveller."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console

import lotor
from lotor.cli.contextual_options import SEED, ppcb_from
from lotor.cli.options import refuse_given
from lotor.cli.show import show_leakage
from lotor.cli.show_privacy import show_account
from lotor.privacy import Accountant
from lotor.protocols.ppcb.leakage import MEASURED
from lotor.runtime import Result
from lotor.runtime.daemon.loopback import Loopback
from lotor.runtime.daemon.loopback_contextual import ContextualLoopback
from lotor.runtime.run import Progress

# The firms of the paper's introduction, and how many features of a traveller each has.
FIRMS = {"airline": 4, "hotel": 3, "reviews": 3}
ITINERARIES = 5


@dataclass(slots=True)
class Travel(ContextualLoopback):
    """The feature parties are firms."""

    @property
    def owners(self) -> list[str]:
        return list(FIRMS)


@dataclass(frozen=True, slots=True)
class PPCBTrial:
    """PPCB: each firm's features stay with it; an actor recommends, a receiver is paid."""

    policy: str | None
    budget: int
    seed: int
    hospitals: int | None

    def __post_init__(self) -> None:
        refuse_given({"hospitals": self.hospitals}, "to `lotor demo --protocol samba`")

    @property
    def exact(self) -> bool:
        return False

    @property
    def arms(self) -> lotor.ContextualArms:
        # A budget of nothing is refused by the run itself.
        rounds = max(self.budget, 1)
        return lotor.ContextualArms.lookalike(rounds, ITINERARIES, sum(FIRMS.values()), SEED)

    def federation(self, folder: Path) -> Loopback:
        arms = self.arms
        return Travel.of(
            folder,
            arms.contexts.tolist(),
            arms.rewards.tolist(),
            dimensions=list(FIRMS.values()),
            seed=self.seed,
        )

    def story(self, policy: str) -> str:
        return (
            f"Three firms ({', '.join(FIRMS)}) each know something about {self.budget} travellers. "
            f"Two servers chose by {policy} one of {ITINERARIES} itineraries for each, on shares "
            "of what the firms know; only the actor saw which, and only the receiver what it paid."
        )

    def order(self) -> list[str]:
        policy = [] if self.policy is None else ["--policy", self.policy]
        return ["ppcb", *policy, "--budget", str(self.budget)]

    def plain(self, progress: Progress) -> Result:
        return lotor.run(
            ppcb_from(self.policy).plain(),
            self.arms,
            budget=self.budget,
            seed=self.seed,
            progress=progress,
        )

    def show_leakage(self, out: Console) -> None:
        accountant = Accountant(ITINERARIES, ppcb_from(self.policy).policy.epsilon)
        show_account(out, msgspec.structs.asdict(accountant.spent(self.budget)))
        show_leakage(out, findings=MEASURED)
