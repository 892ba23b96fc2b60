"""What a policy is: how a party scores its own arms. State and randomness are passed in."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lotor.core.best_arm import BestArm
from lotor.core.draws import Draws
from lotor.core.errors import PolicyError
from lotor.core.fixed_point import REWARD_ONE, Floats

Bits: TypeAlias = NDArray[np.bool_]

MAXIMAL_ITERATIONS = 255


class ArmSnapshot(msgspec.Struct, frozen=True):
    """Arm states written down."""

    k: int
    n: list[int]
    s: list[int]
    own: dict[str, list[float]]

    def __repr__(self) -> str:
        return f"<ArmSnapshot of {len(self.n)} arms>"


class ArmStates:
    """The local variables of some arms, as vectors: n (pulls), s (sum of rewards) and the mean.

    `k` is the public number of arms of the whole run, `len(arms)` how many are held here, and
    `own` whatever vectors a policy keeps besides (Pursuit's p), of one or more numbers an arm.
    """

    __slots__ = ("k", "mean", "n", "own", "s")

    def __init__(self, held: int, k: int) -> None:
        self.k = k
        self.n: NDArray[np.int64] = np.zeros(held, dtype=np.int64)
        self.s: NDArray[np.int64] = np.zeros(held, dtype=np.int64)
        self.mean: Floats = np.zeros(held)
        self.own: dict[str, Floats] = {}

    def __len__(self) -> int:
        return len(self.n)

    def add(self, i: int, reward: int) -> None:
        """Count one pull of arm i; `reward` is in units of 2^-32."""
        n = self.n.item(i) + 1
        s = self.s.item(i) + reward
        self.n[i] = n
        self.s[i] = s
        self.mean[i] = s / (n * REWARD_ONE)

    def sums(self) -> list[tuple[int, int]]:
        """Of each arm, the sum of its rewards and its pulls."""
        return list(zip(self.s.tolist(), self.n.tolist(), strict=True))

    def snapshot(self) -> ArmSnapshot:
        own = {name: vector.tolist() for name, vector in self.own.items()}
        return ArmSnapshot(self.k, self.n.tolist(), self.s.tolist(), own)

    @classmethod
    def restore(cls, snapshot: ArmSnapshot) -> "ArmStates":
        arms = cls(len(snapshot.n), snapshot.k)
        arms.n[:] = snapshot.n
        arms.s[:] = snapshot.s
        # As `add` computes it, from exact integers: a vector division would first round them.
        pairs = zip(snapshot.s, snapshot.n, strict=True)
        arms.mean[:] = [s / (n * REWARD_ONE) if n else 0.0 for s, n in pairs]
        arms.own = {name: np.array(vector) for name, vector in snapshot.own.items()}
        return arms


class Policy:
    """Base of all policies: a frozen dataclass of parameters with pure methods.

    One round asks, in this order and `iterations` times (the paper's nb_A): `score` at each
    owner, `select` over the scores of all arms, `observe` at each owner. The arm that the last
    iteration selected is pulled, and its owner calls `learn`.
    """

    __slots__ = ()

    iterations: ClassVar[int] = 1

    grid: ClassVar[Mapping[str, Sequence[float]]] = {}
    """The values of its parameters that a paper tried; `lotor tune` tries them, too."""

    @property
    def selects_maximum(self) -> bool:
        """Whether `select` takes the largest score; that case has a fast path."""
        return type(self).select is Policy.select

    @property
    def observes(self) -> bool:
        """Whether an iteration's bits are used for anything but the pull."""
        return type(self).observe is not Policy.observe

    def start(self, arms: ArmStates) -> None:
        """Add the policy's own variables to arms that have not been pulled yet."""

    @property
    def looks_for_best(self) -> bool:
        """Whether it is after the best arm, and ends a run once it is sure of it."""
        return type(self).found is not Policy.found

    @abstractmethod
    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        """A score in [0, 2^23) for each arm held here, from nothing but that arm's variables."""

    def select(self, values: Sequence[int], t: int, l: int) -> int:
        """The position of the selected arm among masked, permuted scores, all different."""
        return values.index(max(values))

    def selected(self, values: Sequence[int], t: int, l: int) -> int:
        """What `select` gives, which must be a position."""
        position = int(self.select(values, t, l))
        if not 0 <= position < len(values):
            raise PolicyError(
                f"select gave {position} for {len(values)} arms: return a position in the list"
            )
        return position

    def observe(self, arms: ArmStates, t: int, l: int, bits: Bits) -> None:
        """Take note of which of the arms held here iteration l selected."""

    def learn(self, arms: ArmStates, i: int, reward: int, draw: Draws) -> None:
        """Take note of a reward (in units of 2^-32) of arm i; `draw.t` is its round.

        Rewards may come late, and then in any order of their rounds.
        """
        arms.add(i, reward)

    def found(self, arms: ArmStates) -> BestArm | None:
        """The best arm so far, from all arms; None in a policy that is after rewards instead."""
        return None


def check_iterations(policy: Policy) -> None:
    """Refuse a number of iterations that no message can carry."""
    if policy.iterations not in range(1, MAXIMAL_ITERATIONS + 1):
        raise PolicyError(
            f"iterations is {policy.iterations!r}: give a whole number from 1 to "
            f"{MAXIMAL_ITERATIONS}"
        )
