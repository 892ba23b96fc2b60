"""The parts of SEAL that are used here, with types; SEAL itself is imported on first use.

SEAL saves to files and loads from files only. On Linux the file is in memory and has no name;
elsewhere it is a private temporary file.

Reference: Microsoft SEAL 4 (https://github.com/microsoft/SEAL), through `tenseal.sealapi`.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, cast, overload

from lotor.core.errors import CryptoError, FormatError, InputError

ParmsId = list[int]


class SealWritable(Protocol):
    """What SEAL can write to a file."""

    def save(self, path: str, /) -> None: ...


class SealReadable(SealWritable, Protocol):
    """What SEAL can read from a file."""

    def load(self, context: "SealContext", path: str, /) -> None: ...


class SealPlaintext(SealReadable, Protocol):
    scale: float

    def coeff_count(self) -> int: ...
    def __getitem__(self, place: int, /) -> int: ...


class SealCiphertext(SealReadable, Protocol):
    scale: float

    def coeff_modulus_size(self) -> int: ...
    def size(self) -> int: ...
    def is_ntt_form(self) -> bool: ...
    def is_transparent(self) -> bool: ...


class SealKey(SealReadable, Protocol):
    """A secret or a public key."""


class SealKeySwitchKeys(SealReadable, Protocol):
    """Relinearisation or Galois keys."""

    def has_key(self, element: int, /) -> bool: ...


class ContextData(Protocol):
    def parms_id(self) -> ParmsId: ...
    def next_context_data(self) -> "ContextData | None": ...


class SealContext(Protocol):
    def parameters_set(self) -> bool: ...
    def parameters_error_message(self) -> str: ...
    def first_context_data(self) -> ContextData: ...


class KeyGenerator(Protocol):
    def secret_key(self) -> SealKey: ...
    def create_public_key(self, key: SealKey, /) -> None: ...
    def create_relin_keys(self) -> SealWritable: ...
    def create_galois_keys(self, elements: list[int], /) -> SealWritable: ...


class Encryptor(Protocol):
    def encrypt(self, plain: SealPlaintext, out: SealCiphertext, /) -> None: ...
    @overload
    def encrypt_symmetric(self, plain: SealPlaintext, /) -> SealWritable: ...
    @overload
    def encrypt_symmetric(self, plain: SealPlaintext, out: SealCiphertext, /) -> None: ...
    def encrypt_zero(self, level: ParmsId, out: SealCiphertext, /) -> None: ...


class Decryptor(Protocol):
    def decrypt(self, source: SealCiphertext, out: SealPlaintext, /) -> None: ...


class Encoder(Protocol):
    def encode(
        self,
        values: list[float] | list[complex] | float,
        level: ParmsId,
        scale: float,
        out: SealPlaintext,
        /,
    ) -> None: ...
    def decode_double(self, plain: SealPlaintext, /) -> list[float]: ...
    def decode_complex(self, plain: SealPlaintext, /) -> list[complex]: ...


_C = SealCiphertext


class SealEvaluator(Protocol):
    def add(self, a: _C, b: _C, out: _C, /) -> None: ...
    def add_inplace(self, a: _C, b: _C, /) -> None: ...
    def sub(self, a: _C, b: _C, out: _C, /) -> None: ...
    def sub_inplace(self, a: _C, b: _C, /) -> None: ...
    def negate(self, a: _C, out: _C, /) -> None: ...
    def negate_inplace(self, a: _C, /) -> None: ...
    def multiply(self, a: _C, b: _C, out: _C, /) -> None: ...
    def square(self, a: _C, out: _C, /) -> None: ...
    def add_plain(self, a: _C, b: SealPlaintext, out: _C, /) -> None: ...
    def multiply_plain(self, a: _C, b: SealPlaintext, out: _C, /) -> None: ...
    def transform_to_ntt(self, a: SealPlaintext, level: ParmsId, out: SealPlaintext, /) -> None: ...
    def transform_to_ntt_inplace(self, a: _C, /) -> None: ...
    def transform_from_ntt_inplace(self, a: _C, /) -> None: ...
    def relinearize_inplace(self, a: _C, keys: SealKeySwitchKeys, /) -> None: ...
    def rescale_to_next(self, a: _C, out: _C, /) -> None: ...
    def mod_switch_to(self, a: _C, level: ParmsId, out: _C, /) -> None: ...
    def rotate_vector(self, a: _C, step: int, keys: SealKeySwitchKeys, out: _C, /) -> None: ...


class SealSettings(Protocol):
    def set_poly_modulus_degree(self, degree: int, /) -> None: ...
    def set_coeff_modulus(self, primes: Sequence[object], /) -> None: ...
    def set_plain_modulus(self, modulus: int, /) -> None: ...


class SchemeTypes(Protocol):
    BFV: object
    CKKS: object


class SecurityLevels(Protocol):
    NONE: object
    TC128: object
    TC192: object
    TC256: object


class Seal(Protocol):
    """The classes of SEAL as the module offers them."""

    SCHEME_TYPE: SchemeTypes
    SEC_LEVEL_TYPE: SecurityLevels
    EncryptionParameters: Callable[[object], SealSettings]
    Modulus: Callable[[int], object]
    SEALContext: Callable[[SealSettings, bool, object], SealContext]
    KeyGenerator: Callable[..., KeyGenerator]
    Encryptor: Callable[[SealContext, SealKey], Encryptor]
    Decryptor: Callable[[SealContext, SealKey], Decryptor]
    Evaluator: Callable[[SealContext], SealEvaluator]
    CKKSEncoder: Callable[[SealContext], Encoder]
    Plaintext: Callable[[], SealPlaintext]
    Ciphertext: Callable[[], SealCiphertext]
    SecretKey: Callable[[], SealKey]
    PublicKey: Callable[[], SealKey]
    RelinKeys: Callable[[], SealKeySwitchKeys]
    GaloisKeys: Callable[[], SealKeySwitchKeys]


@cache
def seal() -> Seal:
    """SEAL's module; an error that names the package when it is missing."""
    try:
        return cast(Seal, import_module("tenseal.sealapi"))
    except ImportError as error:
        raise InputError(
            "computing on lattice ciphertexts needs the package tenseal (0.3.16 or newer), which "
            "cannot be imported here: run 'pip install tenseal'; it has wheels for Linux, macOS "
            "and Windows"
        ) from error


