"""Arms that are vectors, whose rewards come from the user's own function."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, RewardScale
from lotor.core.vectors import VectorLike, VectorsLike, to_vectors
from lotor.core.wording import counted
from lotor.environments.base import PullFunction, split_names
from lotor.environments.graph import laplacian


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class VectorArms:
    """Arms that are vectors, and one function, sync or async, that answers a decision's reward.

    Nobody needs to know how rewards depend on the vectors: linear policies learn it. A mapping of
    vectors gives the arms names. Without a function the arms are a catalogue, for a party whose
    outcomes are told otherwise.

    >>> from lotor.core.effects import Decision
    >>> arms = VectorArms([[1, 0], [0, 1]], lambda one: 4.0 * one.arm, reward_range=(0, 5))
    >>> arms
    <VectorArms: 2 arms in 2 dimensions>
    >>> arms.start(seed=7)(Decision(run="demo", round=1, arm=1, id="demo-1"))
    4.0
    """

    vectors: Floats
    pull: PullFunction | None
    reward_range: tuple[float, float]
    names: tuple[str, ...] | None
    eigenvalues: Floats | None
    """The Laplacian's eigenvalues, if the arms form a graph."""

    def __init__(
        self,
        vectors: Mapping[str, VectorLike] | VectorsLike,
        pull: PullFunction | None = None,
        *,
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        names = None
        if isinstance(vectors, Mapping):
            rows, names = split_names("vectors", vectors, "a vector for each arm")
            vectors = cast("VectorsLike", rows)
        if pull is not None and not callable(pull):
            raise InputError(
                f"pull is {type(pull).__name__} {pull!r}: give a function that takes a Decision "
                "and returns a reward"
            )
        scale = RewardScale.of(reward_range)
        object.__setattr__(self, "vectors", to_vectors("vectors", vectors))
        object.__setattr__(self, "pull", pull)
        object.__setattr__(self, "reward_range", (scale.low, scale.high))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "eigenvalues", None)

    @classmethod
    def on_graph(
        cls,
        weights: VectorsLike,
        pull: PullFunction | None = None,
        *,
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> "VectorArms":
        """The nodes of a graph, with the table of its edges' weights, as in `GraphArms`."""
        _, spectrum, basis = laplacian(weights)
        arms = cls(basis, pull, reward_range=reward_range)
        object.__setattr__(arms, "eigenvalues", spectrum)
        return arms

    def __repr__(self) -> str:
        return f"<VectorArms: {self.k} arms in {counted(self.d, 'dimension')}>"

    @property
    def k(self) -> int:
        return len(self.vectors)

    @property
    def d(self) -> int:
        return int(self.vectors.shape[1])

    def start(self, seed: int) -> PullFunction:  # noqa: ARG002
        """Begin one run; the function is the user's, so the seed changes nothing."""
        if self.pull is None:
            raise InputError(
                "these VectorArms have no function that answers pulls, so they can only be the "
                "catalogue of a party: give one, as in VectorArms(vectors, pull)"
            )
        return self.pull
