"""The paper's experiments: contexts and arms from MNIST, and runs that differ in their order."""

from functools import lru_cache
from pathlib import Path
from typing import Final

from lotor.core.draws import shuffled
from lotor.environments import ContextualArms
from lotor.environments.kmeans import kernel, kmeans
from lotor.protocols.figure import DataFiles, Size

DIGITS, D = 10, 20
EPSILONS: Final = (0.01, 0.05, 0.1, 0.2)
IMAGES: Final[dict[Size, int]] = {"quick": 10_000, "full": 60_000}
"""Of how many images there is one sweep; MNIST has 60,000 to train with."""
CLUSTERED, CLUSTER_SEED, SIGMA = 10_000, 7, 0.5
LOOKALIKE_SEED = 7

EPSILONS_UNSAID: Final = (
    f"The four epsilons are only in the paper's picture; here they are {EPSILONS[0]} (which the "
    f"authors' program takes by default), {', '.join(map(str, EPSILONS[1:-1]))} and "
    f"{EPSILONS[-1]}. "
)
PLAIN_RUNS: Final = (
    "Runs are in plain, because the secure protocol makes the same decisions but for rounding "
    "(ppcb-1 compares both). "
)
TIMES: Final = (
    "Times are CPU time of all parties together, in one process and without a network, so that "
    "only their proportions can be compared with the paper's. "
)
CLUSTERS: Final = (
    f"Centres are those of the first {CLUSTERED:,} contexts at most, and the factor of the "
    "rewards' probabilities, which the paper leaves open, is 1. "
)


@lru_cache(maxsize=2)
def digits(mnist: Path | None, images: int) -> ContextualArms:
    """The first so many images of MNIST, 20 components of each, or a look-alike's contexts."""
    if mnist is None:
        return ContextualArms.lookalike(images, DIGITS, D, LOOKALIKE_SEED)
    return ContextualArms.mnist(mnist, limit=images)


def in_order(arms: ContextualArms, seed: int) -> ContextualArms:
    """The same contexts in another order, as the authors' program draws one for each run."""
    order = shuffled(arms.rounds, seed)
    return ContextualArms(arms.contexts[order], arms.rewards[order], reward_range=arms.reward_range)


@lru_cache(maxsize=5)
def clusters(arms: ContextualArms, k: int) -> ContextualArms:
    """The paper's arms where there are not ten: each is a cluster of the contexts."""
    centres = kmeans(arms.contexts[:CLUSTERED], k, seed=CLUSTER_SEED)
    return ContextualArms.bernoulli(arms.contexts, kernel(arms.contexts, centres, SIGMA))


def called(data: DataFiles) -> str:
    """As figures name the data; a look-alike is named as one."""
    return "look-alike of MNIST" if data.mnist is None else "MNIST"


def data_said(data: DataFiles, images: int) -> str:
    """Where the contexts come from."""
    if data.mnist is not None:
        return f"MNIST, {images:,} images, {D} principal components of length 1"
    return (
        f"A look-alike of MNIST: {images:,} made-up contexts of {D} numbers around {DIGITS} "
        "centres, which are easier to tell apart than digits"
    )
