import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import Prf

KEY = bytes(range(32))
places = st.tuples(st.integers(0, 255), st.integers(0, 2**48 - 2), st.integers(0, 255))


def test_fips_197_appendix_c3() -> None:
    """The block 00112233445566778899aabbccddeeff is label 0, l 0x11, t 0x2233…77, i 0x88…ff."""
    prf = Prf(KEY, [0x8899AABBCCDDEEFF])
    block = prf.blocks(0x00, t=0x223344556677, l=0x11)
    assert block.hex() == "8ea2b7ca516745bfeafc49904b496089"
    assert prf.integers(0x00, t=0x223344556677, l=0x11) == (0x8EA2B7CA516745BF,)


def test_rfc_5869_shape_of_derived_keys() -> None:
    first, second = derive_key(b"secret", "owner"), derive_key(b"secret", "coin")
    assert len(first) == 32
    assert first != second
    assert first == derive_key(b"secret", "owner")


@given(places, st.lists(st.integers(0, 2**32), min_size=1, max_size=8, unique=True))
def test_arms_alone_and_together_get_the_same_words(
    place: tuple[int, int, int], indices: list[int]
) -> None:
    label, t, l = place
    together = Prf(KEY, indices)
    alone = [Prf(KEY, [i]).integers(label, t, l)[0] for i in indices]
    assert together.integers(label, t, l) == tuple(alone)
    assert together.words(label, t, l).tolist() == alone


@given(
    st.integers(0, 255),
    st.integers(0, 255),
    st.lists(st.integers(0, 60), min_size=1, max_size=30),
    st.integers(2, 20),
)
def test_computing_ahead_changes_nothing(label: int, l: int, rounds: list[int], ahead: int) -> None:
    """Whatever the order in which rounds are asked for."""
    hasty, patient = Prf(KEY, [3, 1, 4], ahead=ahead), Prf(KEY, [3, 1, 4])
    for t in rounds:
        assert hasty.blocks(label, t, l) == patient.blocks(label, t, l)


@given(places, places)
def test_places_do_not_collide(a: tuple[int, int, int], b: tuple[int, int, int]) -> None:
    prf = Prf(KEY)
    assert (prf.blocks(*a) == prf.blocks(*b)) == (a == b)


def test_words_are_uniform() -> None:
    """Chi-square of the top four bits; the 99.99 % quantile at 15 degrees of freedom is 44.3."""
    words = Prf(KEY, range(20_000)).words(3, 1, 1)
    counts = np.bincount((words >> np.uint64(60)).astype(int), minlength=16)
    assert ((counts - 1250) ** 2 / 1250).sum() < 44.3


@pytest.mark.parametrize("place", [(256, 0, 0), (-1, 0, 0), (0, 2**48, 0), (0, 0, 256)])
def test_no_place_outside_the_block(place: tuple[int, int, int]) -> None:
    with pytest.raises(InputError, match="lie between 0 and 255"):
        Prf(KEY).blocks(*place)


def test_wrong_key_length_and_no_key_in_repr() -> None:
    with pytest.raises(InputError, match="32 bytes"):
        Prf(b"short")
    assert KEY.hex() not in repr(Prf(KEY))
