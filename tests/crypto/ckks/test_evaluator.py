"""Operations on ciphertexts give what numpy gives, at the levels and scales that they should."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.ckks.noisy import noisy, part_of_bound
from crypto.ckks.small import noise, parameters, small
from lotor.core.errors import CryptoError, InputError, LevelsExhaustedError
from lotor.crypto.ckks import (
    Encrypted,
    EvaluationKeys,
    Evaluator,
    SecretKey,
    dot,
    flood,
)
from lotor.crypto.ckks.flooding import complex_normal
from lotor.crypto.ckks.formulas import Array, rotate, sum_slots

KIT = small(5, (1, 2, 4, 8, 16))
SCALES = KIT.parameters.scales
# No formula of `check` adds up more than ten of them, or fifteen that are independent.
NEAR = 10 * noise(KIT.parameters)
U, V, W = KIT.draw(3, 3)
SLOTS = KIT.parameters.slots


def check(x: Encrypted, expected: Array, level: int) -> None:
    assert x.level == level
    assert np.max(np.abs(KIT.decrypt(x) - expected)) < NEAR


def test_sums_and_products() -> None:
    x, y = KIT.encrypt(U), KIT.encrypt(V)
    check(x + y, U + V, 0)
    check(x - y, U - V, 0)
    check(-x, -U, 0)
    check(x * y, U * V, 1)
    check(x * x, U * U, 1)
    check((x * y) * (x + y), U * V * (U + V), 2)


def test_public_values_on_either_side() -> None:
    x = KIT.encrypt(U)
    check(x + 0.5, U + 0.5, 0)
    check(0.5 + x, U + 0.5, 0)
    check(x - V, U - V, 0)
    check(V - x, V - U, 0)
    check(1 - x, 1 - U, 0)
    check(x * V, U * V, 1)
    check(V * x, U * V, 1)
    check(x * 0.3, 0.3 * U, 1)
    check(-2.5 * x, -2.5 * U, 1)


def test_small_whole_factors_are_free() -> None:
    x = KIT.encrypt(U)
    check(x * 1, U, 0)
    check(-1 * x, -U, 0)
    check(2 * x, 2 * U, 0)
    check(2.0 * x, 2 * U, 0)


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("second", range(4))
def test_operands_of_any_two_levels(first: int, second: int) -> None:
    x, y = KIT.encrypt(U, first), KIT.encrypt(V, second)
    lower = max(first, second)
    check(x + y, U + V, lower)
    check(x - y, U - V, lower)
    check(x * y, U * V, lower + 1)
    check(x * y + x, U * V + U, lower + 1)


def test_products_of_one_level_are_on_the_levels_own_scale() -> None:
    x = KIT.encrypt(U)
    for level in range(1, 6):
        x = x * x
        assert x.ciphertext.scale == SCALES[level]


def test_plain_products_repair_any_scale() -> None:
    x = KIT.encrypt(U, 1, 1.37e12)
    assert (x * 0.7).ciphertext.scale == SCALES[2]
    check(x * 0.7, 0.7 * U, 2)


def test_different_scales_at_one_level_cost_a_level() -> None:
    x, y = KIT.encrypt(U, 2), KIT.encrypt(V, 2, 1.37e12)
    check(x + y, U + V, 3)
    check(y - x, V - U, 3)


def test_scales_that_differ_by_rounding_only() -> None:
    x = KIT.encrypt(U)
    nearly = KIT.encrypt(V, 0, SCALES[0] * (1 + 2e-15))
    check(x + nearly, U + V, 0)
    check(dot([(x, x), (x, nearly)]), U * U + U * V, 1)


def test_sums_of_products_cost_one_relinearisation() -> None:
    server = Evaluator(KIT.server.keys)
    x, y, z = (Encrypted(server, KIT.secret.public.encrypt(v)) for v in (U, V, W))
    total = dot([(x, y), (y, z), (z, z)], [-1, 1, -1])
    check(total, -U * V + V * W - W * W, 1)
    assert server.totals() == {
        "multiply": 2,
        "square": 1,
        "add": 2,
        "relinearise": 1,
        "rescale": 1,
    }
    check(dot([(x, y)], [-1]), -U * V, 1)
    check(dot([(x, y), (x, z)], [-1, -1]), -U * V - U * W, 1)


def test_sums_of_products_over_levels_and_scales() -> None:
    x, y, z = KIT.encrypt(U, 0), KIT.encrypt(V, 1), KIT.encrypt(W, 3)
    check(dot([(x, y), (z, y), (x, x)]), U * V + W * V + U * U, 4)
    check(dot([(x, y), (z, z)]), U * V + W * W, 4)
    odd = KIT.encrypt(V, 3, 1.37e12)
    check(dot([(z, z), (odd, x)]), W * W + V * U, 4)
    with pytest.raises(CryptoError, match="different scales"):
        dot([(z, z), (odd, odd)])


def test_a_matching_scale_needs_no_other_work() -> None:
    """What a user encrypts for a product with an older ciphertext."""
    server = Evaluator(KIT.server.keys)
    old = Encrypted(server, KIT.secret.public.encrypt(U, 0))
    new = Encrypted(server, KIT.secret.public.encrypt(V, 1, SCALES[1] ** 2 / SCALES[0]))
    own = Encrypted(server, KIT.secret.public.encrypt(W, 1))
    check(dot([(new, old), (own, own)]), U * V + W * W, 2)
    assert "multiply_plain" not in server.totals()


def test_weighted_sums_land_where_they_are_wanted() -> None:
    x, y = KIT.encrypt(U, 0), KIT.encrypt(V, 2)
    terms = [(0.5, x.ciphertext), (W, y.ciphertext), (0.0, x.ciphertext)]
    for level, scale in ((3, None), (5, None), (4, 1.37e12)):
        total = KIT.server.weighted_sum(terms, -1.0, level=level, scale=scale)
        assert total.scale == (scale or SCALES[level])
        check(Encrypted(KIT.server, total), 0.5 * U + W * V - 1, level)
    with pytest.raises(InputError, match="cannot land"):
        KIT.server.weighted_sum(terms, level=2)


@pytest.mark.parametrize("zero", [0.0, np.zeros(3), 1e-14])
def test_products_with_zero_are_refused(zero: float | Array) -> None:
    with pytest.raises(InputError, match="public zeros"):
        KIT.encrypt(U) * zero


def test_a_difference_with_itself_is_refused() -> None:
    x = KIT.encrypt(U)
    with pytest.raises(CryptoError, match="transparent"):
        x - x


def test_sums_of_slots() -> None:
    x = KIT.encrypt(U)
    check(x.sum_slots(4), sum(np.roll(U, -i) for i in range(4)), 0)
    check(x.sum_slots(8, 4), sum(np.roll(U, -4 * i) for i in range(8)), 0)
    check(x.sum_slots(1), U, 0)
    for count, stride in ((3, 1), (0, 1), (4, 0)):
        with pytest.raises(InputError, match="power of two"):
            x.sum_slots(count, stride)


def test_arrays_rotate_the_same_way() -> None:
    check(rotate(KIT.encrypt(U), 4), rotate(U, 4), 0)
    check(sum_slots(KIT.encrypt(U), 8, 4), sum_slots(U, 8, 4), 0)
    assert np.allclose(sum_slots(U, 8, 4), sum(np.roll(U, -4 * i) for i in range(8)))


@pytest.mark.parametrize("level", [0, 2])
def test_what_a_rotation_adds(level: int) -> None:
    """Nearly always the same under one key, in the slots where it is most.

    There it is one complex normal number for each key, which exceeds t of its deviations with a
    chance of exp(-t^2): all ten are below 0.3 with a chance of 2e-11, and one above 6 with 2e-15.
    That holds where the first prime is as large as the special one. Where it is smaller, rounding
    adds more, which `noise` bounds.
    """
    known = parameters(5, first_bits=60)
    largest = []
    for _ in range(10):
        secret = SecretKey.generate(known)
        data = secret.evaluation_keys([4])
        server = Evaluator(EvaluationKeys.from_bytes(data, known, secret.fingerprint))
        x = secret.encrypt(U, level)
        before = secret.decrypt_complex(x)
        added = secret.decrypt_complex(server.rotate(x, 4)) - np.roll(before, -4)
        largest.append(np.abs(added).max() / known.rotation_deviation(level))
    assert 0.3 < max(largest) < 6


@settings(max_examples=25)
@given(st.data())
def test_any_formula_equals_its_twin(data: st.DataObject) -> None:
    """Random formulas on ciphertexts and on arrays, as deep as the levels allow."""
    server = Evaluator(KIT.server.keys)
    secret = [Encrypted(server, KIT.secret.public.encrypt(v)) for v in (U, V)]
    plain, bounds = [U, V], noisy(KIT.parameters, U, V)
    for _ in range(data.draw(st.integers(1, 8))):
        places = st.integers(0, len(secret) - 1)
        i, j = data.draw(places), data.draw(places)
        kind = data.draw(st.sampled_from("+-*cr"))
        needs = max(secret[i].level, secret[j].level) + 1
        a, b = np.abs(plain[i]).max(), np.abs(plain[j]).max()
        if needs > 5 or max(2 * a, 2 * b, a * b) > 999:
            continue  # only up to a thousand is there room at each level, see test_parameters.py
        if kind == "c":
            c = data.draw(st.floats(-2, 2).filter(lambda c: abs(c) > 1e-3))
            secret.append(secret[i] * c + 0.25)
            plain.append(plain[i] * c + 0.25)
            bounds.append(bounds[i] * c + 0.25)
        elif kind == "r":
            secret.append(secret[i].rotate(1))
            plain.append(np.roll(plain[i], -1))
            bounds.append(bounds[i].rotate(1))
        elif kind == "*":
            secret.append(secret[i] * secret[j] * 0.5 if needs < 5 else secret[i] * secret[j])
            plain.append(plain[i] * plain[j] * 0.5 if needs < 5 else plain[i] * plain[j])
            bounds.append(bounds[i] * bounds[j] * 0.5 if needs < 5 else bounds[i] * bounds[j])
        else:
            sign = 1 if kind == "+" else -1
            if np.ptp(plain[i] + sign * plain[j]) < 1e-9:
                continue  # SEAL refuses a result that depends on no secret, be it 0 or 0.25
            secret.append(secret[i] + secret[j] if sign > 0 else secret[i] - secret[j])
            plain.append(plain[i] + sign * plain[j])
            bounds.append(bounds[i] + sign * bounds[j])
    assert part_of_bound(KIT.decrypt(secret[-1]), plain[-1], bounds[-1]) < 1


@pytest.mark.parametrize(
    "name", ["_product", "_plain_product", "_lowered", "_rescaled", "_reduced"]
)
def test_levels_run_out_before_anything_is_computed(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("it computed something")

    last, top = KIT.encrypt(U, 5), KIT.encrypt(U, 0)
    monkeypatch.setattr(Evaluator, name, never)
    with pytest.raises(LevelsExhaustedError, match="has 0 of 5 left"):
        last * last
    with pytest.raises(LevelsExhaustedError):
        top * last
    with pytest.raises(LevelsExhaustedError):
        last * 0.5
    with pytest.raises(LevelsExhaustedError):
        dot([(top, top), (top, last)])
    with pytest.raises(LevelsExhaustedError):
        last + KIT.encrypt(U, 5, 1.37e12)
    with pytest.raises(LevelsExhaustedError):
        KIT.server.weighted_sum([(0.5, top.ciphertext)], level=6)


def test_dot_needs_pairs_and_signs_that_fit() -> None:
    x = KIT.encrypt(U).ciphertext
    for pairs, signs in (([], None), ([(x, x)], [2]), ([(x, x)], [1, 1])):
        with pytest.raises(InputError):
            KIT.server.dot(pairs, signs)


def test_counts_by_level() -> None:
    server = Evaluator(KIT.server.keys)
    x = Encrypted(server, KIT.secret.public.encrypt(U))
    (x * x * x).rotate(1)
    assert server.counts["square", 0] == server.counts["multiply", 1] == 1
    assert server.counts["relinearise", 0] == server.counts["relinearise", 1] == 1
    assert server.counts["rotate", 2] == 1
    assert server.totals()["rescale"] == 2


def test_flooding_adds_noise_of_the_size_asked_for_in_every_part() -> None:
    x = KIT.encrypt(U) * KIT.encrypt(V)
    sigma = 2.0**-6
    errors = np.concatenate(
        [
            KIT.secret.decrypt_complex(flood(x.ciphertext, KIT.secret.public, sigma)) - U * V
            for _ in range(20)
        ]
    )
    for part in (errors.real, errors.imag):
        # 10,240 normal numbers: seven standard deviations of their spread and mean.
        assert abs(part.std() / sigma - 1) < 0.05
        assert abs(part.mean()) < 0.07 * sigma
    assert abs(np.corrcoef(errors.real, errors.imag)[0, 1]) < 0.07


def test_flooding_is_fresh_and_keeps_level_and_scale() -> None:
    x = (KIT.encrypt(U) * KIT.encrypt(V)).ciphertext
    one, other = (flood(x, KIT.secret.public, 1e-3) for _ in range(2))
    assert (one.level, one.scale, one.key) == (x.level, x.scale, x.key)
    assert one.to_bytes() != other.to_bytes()
    for left, right in ((one, x), (one, other)):
        # SEAL refuses a difference of two ciphertexts that have their randomness in common.
        Encrypted(KIT.server, left) - Encrypted(KIT.server, right)


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf])
def test_flooding_without_noise_is_refused(sigma: float) -> None:
    with pytest.raises(InputError, match="positive standard deviation"):
        flood(KIT.encrypt(U).ciphertext, KIT.secret.public, sigma)


def test_flooding_under_another_key_is_refused() -> None:
    with pytest.raises(CryptoError, match="under key"):
        flood(KIT.encrypt(U).ciphertext, SecretKey.generate(KIT.parameters).public, 0.1)


def test_noise_is_normal() -> None:
    draws = complex_normal(200_000)
    parts = np.concatenate([draws.real, draws.imag])
    for quantile, value in ((0.5, 0.0), (0.8413, 1.0), (0.97725, 2.0), (0.99865, 3.0)):
        assert abs(np.mean(parts < value) - quantile) < 0.006
