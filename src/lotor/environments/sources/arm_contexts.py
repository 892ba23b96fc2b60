"""Contexts of each arm, which change with the round."""

from dataclasses import dataclass, field
from typing import ClassVar

from lotor.core.errors import InputError
from lotor.core.options import option
from lotor.environments.linear_context_files import contexts_from_csv, contexts_from_npz
from lotor.environments.linear_contexts import LinearContexts
from lotor.environments.sources.base import SEED, ArmsSource, whole_numbers

FILES = {"npz": contexts_from_npz, "csv": contexts_from_csv}
TOY = "toy"


@dataclass(frozen=True, slots=True)
class ArmContextSource(ArmsSource):
    """Arms that each show a vector in every round; one theta decides what they pay."""

    default: ClassVar[str] = TOY
    text: ClassVar[str] = (
        "'toy' or 'toy:SEED' (the paper's problem), 'contexts:K,D' (made up), 'npz:PATH' or "
        "'csv:PATH'"
    )

    noise_sd: float | None = field(
        default=None,
        metadata=option(
            "The standard deviation of the noise in rewards, for npz:PATH or csv:PATH.", shown="0.5"
        ),
    )
    sha256: str | None = field(default=None, metadata=option("The digest that the file must have."))

    def environment(self, text: str, budget: int) -> LinearContexts:
        kind, _, rest = text.partition(":")
        if kind in FILES and rest:
            sd = {} if self.noise_sd is None else {"noise_sd": self.noise_sd}
            return FILES[kind](rest, sha256=self.sha256, **sd)
        self.refuse(("noise_sd", "sha256"), f"to files, and --arms {text} does not name a file")
        # The run itself refuses a budget of 0.
        rounds, numbers = max(budget, 1), whole_numbers(rest)
        if text == TOY or (kind == TOY and len(numbers) == 1):
            return LinearContexts.toy(rounds, seed=numbers[0] if numbers else SEED)
        if kind == "contexts" and len(numbers) == 2:
            k, d = numbers
            return LinearContexts.random(rounds, arms=k, d=d, seed=SEED)
        raise InputError(
            f"--arms {text!r} does not give each arm a context: write toy or toy:SEED (the "
            "paper's problem), contexts:K,D (made up: K arms, D numbers), npz:PATH or csv:PATH"
        )
