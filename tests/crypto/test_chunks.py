"""Chunks open in their places, under their key and with their header, or not at all."""

import io
import os
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import IntegrityError
from lotor.crypto.aead import OVERHEAD
from lotor.crypto.chunks import open_chunks, seal_chunks

KEY, HEADER, SIZE = bytes(range(32)), b"a header", 16


def sealed(pieces: Sequence[bytes]) -> list[bytes]:
    return list(seal_chunks(KEY, HEADER, pieces, SIZE))


def opened(data: bytes, key: bytes = KEY, header: bytes = HEADER) -> bytes:
    return b"".join(open_chunks(key, header, io.BytesIO(data).read, SIZE))


@given(pieces=st.lists(st.binary(max_size=40), max_size=6))
def test_what_was_sealed_is_opened(pieces: list[bytes]) -> None:
    chunks, whole = sealed(pieces), b"".join(pieces)
    assert opened(b"".join(chunks)) == whole
    assert {len(chunk) for chunk in chunks[:-1]} <= {SIZE + OVERHEAD}
    assert len(chunks) == max(1, -(-len(whole) // SIZE))


LONG = bytes(range(100))


@given(data=st.data())
@settings(max_examples=60)
def test_anything_else_is_refused(data: st.DataObject) -> None:
    chunks = sealed([LONG])
    whole = b"".join(chunks)
    how = data.draw(st.sampled_from(["cut", "swap", "repeat", "leave out", "flip", "add"]))
    at = data.draw(st.integers(0, len(chunks) - 1))
    other = data.draw(st.integers(0, len(chunks) - 1).filter(lambda one: one != at))
    if how == "cut":
        bad = whole[: data.draw(st.integers(0, len(whole) - 1))]
    elif how == "swap":
        chunks[at], chunks[other] = chunks[other], chunks[at]
        bad = b"".join(chunks)
    elif how == "repeat":
        bad = b"".join([*chunks[: at + 1], chunks[at], *chunks[at + 1 :]])
    elif how == "leave out":
        bad = b"".join([*chunks[:at], *chunks[at + 1 :]])
    elif how == "flip":
        place = data.draw(st.integers(0, len(whole) - 1))
        bad = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    else:
        bad = whole + data.draw(st.binary(min_size=1, max_size=80))
    with pytest.raises(IntegrityError):
        opened(bad)


def test_chunks_of_other_data_are_refused() -> None:
    """The same key and header must not be used twice; if they are, places are still bound."""
    whole = b"".join(sealed([LONG]))
    with pytest.raises(IntegrityError):
        opened(whole, key=os.urandom(32))
    with pytest.raises(IntegrityError):
        opened(whole, header=b"another header")
    with pytest.raises(IntegrityError):
        opened(b"")
