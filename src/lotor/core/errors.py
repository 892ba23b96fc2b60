"""Every error that Lotor raises on purpose.

    LotorError
    ├── InputError            what the caller passed cannot be used
    │   ├── TooLongError      the features of all parties together are longer than 1
    │   ├── ConfigError       a party's kit or party.toml cannot be used
    │   ├── PolicyError       the policy does not fit the protocol, or computes unusable scores
    │   ├── DataError         a data file is missing, altered or malformed
    │   └── UnknownRunError   no run of this party has that id
    ├── CryptoError
    │   ├── CertificateError  a certificate that is foreign, expired, revoked or somebody else's
    │   ├── IntegrityError    a ciphertext or signature is not what its key holder made
    │   ├── KeyMismatchError  made under another key
    │   ├── LevelsExhaustedError  a computation needs more levels than a ciphertext has left
    │   └── FormatError       serialised bytes or JSON that are not what they should be
    ├── ProtocolError         a peer sent what the protocol does not allow here
    │   └── VersionError      a peer or a journal speaks another version
    ├── TransportError        a connection could not be made, or was refused
    ├── JournalError          a journal is damaged, in use, or older than what its peers know
    │   └── JournalWriteError nothing can be written to it
    ├── RunEndedError         a run ended before its result
    │   ├── ConsentError      a party did not consent to it
    │   ├── StoppedError      somebody stopped it
    │   └── MissingPartyError members of a run could not be found in time
    ├── PullError             the environment could not answer a pull
    │   └── OutOfDataError    a log has no more outcomes for it
    ├── StalledError          every party waits and nobody can go on
    └── StudyError            a study lost the processes or the nodes that ran it

A message says what happened, the likely cause and the next step, and never a secret.
"""


class LotorError(Exception):
    """Base of everything that Lotor raises on purpose."""


class InputError(LotorError, ValueError):
    """What the caller passed cannot be used."""


class TooLongError(InputError):
    """The features of all parties together are longer than 1."""


class ConfigError(InputError):
    """A party's kit or party.toml cannot be used."""


class PolicyError(InputError):
    """The policy does not fit the protocol, or computes unusable scores."""


class DataError(InputError):
    """A data file is missing, altered or malformed."""


class UnknownRunError(InputError):
    """No run of this party has that id."""


class CryptoError(LotorError):
    """A cryptographic operation was refused."""


class CertificateError(CryptoError):
    """A certificate that is foreign, expired, revoked or somebody else's."""


class IntegrityError(CryptoError):
    """A ciphertext or signature is not what its key holder made."""


class KeyMismatchError(CryptoError):
    """Made under another key."""


class LevelsExhaustedError(CryptoError):
    """A computation needs more levels than a ciphertext has left."""


class FormatError(CryptoError):
    """Serialised bytes or JSON that are not what they should be."""


class ProtocolError(LotorError):
    """A peer sent what the protocol does not allow here."""


class VersionError(ProtocolError):
    """A peer or a journal speaks another version."""


class TransportError(LotorError):
    """A connection could not be made, or was refused."""


class JournalError(LotorError):
    """A journal is damaged, in use, or older than what its peers know."""


class JournalWriteError(JournalError):
    """Nothing can be written to a journal."""


class RunEndedError(LotorError):
    """A run ended before its result."""


class ConsentError(RunEndedError):
    """A party did not consent to the run."""


class StoppedError(RunEndedError):
    """Somebody stopped the run."""


class MissingPartyError(RunEndedError):
    """Members of a run could not be found in time."""


class PullError(LotorError):
    """The environment could not answer a pull."""


class OutOfDataError(PullError):
    """A log has no more outcomes for a pull; `lotor.run` ends the run there."""


class StalledError(LotorError):
    """Every party waits and nobody can go on."""


class StudyError(LotorError):
    """A study lost the processes or the nodes that ran it."""
