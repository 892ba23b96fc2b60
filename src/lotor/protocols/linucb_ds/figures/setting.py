"""The paper's experiments: its arms and constants, and how runs of one kind become a row."""

from collections.abc import Mapping, Sequence
from typing import Final

from lotor.core.frames import Cell, number
from lotor.environments.graph import GraphArms
from lotor.environments.linear import LinearArms
from lotor.environments.linear_lookalike import linear_lookalike
from lotor.policies.linear import LinUCB, SpectralUCB
from lotor.protocols.cell import RunCell
from lotor.protocols.figure import DataFiles
from lotor.protocols.linucb_ds.protocol import LinUCBDS
from lotor.protocols.protocol import Protocol

GAMMA, DELTA, R = 0.01, 0.001, 0.01
LINUCB: Final = LinUCB(gamma=GAMMA, delta=DELTA, R=R, S="log t")
SPECTRAL_UCB: Final = SpectralUCB(gamma=GAMMA, delta=DELTA, R=R, C="log t")
KEY_BITS: Final = 2048
NEIGHBOURS: Final = 10
USER: Final = 1
# All arms of one kind are as costly as others, so that any seed would do.
SEED: Final = 7

DISTURBED, LONG_ENOUGH = 1.25, 0.5

CONSTANTS: Final = (
    "gamma = 0.01, delta = 0.001, R = 0.01 and S = log t are the paper's; the noise has the "
    "standard deviation 0.01, which R allows for (the authors' program has 0.1)."
)
TIMES: Final = (
    "Times depend on the machine, so that only their proportions can be compared with the "
    "paper's laptop. Making keys does not count. "
)
STEPS: Final = (
    "The paper's step (3).i does not exist here: P knows everything in a score but theta, so that "
    "a score is one inner product with the theta* of step 1, step (3).ii. Several scores share a "
    "ciphertext, so that Comp decrypts few in step (4).i. "
)


def movie_arms(data: DataFiles, k: int, d: int) -> LinearArms:
    """The first k movies as arms and a user as theta, by their factors."""
    if data.movielens is None:
        return linear_lookalike("movielens-factors-like", k=k, d=d, user=USER, noise_sd=R)
    return LinearArms.movielens(data.movielens, k=k, d=d, user=USER, noise_sd=R)


def movie_graph(data: DataFiles, k: int) -> GraphArms:
    """The first k movies, each joined to its ten nearest in the space of factors."""
    movies = movie_arms(data, k, NEIGHBOURS)
    return GraphArms.nearest(movies.vectors, movies.means, neighbours=NEIGHBOURS, noise_sd=R)


def data_said(data: DataFiles) -> str:
    """Where the arms come from."""
    if data.movielens is None:
        return (
            "Arms and theta are standard normal draws, a look-alike of MovieLens factors (the "
            "authors' program starts from such draws and never trains them)"
        )
    return f"Arms and theta are factors of MovieLens 100K ({data.movielens.name}), user {USER}"


def forms_beside(protocol: LinUCBDS) -> Mapping[str, Protocol]:
    """The default form and plain, by their names in figures."""
    shared = type(protocol)(protocol.policy)
    return {"shared": shared, "plain": shared.plain()}


def timed(
    labels: Mapping[str, str | int],
    protocol: Protocol,
    arms: LinearArms,
    budget: int,
    repeats: int,
) -> list[RunCell]:
    """The same run several times, with nothing beside it."""
    return [
        RunCell(labels, protocol, arms, budget=budget, seed=SEED + i, alone=True)
        for i in range(repeats)
    ]


def in_turns(cells: Sequence[RunCell]) -> list[RunCell]:
    """Every kind once, then every kind again: what else the machine does meets all of them."""
    return sorted(cells, key=lambda cell: cell.seed)


def disturbed(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """What to say if much more time passed than one process computed: others used the machine."""
    pairs = [(number(row["seconds"]), number(row["cpu_seconds"])) for row in rows]
    # In a run of milliseconds, starting it counts.
    waited = max((passed / cpu for passed, cpu in pairs if cpu >= LONG_ENOUGH), default=1.0)
    if waited < DISTURBED:
        return []
    return [
        (
            f"OTHER PROGRAMS USED THE MACHINE: the time that passed was up to {waited:.1f} times "
            "the CPU time of a run on one core, so that times that passed cannot be compared here. "
            "Run this again on a machine with nothing else to do."
        )
    ]


def short(value: float) -> str:
    """Two digits, or all before the point."""
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"
