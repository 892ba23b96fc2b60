"""Products are those of integer arithmetic modulo 2^59, for all numbers there are."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.bfv.keys import MODULUS, expected, key, maker_of, uniform
from lotor.core.errors import InputError
from lotor.crypto.bfv import MESSAGE_BYTES, SLOTS, ProductKey, ProductMaker
from lotor.crypto.bfv.noise import Words
from lotor.crypto.seal.binding import seal

EXTREMES = [0, 1, MODULUS // 2 - 1, MODULUS // 2, MODULUS // 2 + 1, MODULUS - 1]
numbers = st.one_of(st.sampled_from(EXTREMES), st.integers(0, MODULUS - 1))


def filled(values: list[int], count: int) -> Words:
    """These numbers again and again."""
    return np.resize(np.array(values, dtype=np.uint64), count)


@settings(max_examples=12, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=6), st.data())
def test_products_are_exact(b_values: list[int], data: st.DataObject) -> None:
    b = np.array(b_values, dtype=np.uint64)
    several = st.lists(numbers, min_size=1, max_size=9)
    u = np.stack([filled(data.draw(several), SLOTS) for _ in b_values])
    v = filled(data.draw(several), SLOTS)
    message = maker_of(b).message(u, v)
    assert len(message) == MESSAGE_BYTES
    assert (key().read(message) == expected(u, b, v)).all()


@pytest.mark.parametrize("number", EXTREMES)
def test_products_of_extremes(number: int) -> None:
    """All of U, V and b alike: the most that a sum can be."""
    b, u = filled([number], 3), filled([number], 3 * SLOTS).reshape(3, SLOTS)
    assert (key().read(maker_of(b).message(u, u[0])) == expected(u, b, u[0])).all()


def test_random_numbers_in_every_place() -> None:
    b, u, v = uniform(4), uniform(4, SLOTS), uniform(SLOTS)
    assert (key().read(maker_of(b).message(u, v)) == expected(u, b, v)).all()


def test_a_key_from_disk_reads_on() -> None:
    b, u, v = uniform(2), uniform(2, SLOTS), uniform(SLOTS)
    again = ProductKey.from_bytes(key().to_bytes())
    assert again.fingerprint == key().fingerprint
    assert again.public == key().public
    assert (again.read(maker_of(b).message(u, v)) == expected(u, b, v)).all()
    maker = ProductMaker(key().public, again.encrypted(b))
    assert (key().read(maker.message(u, v)) == expected(u, b, v)).all()


@pytest.mark.parametrize(
    ("b", "reason"),
    [
        (np.array([1, MODULUS], dtype=np.uint64), "2\\^59 or larger"),
        (np.array([2**64 - 1], dtype=np.uint64), "2\\^59 or larger"),
        (np.array([1, 2]), "uint64"),
        (np.array([1.0]), "uint64"),
        (np.array([], dtype=np.uint64), "not empty"),
        (np.zeros((2, 2), dtype=np.uint64), "vector"),
    ],
)
def test_what_cannot_be_encrypted(b: Words, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        key().encrypted(b)


def test_what_cannot_be_multiplied() -> None:
    maker, u, v = maker_of(uniform(2)), uniform(2, SLOTS), uniform(SLOTS)
    large = u.copy()
    large[1, 5] = MODULUS
    wrong: list[tuple[Words, Words]] = [
        (u[:1], v),
        (u[0], v),
        (u[:, 1:], v),
        (u.T, v),
        (u, v[1:]),
        (u, u),
        (u.astype(np.int64), v),
        (large, v),
        (u, large[1]),
    ]
    for rows, mask in wrong:
        with pytest.raises(InputError):
            maker.message(rows, mask)
    with pytest.raises(InputError, match="no encrypted numbers"):
        ProductMaker(key().public, [])


def test_no_secret_is_shown_or_pickled() -> None:
    maker = maker_of(uniform(1))
    assert repr(key()) == f"<ProductKey {key().fingerprint}>"
    assert repr(maker) == f"<ProductMaker of 1 numbers under key {key().fingerprint}>"
    for item in (key(), maker):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(item)
        with pytest.raises(TypeError, match="not pickled"):
            copy.copy(item)


def test_a_missing_package_names_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("lotor.crypto.seal.binding.import_module", missing)
    data = key().to_bytes()
    seal.cache_clear()
    try:
        with pytest.raises(InputError, match="pip install tenseal"):
            ProductKey.generate()
        with pytest.raises(InputError, match="pip install tenseal"):
            ProductKey.from_bytes(data)
    finally:
        seal.cache_clear()


def test_a_build_that_writes_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than sending a message of another width."""
    maker, u, v = maker_of(uniform(1)), uniform(1, SLOTS), uniform(SLOTS)
    monkeypatch.setattr("lotor.crypto.bfv.products._MESSAGE_PART", 1000)
    with pytest.raises(Exception, match="install the package tenseal anew"):
        maker.message(u, v)
