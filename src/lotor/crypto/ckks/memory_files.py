"""Bytes through SEAL's save and load, which only take the path of a file.

On Linux the file is in memory and has no name; elsewhere it is a private temporary file.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lotor.core.errors import CryptoError, FormatError
from lotor.crypto.ckks.binding import Loaded, Saved, SealContext


def saved(item: Saved) -> bytes:
    """What SEAL writes for this object."""
    with _private_file() as path:
        try:
            item.save(path)
        except (ValueError, RuntimeError) as error:
            raise CryptoError(
                f"SEAL could not write a key or ciphertext: {error}; is memory or the disk full?"
            ) from None
        return Path(path).read_bytes()


def load(item: Loaded, context: SealContext, data: bytes | memoryview) -> None:
    """Let SEAL read what it wrote, checked against the parameters of the context."""
    with _private_file() as path:
        Path(path).write_bytes(data)
        try:
            item.load(context, path)
        except (ValueError, RuntimeError) as error:
            raise FormatError(
                f"SEAL cannot read these bytes: {error}; they were altered, or made with other "
                "parameters; ask their sender for them again"
            ) from None


@contextmanager
def _private_file() -> Iterator[str]:
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        descriptor = os.memfd_create("lotor-ckks", os.MFD_CLOEXEC)
        try:
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        # Its directory is readable by its owner only.
        with tempfile.TemporaryDirectory(prefix="lotor-ckks-") as directory:
            yield str(Path(directory) / "item")
