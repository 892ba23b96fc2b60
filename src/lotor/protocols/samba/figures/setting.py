"""The paper's experiments: its arms, policies and parameters, and how runs become rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.lookalike import lookalike
from lotor.environments.rating_files import FilePath
from lotor.environments.ratings import PUBLISHED_ITEMS, RatingArms
from lotor.policies import UCB, EpsilonGreedy, Policy, Pursuit, Softmax, ThompsonSampling
from lotor.protocols.figure import DataFiles

KEY_BITS: Final = 2048
EPSILON: Final = 0.1
FIXED, DECREASING = "epsilon-greedy", "decreasing epsilon-greedy"
SOFTMAX, PURSUIT = "Softmax", "Pursuit"
UCB_NAME, THOMPSON = "UCB", "Thompson Sampling"
POLICIES: Final = (FIXED, DECREASING, SOFTMAX, PURSUIT, UCB_NAME, THOMPSON)


@dataclass(frozen=True, slots=True)
class RatingSet:
    """A data set of ratings, with the parameters that Appendix C found for it."""

    name: str
    lookalike: str
    tau: float
    beta: float
    read: Callable[[FilePath], BernoulliArms]

    def all_arms(self, path: FilePath | None) -> BernoulliArms:
        """The arms of the published figures, best first, or a look-alike's."""
        return lookalike(self.lookalike, PUBLISHED_ITEMS) if path is None else self.read(path)

    def called(self, path: FilePath | None) -> str:
        """As figures name it; a look-alike is named as one."""
        return self.name if path is not None else f"look-alike of {self.name}"

    def policies(self) -> dict[str, Policy]:
        """The paper's six, in its order."""
        return {
            FIXED: EpsilonGreedy(EPSILON),
            DECREASING: EpsilonGreedy("1/log2"),
            SOFTMAX: Softmax(self.tau),
            PURSUIT: Pursuit(self.beta),
            UCB_NAME: UCB(),
            THOMPSON: ThompsonSampling(),
        }


def _movielens(path: FilePath) -> BernoulliArms:
    return RatingArms.movielens(path, k=PUBLISHED_ITEMS, choose="published")


def _jester(path: FilePath) -> BernoulliArms:
    return RatingArms.jester(path, k=PUBLISHED_ITEMS, choose="published")


MOVIELENS: Final = RatingSet("MovieLens", "movielens-like", 0.06, 0.1, _movielens)
JESTER: Final = RatingSet("Jester", "jester-like", 0.02, 0.2, _jester)


def rating_sets(data: DataFiles) -> list[tuple[RatingSet, FilePath | None]]:
    """Both data sets of the paper, each with its file if the user has it."""
    return [(MOVIELENS, data.movielens), (JESTER, data.jester)]


def best(arms: BernoulliArms, k: int) -> BernoulliArms:
    """The k best of arms that are sorted."""
    return BernoulliArms(arms.means[:k])


def data_said(data: DataFiles) -> str:
    """Where the arms come from."""
    names = [one.called(path) for one, path in rating_sets(data)]
    text = f"Arms: {' and '.join(names)}"
    if data.movielens is None or data.jester is None:
        text += " (means are quantiles of a Beta law that resembles the data)"
    return text