# What SEAL's C++ exceptions become: invalid_argument, out_of_range, logic_error, runtime_error.
_REFUSED: Final = (ValueError, IndexError, RuntimeError)
# An altered object may also name a size that no memory holds.
_UNREADABLE: Final = (*_REFUSED, OverflowError, MemoryError)


class _Refusals(AbstractContextManager[None]):
    """Turns what SEAL raises into an error of ours."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, _REFUSED):
            raise CryptoError(
                f"SEAL refused an operation: {error}; a result that does not depend on any "
                "secret ('transparent': x - x, or a product with zero) and values too large for "
                "the level are the usual causes"
            ) from None


refusals: Final = _Refusals()


def result_of(operation: Callable[..., None], *inputs: object) -> SealCiphertext:
    """The ciphertext that an operation of SEAL writes to its last parameter."""
    out = seal().Ciphertext()
    with refusals:
        operation(*inputs, out)
    return out


def saved(item: SealWritable) -> bytes:
    """What SEAL writes for this object."""
    with _private_file() as path:
        try:
            item.save(path)
        except _REFUSED as error:
            raise CryptoError(
                f"SEAL could not write a key or ciphertext: {error}; is memory or the disk full?"
            ) from None
        return Path(path).read_bytes()


def load(item: SealReadable, context: SealContext, data: bytes | memoryview) -> None:
    """Let SEAL read what it wrote, checked against the parameters of the context."""
    with _private_file() as path:
        Path(path).write_bytes(data)
        try:
            item.load(context, path)
        except _UNREADABLE as error:
            raise FormatError(
                f"SEAL cannot read these bytes: {error}; they were altered, or made with other "
                "parameters; ask their sender for them again"
            ) from None


@contextmanager
def _private_file() -> Iterator[str]:
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        descriptor = os.memfd_create("lotor-seal", os.MFD_CLOEXEC)
        try:
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        # Its directory is readable by its owner only.
        with tempfile.TemporaryDirectory(prefix="lotor-seal-") as directory:
            yield str(Path(directory) / "item")
