"""A parameter set made ready in SEAL: encoding and decoding at every level."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError, LevelsExhaustedError
from lotor.crypto.ckks.parameters import Parameters
from lotor.crypto.seal.binding import SealCiphertext, SealPlaintext, refusals, seal
from lotor.crypto.seal.context import level_ids, seal_context
from lotor.crypto.seal.rings import LARGEST_MODULUS

Values: TypeAlias = float | Sequence[float] | NDArray[np.float64] | NDArray[np.complex128]
"""One number for all slots, or one for each of the first slots; the others become zero."""


class Context:
    """SEAL's view of a parameter set; `context_of` makes one for each set."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        library = seal()
        self.seal = seal_context(
            library.SCHEME_TYPE.CKKS, parameters.degree, parameters.primes, _security(parameters)
        )
        self.encoder = library.CKKSEncoder(self.seal)
        self.evaluator = library.Evaluator(self.seal)
        self.ids = level_ids(self.seal)

    def level_of(self, ciphertext: SealCiphertext) -> int:
        return self.parameters.levels + 1 - ciphertext.coeff_modulus_size()

    def encode(self, values: Values, level: int, scale: float | None = None) -> SealPlaintext:
        """The values at a level, at that level's own scale unless another is given."""
        self.check_level(level)
        listed = self._listed(values)
        scale = self.parameters.scales[level] if scale is None else scale
        if not (math.isfinite(scale) and scale > 0):
            raise InputError(f"scale={scale}: a scale is a positive number")
        plain = seal().Plaintext()
        with refusals:
            self.encoder.encode(listed, self.ids[level], scale, plain)
        return plain

    def check_level(self, level: int) -> None:
        if not 0 <= level <= self.parameters.levels:
            raise LevelsExhaustedError(
                f"level {level} does not exist: these parameters have levels 0 to "
                f"{self.parameters.levels}; take a set with more levels"
            )

    def _listed(self, values: Values) -> list[float] | list[complex] | float:
        array = np.asarray(values)
        if array.dtype.kind not in "fiuc" or array.ndim > 1 or array.size == 0:
            raise InputError("encode takes one number or a vector of numbers")
        if array.size > self.parameters.slots:
            raise InputError(
                f"{array.size} values do not fit into the {self.parameters.slots} slots of a "
                "ciphertext: spread them over several"
            )
        if not np.isfinite(array).all():
            raise InputError("a value to encode is infinite or not a number: check the input")
        if array.ndim == 0 and array.dtype.kind != "c":
            return float(array)
        if array.dtype.kind == "c":
            listed: list[complex] = np.atleast_1d(array).astype(np.complex128).tolist()
            return listed
        return list(array.astype(np.float64).tolist())

    def decode(self, plain: SealPlaintext) -> NDArray[np.float64]:
        """The real parts in all slots."""
        return np.array(self.encoder.decode_double(plain))

    def decode_complex(self, plain: SealPlaintext) -> NDArray[np.complex128]:
        return np.array(self.encoder.decode_complex(plain))


def _security(parameters: Parameters) -> object:
    """What SEAL shall check; nothing for a set whose `insecure` says why it is used."""
    kinds = seal().SEC_LEVEL_TYPE
    if parameters.bits > LARGEST_MODULUS[parameters.degree][parameters.security]:
        return kinds.NONE
    return {128: kinds.TC128, 192: kinds.TC192, 256: kinds.TC256}[parameters.security]


@lru_cache(maxsize=4)
def context_of(parameters: Parameters) -> Context:
    """The one context of a parameter set in this process."""
    return Context(parameters)
