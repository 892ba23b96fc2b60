"""Arms without vectors or contexts: look-alikes, rating files, logs, and means."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from lotor.core.errors import InputError
from lotor.core.options import option
from lotor.environments.base import Environment
from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.changing import ChangingArms
from lotor.environments.logged import LoggedArms
from lotor.environments.lookalike import LOOKALIKES, lookalike
from lotor.environments.ratings import RatingArms
from lotor.environments.sources.base import ArmsSource

DEFAULT_K = 10
_OF_RATINGS = ("threshold", "minimum_ratings", "choose")
_OF_FILES = (*_OF_RATINGS, "sha256")


@dataclass(frozen=True, slots=True)
class BanditSource(ArmsSource):
    """Arms that are known only by what they have paid."""

    default: ClassVar[str] = "movielens-like"
    text: ClassVar[str] = (
        "'movielens-like', 'jester-like', 'movielens:PATH' (u.data), 'jester:PATH' (csv), a "
        "log 'log:PATH' (csv with the columns arm, reward and perhaps propensity), means "
        "such as '0.9,0.5,0.1' or 'drug A=0.4,drug B=0.6', or means that change at rounds such as "
        "'0.9,0.5/300:0.1,0.5'"
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
    choose: Literal["top", "first", "published"] | None = field(
        default=None,
        metadata=option(
            "Best k items, lowest k ids, or the k arms of the published figures (k up to 100, no "
            "--minimum-ratings).",
            shown="top",
        ),
    )
    sha256: str | None = field(default=None, metadata=option("The digest that the file must have."))

    def environment(self, text: str, budget: int) -> Environment:  # noqa: ARG002
        kind, _, path = text.partition(":")
        if kind in ("movielens", "jester") and path:
            if self.choose == "published":
                self.refuse(
                    ("minimum_ratings",),
                    "to --choose top and --choose first: the published arms are items however few "
                    "their ratings",
                )
            load = RatingArms.movielens if kind == "movielens" else RatingArms.jester
            given = {name: getattr(self, name) for name in _OF_FILES}
            given = {name: value for name, value in given.items() if value is not None}
            return load(Path(path), k=self._count, **given)
        if kind == "log" and path:
            self.refuse(_OF_RATINGS, f"to rating files, and --arms {text} names a log")
            return LoggedArms.from_csv(Path(path), k=self.k, sha256=self.sha256)
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
        first, *later = text.split("/")
        try:
            if "=" in text:
                return BernoulliArms(_named_means(text))
            means = _numbers(first)
            changes = [phase.partition(":") for phase in later]
            phases = [(int(start), _numbers(rest)) for start, _, rest in changes]
        except ValueError:
            raise InputError(
                f"--arms {text!r} is neither {', '.join(LOOKALIKES)}, movielens:PATH, jester:PATH, "
                "log:PATH, "
                "a list of means such as 0.9,0.5,0.1 or drug A=0.4,drug B=0.6, nor means that "
                "change at rounds such as 0.9,0.5/300:0.1,0.5"
            ) from None
        return ChangingArms([(1, means), *phases]) if phases else BernoulliArms(means)


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _named_means(text: str) -> dict[str, float]:
    pairs = [part.rpartition("=") for part in text.split(",")]
    names = [name.strip() for name, _, _ in pairs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"--arms names {', '.join(twice)} twice: give each arm a name of its own")
    return {name: float(mean) for name, (_, _, mean) in zip(names, pairs, strict=True)}
