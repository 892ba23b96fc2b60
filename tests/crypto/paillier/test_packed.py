"""Packed inner products equal plain integers, are always fresh, and refuse what they must."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypto.paillier.fixed_keys import fixed_key
from lotor.core.errors import CryptoError, FormatError, InputError, IntegrityError, KeyMismatchError
from lotor.crypto.paillier import (
    Ciphertext,
    PackedDotProducts,
    PackedLayout,
    PrivateKey,
    Randomisers,
    generate_keypair,
    unpack,
)
from lotor.crypto.workers import Workers

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

THETA = [3, -(2**20), 0]
U = np.array([[5, -1, 7], [-(2**31), 2**31 - 1, 1]], dtype=np.int64)
C = [2**60, 2**60]


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return fixed_key(512)


def encrypt(key: PrivateKey, theta: list[int]) -> list[Ciphertext]:
    return [key.public.encrypt(number) for number in theta]


def decrypt(key: PrivateKey, layout: PackedLayout, message: bytes) -> list[int]:
    ciphertexts = layout.read(message, key.public)
    plaintexts = key.decrypt_batch(ciphertexts, plaintext_bits=layout.plaintext_bits)
    assert plaintexts == key.decrypt_batch(ciphertexts)
    return layout.unpack(plaintexts)


@st.composite
def cases(
    draw: st.DrawFn, slot_bits: int
) -> tuple[list[int], NDArray[np.int64], list[int], list[int]]:
    """theta, u, c and the slots' values, which reach both ends of a slot."""
    d, count = draw(st.integers(1, 4)), draw(st.integers(1, 17))
    number = st.integers(-(2**31), 2**31 - 1) | st.sampled_from([-(2**31), 2**31 - 1, 0])
    # |<u, theta>| <= 4·2^31·2^(slot_bits-36) < 2^(slot_bits-2)
    coordinate = st.integers(-(2 ** (slot_bits - 36)), 2 ** (slot_bits - 36))
    theta = draw(st.lists(coordinate, min_size=d, max_size=d))
    rows = draw(st.lists(st.lists(number, min_size=d, max_size=d), min_size=count, max_size=count))
    dots = [sum(a * b for a, b in zip(row, theta, strict=True)) for row in rows]
    largest = 2**slot_bits - 1
    # c too must lie in a slot; the value is at one end of its slot or anywhere between.
    addends = []
    for dot in dots:
        low, high = max(0, -dot), min(largest, largest - dot)
        addends.append(draw(st.sampled_from([low, high]) | st.integers(low, high)))
    values = [dot + addend for dot, addend in zip(dots, addends, strict=True)]
    return theta, np.array(rows, dtype=np.int64), addends, values


@pytest.mark.parametrize(
    ("slot_bits", "rounds"), [(64, 1), (64, 30), (64, 100_000), (96, 1), (96, 30), (96, 1000)]
)
@settings(max_examples=12)
@given(data=st.data())
def test_slots_equal_plain_integers(
    key: PrivateKey, slot_bits: int, rounds: int, data: st.DataObject
) -> None:
    theta, u, c, values = data.draw(cases(slot_bits))
    # A million bytes keep the largest tables, which take long to build, out of a test.
    packed = PackedDotProducts(
        encrypt(key, theta), len(c), rounds=rounds, slot_bits=slot_bits, table_bytes=10**6
    )
    message = packed.compute(u, c)
    assert len(message) == packed.layout.message_bytes
    assert decrypt(key, packed.layout, message) == values


@pytest.mark.parametrize("bits", [2048, 3072])
def test_real_keys(bits: int) -> None:
    key = fixed_key(bits)
    count = 2 * PackedLayout(bits, 1).capacity - 3
    rng = np.random.default_rng(5)
    u = rng.integers(-(2**31), 2**31, (count, 2))
    c = np.full(count, 2**63, dtype=np.uint64)
    packed = PackedDotProducts(encrypt(key, [2**28, -77]), count, rounds=20)
    message = packed.compute(u, c, Randomisers(key.public, 0))
    plaintexts = key.decrypt_batch(packed.layout.read(message, key.public))
    expected = (u @ np.array([2**28, -77])).astype(np.uint64) + c
    assert (packed.layout.unpack_uint64(plaintexts) == expected).all()
    assert packed.layout.unpack(plaintexts) == expected.tolist()


