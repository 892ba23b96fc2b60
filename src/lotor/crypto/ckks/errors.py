"""What only computing on CKKS ciphertexts can run into."""

from lotor.core.errors import CryptoError


class LevelsExhaustedError(CryptoError):
    """A computation needs more levels than a ciphertext has left."""


class InsecureParametersWarning(UserWarning):
    """A parameter set that protects nothing is in use."""
