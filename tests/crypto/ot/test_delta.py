"""The difference of labels."""

import numpy as np
import pytest

from lotor.core.errors import CryptoError
from lotor.crypto.ot import Delta


@pytest.mark.parametrize("run", ["a", "b", "c", "d", "e", "f"])
def test_the_lowest_bit_is_1(run: str) -> None:
    delta = Delta.derive(bytes(32), run)
    assert int(delta.words[0]) & 1 == 1
    assert delta.bits[0] == 1
    assert np.array_equal(np.packbits(delta.bits, bitorder="little"), delta.words.view(np.uint8))


def test_known_answer() -> None:
    words = Delta.derive(bytes(range(32)), "run").words
    assert [f"{int(word):016x}" for word in words] == KNOWN


KNOWN = ["241b7c77a0c1877d", "7badf0e4e5a015a0"]


def test_each_run_and_each_key_has_its_own() -> None:
    keys = (bytes(32), bytes(31) + b"\1")
    made = {Delta.derive(key, run).words.tobytes() for key in keys for run in ("1", "2")}
    assert len(made) == 4


def test_it_cannot_be_changed_nor_read_from_a_repr() -> None:
    delta = Delta.derive(bytes(32), "run")
    assert repr(delta) == "<Delta>"
    with pytest.raises(ValueError, match="read-only"):
        delta.words[0] = 1


def test_bad_arguments() -> None:
    with pytest.raises(CryptoError, match="32 bytes, not 16"):
        Delta.derive(bytes(16), "run")
    with pytest.raises(CryptoError, match="lowest bit is 1"):
        Delta(np.array([2, 1], np.uint64))
    with pytest.raises(CryptoError, match="two words"):
        Delta(np.array([1], np.uint64))
