"""How the parties agree on a run, and how P learns of the arms: the same in every form."""

from typing import Any

import numpy as np

from lotor.core.effects import Message
from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import LARGEST_COORDINATE

WIRE = "linucb-ds/1/"
"""A form that uses these messages must raise its own wire version when this one rises."""

MOST_ARMS = 1 << 31


class LinUCBOrder(Message, frozen=True, tag=WIRE + "order"):
    """Step 1, customer to P: the terms, signed for all others."""

    terms: bytes
    signatures: dict[str, bytes]


class LinUCBSetup(Message, frozen=True, tag=WIRE + "setup"):
    """P to all others but the customer: the customer's terms."""

    terms: bytes
    signature: bytes


class ArmCatalogue(Message, frozen=True):
    """Step 1, owner to P: the arms in clear and how large the noise is; a form adds theta.

    Vectors are little-endian float64; eigenvalues are there where the arms form a graph.
    """

    k: int
    d: int
    vectors: bytes
    eigenvalues: bytes
    noise_sd: float

    def described(self) -> dict[str, Any]:
        """What the owner said of its arms, without what a form adds."""
        return {name: getattr(self, name) for name in ArmCatalogue.__struct_fields__}

    def arms(self) -> tuple[Floats, Floats | None]:
        """The vectors, and their graph's eigenvalues if there are some."""
        vectors = np.frombuffer(self.vectors, "<f8").reshape(self.k, self.d).astype(np.float64)
        if not self.eigenvalues:
            return vectors, None
        return vectors, np.frombuffer(self.eigenvalues, "<f8").astype(np.float64)

    def check(self, thetas: int) -> None:
        """Refuse malformed arms, or other than d parts of theta, before anything is computed."""
        sizes = (len(self.vectors), thetas, len(self.eigenvalues))
        if (
            not (2 <= self.k < MOST_ARMS and 1 <= self.d < 1 << 20)
            or sizes[:2] != (8 * self.k * self.d, self.d)
            or sizes[2] not in (0, 8 * self.d)
            or not _usable(self.vectors)
            or not _usable(self.eigenvalues)
            or not 0 <= self.noise_sd < 2.0**64
        ):
            raise ProtocolError(
                f"owner sent a malformed model of {self.k} arms in {self.d} dimensions: its data "
                "is damaged, or it runs another version"
            )


def _usable(numbers: bytes) -> bool:
    # nan fails the comparison too.
    return bool(np.all(np.abs(np.frombuffer(numbers, "<f8")) <= LARGEST_COORDINATE))
