"""What a linear policy is: upper confidence bounds that are linear in the unknown theta."""

from abc import abstractmethod
from collections.abc import Callable, Collection
from typing import ClassVar, TypeAlias

import msgspec
import numpy as np

from lotor.core.errors import JournalError, PolicyError
from lotor.core.fixed_point import Floats

NormalDraws: TypeAlias = Callable[[int, int], Floats]
"""From a round t and d: d independent standard normal draws that belong to the round."""


def no_draws(t: int, d: int) -> Floats:  # noqa: ARG001
    """For those who do not know the draws: zeros, their mean."""
    return np.zeros(d)


class ModelSnapshot(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A model written down: the very floats that it computes with, as little-endian bytes."""

    a: bytes
    z: bytes

    def __repr__(self) -> str:
        return f"<ModelSnapshot of {len(self.z) // 8} dimensions>"


class LinearModel:
    """What the learner knows, theta excepted: the design matrix A and z, the sum of noise·arm.

    The estimate A^-1 b has b = sum r x = (A - T) theta + z, where T is the penalty that A began
    with. So the score of arm x is <x, A^-1 b> + omega |x|_{A^-1} = <u, theta> + c with

        u = (I - T A^-1) x        c = <x, A^-1 z> + omega |x|_{A^-1}

    and whoever knows arms and noise computes u and c without theta.
    """

    def __init__(self, vectors: Floats, penalty: Floats, omega: Callable[[int], float]) -> None:
        self._vectors = vectors
        self._penalty = penalty
        self._omega = omega
        self._a: Floats = np.diag(penalty)
        self._z: Floats = np.zeros(len(penalty))

    def __repr__(self) -> str:
        return f"<LinearModel of {len(self._vectors)} arms in {len(self._z)} dimensions>"

    def update(self, arm: int, noise: float) -> None:
        """Take note of a pull of `arm`, whose reward is <x, theta> + noise."""
        x = self._vectors[arm]
        self._a += np.outer(x, x)
        self._z += noise * x

    def coefficients(self, t: int, normals: NormalDraws = no_draws) -> tuple[Floats, Floats]:
        """After t pulls: u (a row for each arm) and c, so that arm i scores <u_i, theta> + c_i.

        `normals` are the draws of the party that pulls; without them nothing is explored by chance.
        """
        xi, c = self.live_coefficients(t, normals)
        return self._vectors - xi * self._penalty, c

    def live_coefficients(self, t: int, normals: NormalDraws = no_draws) -> tuple[Floats, Floats]:
        """The same where rewards come from outside: arm i scores <u_i, b'> + c_i.

        Then z has what is known of b (the `noise` of updates), and b' is the rest: u_i = A^-1 x_i.
        """
        # The inverse is fresh each time, so that a snapshot holds all that a later score needs.
        # Sums of products are by einsum, for the reason that `inverse` gives.
        xi = np.einsum("ij,jk->ik", self._vectors, inverse(self._a))
        c = (xi * self._z).sum(axis=1) + self._omega(t) * self._exploration(xi, t, normals)
        return xi, c

    @property
    def least_penalty(self) -> float:
        """No eigenvalue of A is ever below this, so that no A^-1 x is longer than x / this."""
        return float(self._penalty.min())

    def _exploration(self, xi: Floats, t: int, normals: NormalDraws) -> Floats:
        """What omega is multiplied with, for each arm; `xi` are the rows x A^-1."""
        # Rounding may leave a zero arm's squared norm just below 0.
        norms: Floats = np.sqrt(np.maximum((xi * self._vectors).sum(axis=1), 0.0))
        return norms

    def snapshot(self) -> ModelSnapshot:
        return ModelSnapshot(_to_bytes(self._a), _to_bytes(self._z))

    def restore(self, snapshot: ModelSnapshot) -> None:
        """Go on exactly where a snapshot of the same run was taken."""
        d = len(self._z)
        if (len(snapshot.a), len(snapshot.z)) != (8 * d * d, 8 * d):
            raise JournalError(
                f"a snapshot does not belong to a model of {d} dimensions: the journal is damaged "
                "or of another run; restore its last copy"
            )
        self._a = _from_bytes(snapshot.a).reshape(d, d)
        self._z = _from_bytes(snapshot.z)


class LinearPolicy:
    """Base of the linear policies: a frozen dataclass of parameters."""

    __slots__ = ()

    noise_parameter: ClassVar[str | None] = None
    """The parameter that bounds the noise of rewards, if it has one."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """A stated bound on |theta|: public, and what the fixed point has room for."""

    @abstractmethod
    def start(
        self, vectors: Floats, *, budget: int, eigenvalues: Floats | None = None
    ) -> LinearModel:
        """A model before the first pull of `budget`; eigenvalues where the arms form a graph."""

    @abstractmethod
    def check_theta(self, theta: Floats, eigenvalues: Floats | None = None) -> None:
        """At theta's owner: refuse a theta that breaks a bound of this policy."""

    def widened(
        self, theta: Floats, eigenvalues: Floats | None = None, *, keep: Collection[str] = ()
    ) -> "LinearPolicy":
        """The same policy with larger bounds where this theta breaks them, as powers of two.

        Only for simulations: bounds are public, and these follow from theta. Those in `keep` stay.
        """
        return self


def inverse(matrix: Floats) -> Floats:
    """The inverse of a positive definite matrix, by elimination.

    LAPACK's last bits depend on its number of threads; those of elementwise operations do not. So
    two processes with the same data choose the same arm. Such matrices need no pivoting.
    """
    a = matrix.copy()
    for i in range(len(a)):
        check_pivot(a[i, i])
        scale = 1 / a[i, i]
        row, column = a[i] * scale, a[:, i].copy()
        a -= np.outer(column, row)
        a[i], a[:, i] = row, -scale * column
        a[i, i] = scale
    return a


def check_pivot(pivot: float) -> None:
    """Refuse to divide by what rounding has left of a positive number."""
    if not pivot > 0:
        raise PolicyError(
            "the design matrix cannot be inverted, because gamma is too small beside the "
            "arms: give a larger gamma or rescale the arms"
        )


def _to_bytes(array: Floats) -> bytes:
    return array.astype("<f8").tobytes()


def _from_bytes(data: bytes) -> Floats:
    return np.frombuffer(data, dtype="<f8").astype(np.float64)
