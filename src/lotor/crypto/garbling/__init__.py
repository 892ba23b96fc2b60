"""Garbled circuits: two parties compute on values that neither of them sees.

One garbles a circuit, ahead of time; the other evaluates it on labels, each of which stands for a
bit that it does not know. Circuits are functions that read like formulas.

The second of three numbers is the largest, and only who has both parts of the output learns it:

>>> import numpy as np
>>> from lotor.crypto.ot import Delta
>>> circuit = ArgmaxCircuit(places=3, width=8)
>>> delta, keys, place = Delta.derive(bytes(32), "run"), HashKeys(bytes(32)), Place(0, 0, 1)
>>> key, tag_key = keys.of(0, 0, Purpose.GARBLING), keys.of(0, 0, Purpose.OUTPUTS)
>>> zeros = LabelSource(bytes(32)).zeros(epoch=0, circuit=0, batch=0, shape=(8, 3, 1))
>>> garbled = Garbler(circuit, delta, batch=1).garble(key, place, zeros)
>>> numbers = np.array([[20], [30], [10]], np.uint64)
>>> labels = chosen(zeros, bits_of(numbers, width=8), delta)
>>> result = Evaluator(circuit).evaluate(key, place, garbled.tables[0].tobytes(), labels)
>>> codes = codes_of(tag_key, place, garbled.outputs, delta)
>>> opened(codes, signs_of(tag_key, place, result)).ravel().tolist()
[0, 1, 0]
"""

from lotor.crypto.garbling.arithmetic import (
    add,
    add_if,
    add_modulo,
    add_with_carry,
    constant,
    rebuilt,
    subtract,
    subtract_modulo,
    subtract_with_borrow,
)
from lotor.crypto.garbling.choice import ChoiceCircuit
from lotor.crypto.garbling.circuit import AND_BYTES, ArgmaxCircuit, BooleanCircuit
from lotor.crypto.garbling.comparison import equal, greater, less, select
from lotor.crypto.garbling.evaluator import Evaluator
from lotor.crypto.garbling.garbler import Garbled, Garbler
from lotor.crypto.garbling.gates import CountingGates, Gates, PlainGates, Wires
from lotor.crypto.garbling.labels import (
    InputOrder,
    LabelSource,
    bits_of,
    bits_of_integers,
    chosen,
    read_labels,
)
from lotor.crypto.garbling.outputs import (
    TAG_BYTES,
    OutputCodes,
    OutputSigns,
    codes_of,
    colours,
    opened,
    signs_of,
)
from lotor.crypto.garbling.reciprocal import ReciprocalCircuit
from lotor.crypto.garbling.roots import square_root
from lotor.crypto.garbling.shared_scores import (
    ResidueArgmaxCircuit,
    RootArgmaxCircuit,
    SumArgmaxCircuit,
    residue_width,
    summand_bits,
)
from lotor.crypto.garbling.tournament import argmax, maximum
from lotor.crypto.ot.hash import (
    LEAST_SECURITY_BITS,
    HashKey,
    HashKeys,
    Place,
    Purpose,
    check_security,
    security_bits,
    tweaks,
)

__all__ = [
    "AND_BYTES",
    "LEAST_SECURITY_BITS",
    "TAG_BYTES",
    "ArgmaxCircuit",
    "BooleanCircuit",
    "ChoiceCircuit",
    "CountingGates",
    "Evaluator",
    "Garbled",
    "Garbler",
    "Gates",
    "HashKey",
    "HashKeys",
    "InputOrder",
    "LabelSource",
    "OutputCodes",
    "OutputSigns",
    "Place",
    "PlainGates",
    "Purpose",
    "ReciprocalCircuit",
    "ResidueArgmaxCircuit",
    "RootArgmaxCircuit",
    "SumArgmaxCircuit",
    "Wires",
    "add",
    "add_if",
    "add_modulo",
    "add_with_carry",
    "argmax",
    "bits_of",
    "bits_of_integers",
    "check_security",
    "chosen",
    "codes_of",
    "colours",
    "constant",
    "equal",
    "greater",
    "less",
    "maximum",
    "opened",
    "read_labels",
    "rebuilt",
    "residue_width",
    "security_bits",
    "select",
    "signs_of",
    "square_root",
    "subtract",
    "subtract_modulo",
    "subtract_with_borrow",
    "summand_bits",
    "tweaks",
]
