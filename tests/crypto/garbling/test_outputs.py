"""Colours and tags of outputs."""

import numpy as np
import pytest
from numpy.typing import NDArray

from crypto.garbling.parties import DELTA, PLACE, key
from lotor.core.errors import IntegrityError
from lotor.crypto.garbling import (
    LabelSource,
    OutputCodes,
    OutputSigns,
    Purpose,
    chosen,
    codes_of,
    colours,
    opened,
    signs_of,
    tweaks,
)

KEY = key(Purpose.OUTPUTS)
ZEROS = LabelSource(bytes(32)).zeros(0, 0, 0, (5, 4))
BITS = np.random.default_rng(1).integers(0, 2, (5, 4)).astype(np.uint8)
CODES = codes_of(KEY, PLACE, ZEROS, DELTA)
SIGNS = signs_of(KEY, PLACE, chosen(ZEROS, BITS, DELTA))


def test_both_parts_give_the_bits() -> None:
    assert np.array_equal(opened(CODES, SIGNS), BITS)
    assert CODES.tags.shape == (2, 5, 4)
    assert SIGNS.tags.shape == SIGNS.colours.shape == CODES.colours.shape == (5, 4)
    assert np.array_equal(CODES.colours, colours(ZEROS))


def test_the_tags_of_one_circuit_alone() -> None:
    for j in range(4):
        alone = signs_of(
            KEY,
            PLACE._replace(round=PLACE.round + j),
            chosen(ZEROS, BITS, DELTA)[:, j : j + 1],
        )
        assert np.array_equal(alone.tags[:, 0], SIGNS.tags[:, j])
        assert opened(CODES.of(j), alone)[:, 0].tolist() == BITS[:, j].tolist()


def test_tags_are_the_second_words_of_hashes() -> None:
    hashes = KEY.hashed(ZEROS.reshape(-1, 2), tweaks(PLACE, 5, 4))
    assert np.array_equal(CODES.tags[0].ravel(), hashes[:, 1])


def test_all_tags_differ() -> None:
    assert len(np.unique(CODES.tags)) == 40
    other = codes_of(key(Purpose.GARBLING), PLACE, ZEROS, DELTA)
    assert not np.isin(other.tags, CODES.tags).any()


@pytest.mark.parametrize("output", range(5))
def test_a_changed_colour_or_tag_is_noticed(output: int) -> None:
    def changed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        altered = values.copy()
        altered[output, 1] ^= altered.dtype.type(1)
        return altered

    wrong = [
        (CODES, OutputSigns(changed(SIGNS.colours), SIGNS.tags)),  # type: ignore[arg-type]
        (CODES, OutputSigns(SIGNS.colours, changed(SIGNS.tags))),
        (OutputCodes(changed(CODES.colours), CODES.tags), SIGNS),  # type: ignore[arg-type]
        (OutputCodes(CODES.colours, CODES.tags[::-1]), SIGNS),
    ]
    for codes, signs in wrong:
        with pytest.raises(IntegrityError, match="tag does not belong to its bit"):
            opened(codes, signs)


def test_one_output_by_itself() -> None:
    """What an owner of one output is sent."""
    for i in range(5):
        codes = OutputCodes(CODES.colours[i, 2], CODES.tags[:, i, 2])
        assert opened(codes, OutputSigns(SIGNS.colours[i, 2], SIGNS.tags[i, 2])) == BITS[i, 2]


def test_reprs_tell_nothing() -> None:
    assert repr(CODES) == "<OutputCodes of (5, 4) outputs>"
    assert repr(SIGNS) == "<OutputSigns of (5, 4) outputs>"
