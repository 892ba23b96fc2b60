"""What `lotor demo --protocol helba` runs: a user whose server sees nothing but ciphertexts."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

import lotor
from lotor.cli.helba_options import helba_from
from lotor.cli.options import refuse_given
from lotor.cli.show import show_leakage
from lotor.protocols.helba.leakage import MEASURED
from lotor.runtime import Result
from lotor.runtime.daemon.loopback import Loopback
from lotor.runtime.daemon.loopback_contexts import ContextsLoopback
from lotor.runtime.run import Progress

# The paper's toy problem, with contexts whose indices are soon well apart.
TOY_SEED = 5
# With 128-bit security a round takes seconds.
DEFAULT_BUDGET = 10


@dataclass(frozen=True, slots=True)
class HelbaTrial:
    """HELBA: contexts, arms and rewards stay with the user; the server learns on ciphertexts."""

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
    def arms(self) -> lotor.LinearContexts:
        # A budget of nothing is refused by the run itself.
        return lotor.LinearContexts.toy(max(self.budget, 1), seed=TOY_SEED)

    def federation(self, folder: Path) -> Loopback:
        return ContextsLoopback.of(folder, self.arms, seed=self.seed)

    def story(self, policy: str) -> str:
        return (
            f"A user was offered 2 arms in each of {self.budget} rounds. A server chose by "
            f"{policy.partition(':')[0]} and learned from the rewards, all under CKKS encryption "
            "with 128-bit security: it saw ciphertexts only. A key authority made the keys and "
            "left."
        )

    def order(self) -> list[str]:
        policy = [] if self.policy is None else ["--policy", self.policy]
        return ["helba", *policy, "--budget", str(self.budget)]

    def plain(self, progress: Progress) -> Result:
        return lotor.run(
            helba_from(self.policy).plain(),
            self.arms,
            budget=self.budget,
            seed=self.seed,
            progress=progress,
        )

    def show_leakage(self, out: Console) -> None:
        show_leakage(out, findings=MEASURED)
