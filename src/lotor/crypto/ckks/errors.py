"""What only computing on CKKS ciphertexts can warn of."""


class InsecureParametersWarning(UserWarning):
    """A parameter set that protects nothing is in use."""
