"""Parameter sets are secure, exact and named by what both sides must share."""

import math
import warnings
from fractions import Fraction

import gmpy2
import pytest

from crypto.ckks.small import exact_below, parameters
from lotor.core.errors import InputError
from lotor.crypto.ckks import (
    LARGEST_MODULUS,
    PARAMETER_SETS,
    InsecureParametersWarning,
    Parameters,
    named_parameters,
    parameters_for,
)
from lotor.crypto.ckks.context import Context, context_of
from lotor.crypto.seal.binding import seal


@pytest.mark.parametrize("name", PARAMETER_SETS)
def test_named_sets_are_as_secure_as_they_say(name: str) -> None:
    chosen = named_parameters(name)
    assert str(chosen.security) in name
    assert math.prod(chosen.primes).bit_length() <= LARGEST_MODULUS[chosen.degree][chosen.security]
    assert sum(prime.bit_length() for prime in chosen.primes) == chosen.bits


def test_the_table_is_the_one_that_seal_uses() -> None:
    library = seal()
    kinds = library.SEC_LEVEL_TYPE
    for degree, most in LARGEST_MODULUS.items():
        for security, kind in ((128, kinds.TC128), (192, kinds.TC192), (256, kinds.TC256)):
            found = library.CoeffModulus.MaxBitCount(degree, kind)  # type: ignore[attr-defined]
            assert found == most[security]


@pytest.mark.parametrize("security", [128, 192, 256])
def test_seal_accepts_what_is_secure_and_checks_it_at_that_level(security: int) -> None:
    context = Context(Parameters(2, 30, security))
    assert context.seal.parameters_set()
    assert context.parameters.degree == (8192 if security == 128 else 16384)
    assert len(context.ids) == 3


def test_seal_refuses_what_only_we_would_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    weak = parameters(2)
    monkeypatch.setitem(LARGEST_MODULUS, 1024, {128: 999, 192: 999, 256: 999})
    with pytest.raises(Exception, match="SEAL refuses"):
        Context(weak)


def test_primes_are_distinct_and_fit_the_ring() -> None:
    chosen = named_parameters("deep-128")
    assert len(set(chosen.primes)) == chosen.levels + 2
    for prime, bits in zip(chosen.primes, chosen.prime_bits, strict=True):
        assert gmpy2.is_prime(prime)
        assert prime % (2 * chosen.degree) == 1
        assert prime.bit_length() == bits


@pytest.mark.parametrize("name", PARAMETER_SETS)
def test_products_land_exactly_on_the_next_scale(name: str) -> None:
    chosen = named_parameters(name)
    assert len(chosen.scales) == chosen.levels + 1
    assert chosen.scales[-1] == 2.0**chosen.scale_bits
    for level in range(chosen.levels):
        landed = Fraction(chosen.scales[level]) ** 2 / chosen.dropped_prime(level)
        assert abs(landed / Fraction(chosen.scales[level + 1]) - 1) < 1e-15


@pytest.mark.parametrize(
    "chosen",
    [
        *map(named_parameters, PARAMETER_SETS),
        *map(parameters_for, range(1, 21)),
        *map(parameters, range(1, 13)),
    ],
    ids=lambda chosen: f"{chosen.levels} levels of {chosen.scale_bits} bits",
)
def test_values_up_to_a_thousand_are_read_without_loss_at_any_level(chosen: Parameters) -> None:
    for level in range(chosen.levels):
        assert exact_below(chosen, level) > 1000 * chosen.scales[level]


def test_fingerprints_tell_parameters_apart_and_are_stable() -> None:
    prints = {named_parameters(name).fingerprint for name in PARAMETER_SETS}
    assert len(prints) == len(PARAMETER_SETS)
    assert Parameters(2, 40).fingerprint == Parameters(2, 40).fingerprint
    assert Parameters(2, 40).fingerprint == "847b4b9ca0e6f9a02bcb8d63d23dd376"
    assert Parameters(2, 40).fingerprint != Parameters(2, 41).fingerprint


@pytest.mark.parametrize(
    ("levels", "scale_bits", "security", "degree"),
    [(20, 40, 128, 0), (12, 44, 192, 0), (9, 44, 256, 0), (4, 40, 128, 8192)],
)
def test_too_many_levels_are_refused_with_what_would_fit(
    levels: int, scale_bits: int, security: int, degree: int
) -> None:
    with pytest.raises(InputError, match="take fewer levels") as refusal:
        Parameters(levels, scale_bits, security, degree)
    assert f"{levels} levels" in str(refusal.value)


def test_the_number_of_levels_it_names_fits() -> None:
    for security in (128, 192, 256):
        most = Parameters(1, 40, security).most_levels()
        assert Parameters(most, 40, security).degree == 32768
        with pytest.raises(InputError, match=f"at most {most} of that size"):
            Parameters(most + 1, 40, security)


def test_an_insecure_set_needs_a_reason_and_warns() -> None:
    with pytest.raises(InputError):
        Parameters(4, 40, degree=1024)
    with pytest.warns(InsecureParametersWarning, match="a lesson"):
        Parameters(4, 40, degree=1024, insecure="a lesson")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Parameters(2, 40, insecure="a reason that is not needed")


@pytest.mark.parametrize(
    "values",
    [
        {"levels": 0},
        {"security": 100},
        {"scale_bits": 61},
        {"scale_bits": 10},
        {"degree": 1000},
        {"degree": 65536},
        {"first_bits": 40},
        {"first_bits": 55, "special_bits": 50},
    ],
)
def test_impossible_sizes_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(InputError):
        Parameters(**{"levels": 2, "scale_bits": 40, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize("security", [128, 192, 256])
@pytest.mark.parametrize("levels", [1, 6, 9])
def test_the_finest_primes_that_fit(levels: int, security: int) -> None:
    found = parameters_for(levels, security)
    assert (found.levels, found.security) == (levels, security)
    if found.scale_bits < 48:
        with pytest.raises(InputError, match="take fewer levels"):
            Parameters(levels, found.scale_bits + 1, security)


def test_what_no_ring_can_do_is_refused_with_what_one_can() -> None:
    with pytest.raises(InputError, match="at most 25 fit"):
        parameters_for(26)
    # 42 + 25·30 + 60 = 852 of 881 bits.
    assert parameters_for(25).scale_bits >= 30
    with pytest.raises(InputError):
        parameters_for(0)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="standard-128"):
        named_parameters("standard-80")


def test_there_are_only_so_many_small_primes() -> None:
    with pytest.raises(InputError, match="take larger ones"):
        parameters(60, scale_bits=20, degree=32768)


def test_one_context_for_equal_parameters() -> None:
    assert context_of(parameters(3)) is context_of(parameters(3))
