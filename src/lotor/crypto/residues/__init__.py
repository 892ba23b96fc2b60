"""Whole numbers modulo a product of 61-bit primes: as words of 64 bits, and in small matrices."""

from lotor.crypto.residues.folding import RESIDUE_BITS, WORD_DISTANCE
from lotor.crypto.residues.matrices import Inverse, determinant, inverted, multiplied
from lotor.crypto.residues.modulus import Modulus, Numbers, Residues
from lotor.crypto.residues.source import ResidueSource

__all__ = [
    "RESIDUE_BITS",
    "WORD_DISTANCE",
    "Inverse",
    "Modulus",
    "Numbers",
    "ResidueSource",
    "Residues",
    "determinant",
    "inverted",
    "multiplied",
]
