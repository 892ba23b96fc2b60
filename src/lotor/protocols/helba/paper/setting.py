"""From the terms, all that every party derives from them: the parameter set and the circuit.

A run that does not fit is refused here, before any key is made, with what would fit.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Final

from msgspec.structs import replace

from lotor.core.errors import InputError
from lotor.crypto.ckks import InsecureParametersWarning, Parameters
from lotor.protocols.helba.paper.bounds import ROOM, PublicBounds
from lotor.protocols.helba.paper.index_circuit import (
    LEAST_SCALE_BITS,
    IndexCircuit,
    SlotPacking,
    scale_bits_for,
)
from lotor.protocols.helba.paper.plane import PlaneCircuit
from lotor.protocols.helba.paper.quadratic import QuadraticCircuit
from lotor.protocols.helba.paper.root import RootCircuit
from lotor.protocols.helba.terms import LEAST_STAGES, HelbaTerms

# What a refusal suggests to reduce, in this order, and down to which number.
_CHANGES: Final = {"stages": LEAST_STAGES, "arms": 2, "budget": 1, "d": 2}
_IN_WORDS: Final = {
    "stages": "{} stages",
    "budget": "a budget of {}",
    "arms": "{} arms",
    "d": "d = {}",
}


@dataclass(frozen=True)
class HelbaSetting:
    """The terms of a run, and how it is computed."""

    terms: HelbaTerms

    @classmethod
    def of(cls, terms: HelbaTerms) -> "HelbaSetting":
        """Refuses terms that no run can keep, and those that do not fit."""
        terms.check()
        bits = scale_bits(terms)
        if bits < LEAST_SCALE_BITS:
            raise InputError(_refusal(terms))
        setting = cls(terms)
        setting._check_numbers()
        return setting

    def _check_numbers(self) -> None:
        """Refuse numbers out of range, and errors that could reverse a comparison."""
        try:
            errors = [self.circuit.arithmetic_error(t, t) for t in (1, self.terms.budget)]
        except (ArithmeticError, ValueError):
            errors = [inf]
        # nan fails the comparison, too.
        if not all(0 <= error <= ROOM for error in errors):
            raise InputError(
                f"with these L, S, sigma, delta, ridge and {self.terms.stages} stages encrypted "
                f"numbers would be off by {max(errors):.2g} of the largest difference of indices, "
                f"and {ROOM:g} is the most: scale contexts so that L²/ridge is smaller, or take "
                "fewer stages or rounds"
            )

    @cached_property
    def parameters(self) -> Parameters:
        terms = self.terms
        sizes = (levels_of(terms), scale_bits(terms), terms.security)
        if not terms.insecure_degree:
            return Parameters(*sizes)
        with warnings.catch_warnings():
            # `Helba` has warned already, once.
            warnings.simplefilter("ignore", InsecureParametersWarning)
            return Parameters(*sizes, degree=terms.insecure_degree, insecure="insecure_degree")

    @cached_property
    def circuit(self) -> IndexCircuit:
        return circuit_of(self.terms)(self.terms, self.parameters)

    @property
    def bounds(self) -> PublicBounds:
        return self.circuit.bounds

    @property
    def packing(self) -> SlotPacking:
        return self.circuit.packing


def circuit_of(terms: HelbaTerms) -> type[IndexCircuit]:
    """The circuit that computes the index of these terms."""
    if terms.learner.index == "sqrt":
        return RootCircuit
    return PlaneCircuit if PlaneCircuit.suits(terms) else QuadraticCircuit


def levels_of(terms: HelbaTerms) -> int:
    """How many levels the terms need."""
    return circuit_of(terms).levels_for(terms)


def scale_bits(terms: HelbaTerms) -> int:
    """The size of the largest primes with which they fit at the security that is asked for."""
    return scale_bits_for(levels_of(terms), terms.security)


def _refusal(terms: HelbaTerms) -> str:
    levels, bits = levels_of(terms), scale_bits(terms)
    text = (
        f"d={terms.d}, {terms.arms} arms, {terms.budget} rounds and {terms.stages} stages need "
        f"{levels} levels, which leaves primes of {bits} bits at {terms.security}-bit security, "
        f"and fewer than {LEAST_SCALE_BITS} are too coarse: "
    )
    found = [_IN_WORDS[name].format(value) for name, value in _fitting(terms).items()]
    smaller = " or ".join(found) or "fewer of each, or less security"
    return f"{text}take {smaller}, or the form shared, which has no levels"


def _fitting(terms: HelbaTerms) -> dict[str, int]:
    """For each number the largest with which the rest would fit."""
    fitting = {}
    for name, least in _CHANGES.items():
        low, high = least, getattr(terms, name)
        if not _fits(terms, name, low):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _fits(terms, name, middle) else (low, middle)
        fitting[name] = low
    return fitting


def _fits(terms: HelbaTerms, name: str, value: int) -> bool:
    return scale_bits(replace(terms, **{name: value})) >= LEAST_SCALE_BITS