def test_equal_inputs_give_unlike_messages(key: PrivateKey) -> None:
    packed = PackedDotProducts(encrypt(key, THETA), 2)
    randomisers = Randomisers(key.public, 300)
    messages = [packed.compute(U, C, source) for source in (None, None, randomisers, randomisers)]
    ciphertexts = [packed.layout.read(message, key.public)[0]._value for message in messages]
    assert len(set(ciphertexts)) == 4
    assert len({tuple(decrypt(key, packed.layout, message)) for message in messages}) == 1


def test_two_workers_give_the_same_numbers(key: PrivateKey) -> None:
    theta = encrypt(key, THETA)
    rng = np.random.default_rng(3)
    u, c = rng.integers(-(2**31), 2**31, (16, 3)), [2**62] * 16
    with Workers(3) as workers:
        for rounds in (1, 1000):
            alone = PackedDotProducts(theta, 16, rounds=rounds)
            packed = PackedDotProducts(theta, 16, rounds=rounds, workers=workers)
            assert packed.setup_seconds > 0
            for _ in range(2):
                message = packed.compute(u, c)
                expected = decrypt(key, packed.layout, alone.compute(u, c))
                assert decrypt(key, packed.layout, message) == expected
        assert workers.cpu_seconds > 0


def test_more_workers_than_work(key: PrivateKey) -> None:
    with Workers(2) as workers:
        packed = PackedDotProducts(encrypt(key, [4]), 1, workers=workers)
        message = packed.compute(np.array([[5]], dtype=np.int64), [1])
    assert decrypt(key, packed.layout, message) == [21]


def test_closing_ends_one_and_leaves_its_workers_to_others(key: PrivateKey) -> None:
    theta = encrypt(key, THETA)
    with Workers(2) as workers:
        first = PackedDotProducts(theta, 2, workers=workers)
        second = PackedDotProducts(theta, 2, workers=workers)
        first.close()
        with pytest.raises(CryptoError, match="are closed"):
            first.compute(U, C)
        message = second.compute(U, C)
    assert decrypt(key, second.layout, message)[0] == C[0] + 15 + 2**20


