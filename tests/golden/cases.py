"""What is run with a fixed seed: a protocol or a policy, arms, a budget.

Only what is public is used (`lotor`, `lotor.policies`), so that these cases outlive the modules
behind it. A case is built when it runs: one that cannot be built fails alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """One run; a secure protocol runs in plain, too, and both must give what is recorded.

    `exact` is False where the arms come out of a library of linear algebra, whose last bits differ
    between processors: then the reward may differ in its last digits.
    """

    name: str
    protocol: Callable[[], Any]
    arms: Callable[[], Any]
    budget: int
    seed: int = 7
    exact: bool = True


def built(kind: Callable[..., Any], *given: Any, **options: Any) -> Callable[[], Any]:
    """Build it later; what is given may be built later itself."""
    return lambda: kind(
        *(value() if callable(value) else value for value in given),
        **options,
    )


def text(options: Mapping[str, object]) -> str:
    """Options as they stand in the name of a case.

    >>> text({"owners": 2, "selection": "bits"})
    'owners=2, selection=bits'
    """
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "defaults"
