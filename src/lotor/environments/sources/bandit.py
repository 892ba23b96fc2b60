"""Arms without vectors or contexts: look-alikes, rating files, and means."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from lotor.core.errors import InputError
from lotor.core.options import option
from lotor.environments.base import Environment
from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.lookalike import LOOKALIKES, lookalike
from lotor.environments.ratings import RatingArms
from lotor.environments.sources.base import ArmsSource

DEFAULT_K = 10
_OF_FILES = ("threshold", "minimum_ratings", "choose", "sha256")


@dataclass(frozen=True, slots=True)
class BanditSource(ArmsSource):
    """Arms that are known only by what they have paid."""

    default: ClassVar[str] = "movielens-like"
    text: ClassVar[str] = (
        "'movielens-like', 'jester-like', 'movielens:PATH' (u.data), 'jester:PATH' (csv), or means "
        "such as '0.9,0.5,0.1'"
    )

    k: int | None = field(
        default=None, metadata=option("How many arms, unless --arms says it.", shown="10")
    )
    threshold: float | None = field(
        default=None, metadata=option("The lowest rating that counts as 1.")
    )
    minimum_ratings: int | None = field(
        default=None, metadata=option("Leave out items with fewer ratings.", shown="20")
    )
    choose: Literal["top", "first"] | None = field(
        default=None, metadata=option("Best k items, or lowest k ids.", shown="top")
    )
    sha256: str | None = field(default=None, metadata=option("The digest that the file must have."))

    def environment(self, text: str, budget: int) -> Environment:  # noqa: ARG002
        kind, _, path = text.partition(":")
        if kind in ("movielens", "jester") and path:
            load = RatingArms.movielens if kind == "movielens" else RatingArms.jester
            given = {name: getattr(self, name) for name in _OF_FILES}
            given = {name: value for name, value in given.items() if value is not None}
            return load(Path(path), k=self._count, **given)
        self.refuse(_OF_FILES, f"to rating files, and --arms {text} does not name one")
        if text in LOOKALIKES:
            return lookalike(text, self._count)
        if self.k is not None:
            raise InputError(
                "--k does not go with a list of means, which has its own length: leave --k out"
            )
        return self._means(text)

    @property
    def _count(self) -> int:
        return DEFAULT_K if self.k is None else self.k

    @staticmethod
    def _means(text: str) -> Environment:
        try:
            means = [float(part) for part in text.split(",")]
        except ValueError:
            raise InputError(
                f"--arms {text!r} is neither {', '.join(LOOKALIKES)}, movielens:PATH, jester:PATH, "
                "nor a list of means such as 0.9,0.5,0.1"
            ) from None
        return BernoulliArms(means)
