"""Places and widths of what the shared form exchanges."""

from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct

from lotor.core.errors import CryptoError, ProtocolError

WORD_BYTES = 8
_PLACE = Struct(">Q")


def round_place(t: int) -> bytes:
    """After t pulls."""
    return _PLACE.pack(t)


def row_bytes(k: int, d: int) -> int:
    """How long u - U of all arms is."""
    return WORD_BYTES * k * d


def share_bytes(k: int) -> int:
    """How long the shares of all scores are."""
    return WORD_BYTES * k


@contextmanager
def received_from(sender: str) -> Iterator[None]:
    """Let errors about keys, ciphertexts and products name who sent them."""
    try:
        yield
    except CryptoError as error:
        raise ProtocolError(
            f"{sender} sent something that cannot be used: {error}; start a new run"
        ) from None
