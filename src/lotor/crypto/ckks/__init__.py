"""CKKS: computing on encrypted vectors of real or complex numbers, approximately, on SEAL.

    >>> import numpy as np
    >>> secret = SecretKey.generate(Parameters(levels=2, scale_bits=40))
    >>> keys = secret.evaluation_keys(rotations=[1])
    >>> server = Evaluator(EvaluationKeys.from_bytes(keys, secret.parameters, secret.fingerprint))
    >>> x = Encrypted(server, secret.public.encrypt([0.5, -2.0]))
    >>> y = x * (x + 1.0) + x.rotate(1)
    >>> answer = flood(y.ciphertext, secret.public, sigma=2.0**-20)
    >>> secret.decrypt(answer)[:2].round(3).tolist()
    [-1.25, 2.0]

Users hold the secret key; a server holds evaluation keys and reads nothing. Levels, scales,
relinearisation and rescaling are looked after by `Evaluator`; `Encrypted` makes its operations
read like formulas. A computation that needs more levels than are left is refused before it starts.

What is not protected: whoever holds the secret key reads everything under it; anybody can turn a
ciphertext into another valid one, so authenticate the channel or pass a `mac_key`; a decrypted
result must not go back to a server in clear, not even rounded, because its error tells about the
secret key; running times are not constant.

Reference: J. H. Cheon, A. Kim, M. Kim and Y. Song, Homomorphic encryption for arithmetic of
approximate numbers, ASIACRYPT 2017; B. Li and D. Micciancio, On the security of homomorphic
encryption on approximate numbers, EUROCRYPT 2021.
"""

from lotor.crypto.ckks.adjugate import ADJUGATE_LEVELS, adjugate
from lotor.crypto.ckks.argmax import PairLayout, levels_of_argmax, winners
from lotor.crypto.ckks.chebyshev import ChebyshevSeries, fit, square_root
from lotor.crypto.ckks.ciphertext import Ciphertext
from lotor.crypto.ckks.evaluator import Evaluator
from lotor.crypto.ckks.flooding import flood
from lotor.crypto.ckks.formulas import Encrypted, dot
from lotor.crypto.ckks.keys import EvaluationKeys, PublicKey, SecretKey
from lotor.crypto.ckks.matrices import (
    NewtonPlan,
    SymmetricMatrix,
    inverse,
    newton_plan,
    upper_places,
)
from lotor.crypto.ckks.parameters import (
    PARAMETER_SETS,
    InsecureParametersWarning,
    Parameters,
    named_parameters,
    parameters_for,
)
from lotor.crypto.ckks.refresh import Mask, add_mask, encrypt_again, take_mask_off
from lotor.crypto.ckks.sign import SignPolynomial, sign_polynomial
from lotor.crypto.seal.rings import LARGEST_MODULUS

__all__ = [
    "ADJUGATE_LEVELS",
    "LARGEST_MODULUS",
    "PARAMETER_SETS",
    "ChebyshevSeries",
    "Ciphertext",
    "Encrypted",
    "EvaluationKeys",
    "Evaluator",
    "InsecureParametersWarning",
    "Mask",
    "NewtonPlan",
    "PairLayout",
    "Parameters",
    "PublicKey",
    "SecretKey",
    "SignPolynomial",
    "SymmetricMatrix",
    "add_mask",
    "adjugate",
    "dot",
    "encrypt_again",
    "fit",
    "flood",
    "inverse",
    "levels_of_argmax",
    "named_parameters",
    "newton_plan",
    "parameters_for",
    "sign_polynomial",
    "square_root",
    "take_mask_off",
    "upper_places",
    "winners",
]