def test_products_are_counted_beside_the_least(key: PrivateKey) -> None:
    packed = PackedDotProducts(encrypt(fixed_key(2048), [1] * 20), 100, rounds=1)
    assert packed.least_products_per_round == 100 * 20 * 4 + 4 * (2112 // 8 + 3)
    assert packed.products_per_round >= 100 * 20 * packed.plan.digits
    few = PackedDotProducts(encrypt(key, THETA), 10, rounds=1)
    many = PackedDotProducts(encrypt(key, THETA), 10, rounds=10_000)
    assert many.products_per_round < few.products_per_round


@given(st.integers(128, 4096), st.integers(1, 3000), st.sampled_from([64, 96]))
def test_layouts_hold_every_number_once_in_the_fewest_plaintexts(
    bits: int, count: int, slot_bits: int
) -> None:
    layout = PackedLayout(bits, count, slot_bits)
    ranges = layout.ranges()
    assert len(ranges) == layout.ciphertexts == -(-count // ((bits - 1) // slot_bits))
    assert [i for first, last in ranges for i in range(first, last)] == list(range(count))
    assert max(last - first for first, last in ranges) == layout.slots <= layout.capacity


@given(st.sampled_from([64, 96]), st.data())
def test_unpack_undoes_pack(slot_bits: int, data: st.DataObject) -> None:
    number = st.integers(0, 2**slot_bits - 1) | st.just(2**slot_bits - 1)
    numbers = data.draw(st.lists(number, min_size=1, max_size=40))
    layout = PackedLayout(1024, len(numbers), slot_bits)
    plaintexts = layout.pack(numbers)
    assert layout.unpack(plaintexts) == numbers
    assert max(plaintexts) < 2**1023
    if slot_bits == 64:
        assert layout.unpack_uint64(plaintexts).tolist() == numbers


def test_a_plaintext_beyond_its_slots_is_refused() -> None:
    assert unpack(2**128 - 1, 2) == [2**64 - 1] * 2
    layout = PackedLayout(512, 1)
    for plaintext, attempt in product([2**64, 2**500], [layout.unpack, layout.unpack_uint64]):
        with pytest.raises(IntegrityError, match="does not fit in its 1 slots"):
            attempt([plaintext])


def test_wide_slots_have_no_uint64() -> None:
    with pytest.raises(InputError, match="use unpack"):
        PackedLayout(512, 1, 96).unpack_uint64([5])


def message_of(key: PrivateKey) -> tuple[PackedLayout, bytes]:
    packed = PackedDotProducts(encrypt(key, THETA), 2)
    return packed.layout, packed.compute(U, C)


def test_foreign_and_cut_messages_are_refused(key: PrivateKey) -> None:
    layout, message = message_of(key)
    foreign = generate_keypair(insecure_bits=512).public
    with pytest.raises(KeyMismatchError, match="under key"):
        layout.read(message, foreign)
    for data, public in ((message[:-1], key.public), (message + b"\0", key.public)):
        with pytest.raises(FormatError, match="packed message of 2 numbers takes"):
            layout.read(data, public)
    with pytest.raises(FormatError, match="packed message"):
        PackedLayout(512, 20).read(message, key.public)


def test_values_that_encryption_cannot_make_are_refused(key: PrivateKey) -> None:
    layout = PackedLayout(512, 20)
    n, square = int(key.public.n), int(key.public.n_squared)
    good = [int(key.public.encrypt(1)._value).to_bytes(128, "big") for _ in range(3)]
    head = bytes.fromhex(key.public.fingerprint)
    for bad in (0, n, 5 * n, int(key.p), int(key.q) * 3, square, square + 1, 2**1024 - 1):
        for place in range(3):
            numbers = [*good]
            numbers[place] = bad.to_bytes(128, "big")
            with pytest.raises(IntegrityError, match="not a ciphertext under key"):
                layout.read(head + b"".join(numbers), key.public)
    assert len(layout.read(head + b"".join(good), key.public)) == 3


def test_unusable_input_is_refused(key: PrivateKey) -> None:
    theta = encrypt(key, THETA)
    foreign = generate_keypair(insecure_bits=256).public.encrypt(1)
    with pytest.raises(KeyMismatchError, match="under key"):
        PackedDotProducts([*theta, foreign], 2)
    with pytest.raises(InputError, match="theta is empty"):
        PackedDotProducts([], 2)
    with pytest.raises(InputError, match="there must be a number"):
        PackedDotProducts(theta, 0)
    with pytest.raises(InputError, match="slot_bits=32"):
        PackedDotProducts(theta, 2, slot_bits=32)
    for u_bits in (1, 49):
        with pytest.raises(InputError, match="u_bits"):
            PackedDotProducts(theta, 2, u_bits=u_bits)
    packed = PackedDotProducts(theta, 2)
    unusable: list[Any] = [U[:1], U[:, :2], U.astype(np.float64), U.astype(np.int32)]
    for u in unusable:
        with pytest.raises(InputError, match="of shape"):
            packed.compute(u, C)
    for number in (2**31, -(2**31) - 1, 2**62):
        u = U.copy()
        u[1, 1] = number
        with pytest.raises(InputError, match="32 signed bits"):
            packed.compute(u, C)
    for c in ([1], [1, 2, 3]):
        with pytest.raises(InputError, match="pass them all"):
            packed.compute(U, c)
    for c in ([1, -1], [2**64, 1]):
        with pytest.raises(InputError, match="does not fit in a slot"):
            packed.compute(U, c)


def test_foreign_randomisers_are_refused(key: PrivateKey) -> None:
    packed = PackedDotProducts(encrypt(key, THETA), 2)
    foreign = Randomisers(generate_keypair(insecure_bits=256).public, 0)
    with pytest.raises(KeyMismatchError, match="randomisers"):
        packed.compute(U, C, foreign)
