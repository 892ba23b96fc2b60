"""What a run with kills is like."""

from dataclasses import dataclass

MEANS = {"lyon": 0.3, "porto": 0.5, "graz": 0.7}


@dataclass(frozen=True, slots=True)
class Trial:
    """A run to survive; with `late`, outcomes are told by people, later."""

    policy: str = "ucb"
    form: str = "shared"
    budget: int = 120
    kills: int = 14
    seed: int = 7
    key_files: bool = False
    late: bool = False
