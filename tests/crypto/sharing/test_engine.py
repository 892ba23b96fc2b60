"""Masks, and items that are used once."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from crypto.sharing.table import (
    KEYS,
    arrays,
    few_dims,
    run,
    seeds,
    shared,
    shared_bits,
    traced,
)
from lotor.core.errors import CryptoError
from lotor.crypto.sharing import (
    Bits,
    Circuit,
    Engine,
    PadCipher,
    Pads,
    ServerEngine,
    Shared,
    SharedBits,
    Tally,
    Words,
    argmax,
    mask,
    mask_bits,
    moved,
    moved_bits,
    reveal,
    reveal_bits,
    settled,
    truncate,
)
from lotor.crypto.sharing.boolean import bit_offset


@given(arrays(few_dims), seeds)
def test_opened_to_both(x: Words, seed: int) -> None:
    np.testing.assert_array_equal(run(lambda _, x: reveal(x), shared(x, seed)).value, x)
    assert traced(lambda _, x: reveal(x), shared(x)).items == ()


@given(hnp.arrays(np.uint16, few_dims))
def test_bits_opened_to_both(x: Bits) -> None:
    np.testing.assert_array_equal(run(lambda _, x: reveal_bits(x), shared_bits(x)).value, x)


@given(arrays(few_dims), seeds)
def test_masked_and_moved(x: Words, seed: int) -> None:
    def circuit(engine: Engine, x: Shared) -> Circuit[Any]:
        whole = yield from mask(engine, x)
        cut = yield from truncate(engine, x, 9)
        backwards = (moved(engine, value, lambda v: v[::-1]) for value in (whole, -cut + 5))
        ends = (whole, -cut + 5, *backwards)
        return tuple(settled(engine, value) for value in ends)

    back, cut, turned, cut_turned = run(circuit, shared(x, seed)).value
    np.testing.assert_array_equal(back, x)
    np.testing.assert_array_equal(turned, x[::-1])
    np.testing.assert_array_equal(cut_turned, cut[::-1])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
@given(x=arrays(few_dims))
def test_masked_bits_moved(dtype: type[np.unsignedinteger], x: Words) -> None:
    bits = x.astype(dtype)

    def circuit(engine: Engine, x: SharedBits) -> Circuit[SharedBits]:
        masked = yield from mask_bits(engine, x)
        turned = moved_bits(engine, masked, lambda v: v[::-1])
        share = bit_offset(turned)
        return SharedBits(share ^ turned.public if engine.first else share, first=engine.first)

    np.testing.assert_array_equal(run(circuit, shared_bits(bits)).value, bits[::-1])


@given(arrays(few_dims))
def test_what_is_public_is_shared(x: Words) -> None:
    def circuit(engine: Engine) -> Circuit[tuple[Shared, SharedBits]]:
        yield from ()
        return engine.shared(x), engine.shared_bits(x.astype(np.uint8))

    words, bits = run(circuit).value
    np.testing.assert_array_equal(words, x)
    np.testing.assert_array_equal(bits, x.astype(np.uint8))


def test_too_few_corrections_are_refused() -> None:
    x = shared(np.arange(5, dtype=np.uint64))
    run(argmax, x)
    with pytest.raises(CryptoError, match="corrections are used up: no item is ever used twice"):
        run(argmax, x, short_corrections=1)


def test_too_few_pads_are_refused() -> None:
    with pytest.raises(CryptoError, match="pads are used up"):
        run(argmax, shared(np.arange(5, dtype=np.uint64)), short_pads=8)


def test_a_second_server_without_any_corrections_is_still_the_second() -> None:
    assert not ServerEngine(Pads(PadCipher(KEYS[0]), 0, t=0, attempt=0, circuit=0), b"").first
    assert ServerEngine(Pads(PadCipher(KEYS[0]), 0, t=0, attempt=0, circuit=0)).first


def test_no_secret_is_shown() -> None:
    def circuit(engine: Engine, x: Shared) -> Circuit[Any]:
        masked = yield from truncate(engine, x, 4)
        drawn = engine.uniform((1,), np.dtype(np.uint64), xor=False)
        return (masked, *masked.terms, drawn, Tally(drawn.share, first=True)), settled(
            engine, masked
        )

    done = run(circuit, shared(np.array([3], np.uint64)))
    digits = {str(int(share[0])) for known in done.secrets for share in known}
    assert len(digits) == 8
    for result in done.results:
        shown = repr(result)
        assert not any(digit in shown for digit in digits)
