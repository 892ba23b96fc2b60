"""Every error that Lotor raises on purpose.

    LotorError
    ├── InputError            what the caller passed cannot be used
    │   ├── PolicyError       the policy does not fit the protocol, or computes unusable scores
    │   └── DataError         a data file is missing, altered or malformed
    ├── CryptoError
    │   ├── IntegrityError    a ciphertext or signature is not what its key holder made
    │   ├── KeyMismatchError  made under another key
    │   └── FormatError       serialised bytes or JSON that are not what they should be
    ├── ProtocolError         a peer sent what the protocol does not allow here
    ├── PullError             the environment could not answer a pull
    └── StalledError          every party waits and nobody can go on

A message says what happened, the likely cause and the next step, and never a secret.
"""


class LotorError(Exception):
    """Base of everything that Lotor raises on purpose."""


class InputError(LotorError, ValueError):
    """What the caller passed cannot be used."""


class PolicyError(InputError):
    """The policy does not fit the protocol, or computes unusable scores."""


class DataError(InputError):
    """A data file is missing, altered or malformed."""


class CryptoError(LotorError):
    """A cryptographic operation was refused."""


class IntegrityError(CryptoError):
    """A ciphertext or signature is not what its key holder made."""


class KeyMismatchError(CryptoError):
    """Made under another key."""


class FormatError(CryptoError):
    """Serialised bytes or JSON that are not what they should be."""


class ProtocolError(LotorError):
    """A peer sent what the protocol does not allow here."""


class PullError(LotorError):
    """The environment could not answer a pull."""


class StalledError(LotorError):
    """Every party waits and nobody can go on."""
