"""Where the largest of some scores is, of which two parties have shares that add up.

The parties' sums are rebuilt inside the circuit, so that the result is exact: the first of equals
wins, and no score is rounded but as stated.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError
from lotor.crypto.garbling.arithmetic import add, add_with_carry, rebuilt
from lotor.crypto.garbling.circuit import BooleanCircuit, Shape
from lotor.crypto.garbling.gates import Gates, Wires
from lotor.crypto.garbling.labels import bits_of_integers
from lotor.crypto.garbling.roots import square_root
from lotor.crypto.garbling.tournament import argmax


class SumArgmaxCircuit(BooleanCircuit):
    """The first of the largest numbers, each the sum of two modulo 2^width.

    Numbers are unsigned: where they may be negative, one party adds the same 2^(width - 1) to all.
    Inputs are both summands, (width, places); the output is one-hot, (places,).

    >>> SumArgmaxCircuit(places=50, width=59)
    <SumArgmaxCircuit of 11268 AND gates on 104 levels>
    """

    __slots__ = ("places", "width")

    def __init__(self, places: int, width: int) -> None:
        _check_counts(places, width)
        self.places, self.width = places, width
        super().__init__(_argmax_of_sums, (width, places), (width, places))


class ResidueArgmaxCircuit(BooleanCircuit):
    """The first of the largest numbers, each the sum of two modulo a public number.

    The sums must be below 2^width, and so are not negative: where scores may be, one party adds
    the same number to all of its shares. Inputs are the evaluator's x, then the garbler's y and
    y - modulus as `summand_bits` gives them, all (bits of the modulus, places); the output is
    one-hot, (places,).

    >>> ResidueArgmaxCircuit(places=2, modulus=(2**61 - 1) * (2**61 - 31), width=100)
    <ResidueArgmaxCircuit of 1429 AND gates on 27 levels>
    """

    __slots__ = ("modulus", "places", "width")

    def __init__(self, places: int, modulus: int, width: int) -> None:
        _check_counts(places, width)
        self.places, self.modulus, self.width = places, modulus, width
        shape = _residues(places, modulus, width)
        super().__init__(partial(_argmax_of_residues, width=width), shape, shape, shape)


class RootArgmaxCircuit(BooleanCircuit):
    """The first of the largest scores (a >> drop) + isqrt(c >> 2 · drop).

    Each a and each c is the sum of two numbers modulo a public number, `modulus_a` or `modulus_c`;
    the sums must be below 2^a_width and 2^c_width, and so are not negative: where a may be, one
    party adds the same multiple of 2^drop to all of its shares. Inputs are the evaluator's x, the
    garbler's y and y - modulus as `summand_bits` gives them, for a and then for c; the output is
    one-hot, (places,).

    >>> RootArgmaxCircuit(2, (2**61 - 1) ** 2, (2**61 - 1) ** 3, a_width=95, c_width=149, drop=36)
    <RootArgmaxCircuit of 7094 AND gates on 308 levels>
    """

    __slots__ = ("a_width", "c_width", "drop", "modulus_a", "modulus_c", "places")

    def __init__(
        self,
        places: int,
        modulus_a: int,
        modulus_c: int,
        *,
        a_width: int,
        c_width: int,
        drop: int,
    ) -> None:
        _check_counts(places, a_width, c_width)
        if not (0 <= drop < a_width and 2 * drop < c_width):
            raise InputError(
                f"{drop} bits cannot be dropped of a number of {a_width} and twice as many of one "
                f"of {c_width}: at least one bit of each must be left"
            )
        self.places, self.modulus_a, self.modulus_c = places, modulus_a, modulus_c
        self.a_width, self.c_width, self.drop = a_width, c_width, drop
        a, c = _residues(places, modulus_a, a_width), _residues(places, modulus_c, c_width)
        formula = partial(_argmax_with_roots, a_width=a_width, c_width=c_width, drop=drop)
        super().__init__(formula, a, a, a, c, c, c)


def summand_bits(
    numbers: Sequence[int], modulus: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """What the garbler gives of its shares: their bits and those of each less the modulus.

    Both are (bits of the modulus, places); the second is modulo the next power of two.

    >>> [bits.T.tolist() for bits in summand_bits([3], modulus=5)]
    [[[1, 1, 0]], [[0, 1, 1]]]
    """
    width = residue_width(modulus)
    if not all(0 <= number < modulus for number in numbers):
        raise InputError(
            "a share is negative or not below the modulus: reduce shares modulo it first"
        )
    less = [number - modulus + (1 << width) for number in numbers]
    return bits_of_integers(numbers, width), bits_of_integers(less, width)


def residue_width(modulus: int) -> int:
    """How many bits numbers below a modulus have."""
    if modulus < 2:
        raise InputError(f"a modulus is at least 2, not {modulus}")
    return (modulus - 1).bit_length()


def _residues(places: int, modulus: int, width: int) -> Shape:
    bits = residue_width(modulus)
    if width > bits:
        raise InputError(
            f"sums of {width} bits do not fit below a modulus of {bits} bits: use a larger modulus"
        )
    return bits, places


def _check_counts(places: int, *widths: int) -> None:
    if places < 1 or min(widths) < 1:
        raise InputError(
            f"an argmax of {places} numbers of {' and '.join(map(str, widths))} bits: there must "
            "be at least one of each"
        )


def _argmax_of_sums(gates: Gates, x: Wires, y: Wires) -> Wires:
    return argmax(gates, add(gates, x, y))


def _argmax_of_residues(gates: Gates, x: Wires, y: Wires, y_less: Wires, *, width: int) -> Wires:
    return argmax(gates, rebuilt(gates, x, y, y_less, width))


def _argmax_with_roots(
    gates: Gates, *inputs: Wires, a_width: int, c_width: int, drop: int
) -> Wires:
    a_x, a_y, a_less, c_x, c_y, c_less = inputs
    a = rebuilt(gates, a_x, a_y, a_less, a_width)[drop:]
    c = rebuilt(gates, c_x, c_y, c_less, c_width)[2 * drop :]
    root = square_root(gates, c)
    bits = max(len(a), len(root))
    return argmax(gates, add_with_carry(gates, _extended(a, bits), _extended(root, bits)))


def _extended(x: Wires, bits: int) -> Wires:
    """The same numbers with zeros above."""
    zero = np.zeros_like(x[:1])
    return np.concatenate([x, *[zero] * (bits - len(x))])
