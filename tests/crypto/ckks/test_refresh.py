"""A refreshed ciphertext has its values and new levels; the key holder sees noise."""

import itertools
import pickle

import numpy as np
import pytest

from crypto.ckks.small import noise, small
from lotor.core.errors import CryptoError, InputError, KeyMismatchError, LevelsExhaustedError
from lotor.crypto.ckks import (
    Encrypted,
    Mask,
    SecretKey,
    add_mask,
    encrypt_again,
    take_mask_off,
)

KIT = small(5, (1, 2, 4, 8, 16))
PUBLIC = KIT.secret.public
NOISE = noise(KIT.parameters)
VALUES = KIT.draw(6, low=-3, high=3)[0]


@pytest.mark.parametrize("level", [0, 2, 4])
@pytest.mark.parametrize("goal", [0, 1])
def test_values_survive_and_levels_come_back(level: int, goal: int) -> None:
    masked, mask = add_mask(PUBLIC.encrypt(VALUES, level), PUBLIC, 3.0)
    fresh = take_mask_off(encrypt_again(KIT.secret, masked, goal), mask)
    # That of the values, of the zero under the mask, and of the new encryption.
    assert fresh.level == goal
    assert np.max(np.abs(KIT.secret.decrypt(fresh) - VALUES)) < 3 * NOISE


def test_computing_goes_on_after_a_refresh() -> None:
    x = KIT.encrypt(VALUES, 3)
    aligned = KIT.server.align(x.ciphertext, 4, KIT.parameters.scales[0])
    masked, mask = add_mask(aligned, PUBLIC, 3.0)
    fresh = Encrypted(KIT.server, take_mask_off(encrypt_again(KIT.secret, masked), mask))
    assert fresh.ciphertext.scale == KIT.parameters.scales[0]
    # Four that are independent, hence twice, go into what is multiplied by 2·3 + 1; two come later.
    bound = (2 * 7 + 2) * NOISE
    assert np.max(np.abs(KIT.decrypt(fresh * fresh + fresh) - VALUES * (VALUES + 1))) < bound


def test_the_mask_fills_every_complex_slot_and_is_new_each_time() -> None:
    ciphertext = PUBLIC.encrypt(VALUES, 2)
    seen = [KIT.secret.decrypt_complex(add_mask(ciphertext, PUBLIC, 3.0)[0]) for _ in range(8)]
    width = 3.0 * 2.0**40
    for part in (np.real(seen), np.imag(seen)):
        # 4,096 uniform numbers.
        assert abs(part.std() / width - 3**-0.5) < 0.03
        assert np.max(np.abs(part)) < width * 1.001
        assert np.min(np.abs(part)) > 0
        assert abs(np.corrcoef(part[0], part[1])[0, 1]) < 0.3


def test_a_masked_ciphertext_has_randomness_of_its_own() -> None:
    ciphertext = PUBLIC.encrypt(VALUES, 2)
    one, other = (add_mask(ciphertext, PUBLIC, 3.0)[0] for _ in range(2))
    for left, right in ((one, ciphertext), (one, other)):
        # SEAL refuses a difference of two ciphertexts that have their randomness in common.
        Encrypted(KIT.server, left) - Encrypted(KIT.server, right)


def test_the_low_digits_are_hidden_as_well() -> None:
    """What is left beyond the double that the key holder decodes is noise, not the values."""
    masked, mask = add_mask(PUBLIC.encrypt(VALUES, 2), PUBLIC, 3.0)
    # Even to somebody who knew the largest part, the rest is 2^27 times as large as the values.
    rest = Encrypted(KIT.server, masked) - mask.parts[0]
    assert np.median(np.abs(KIT.secret.decrypt(rest.ciphertext))) > 2.0**25 * 3.0


def test_parts_overlap_by_forty_bits() -> None:
    _, mask = add_mask(PUBLIC.encrypt(VALUES, 2), PUBLIC, 3.0)
    sizes = [np.max(np.abs(part.real)) for part in mask.parts]
    for larger, smaller in itertools.pairwise(sizes):
        assert 2.0**-14 < smaller / larger < 2.0**-12
    # The steps of the last part are below what an encryption itself adds.
    assert sizes[-1] * 2.0**-53 * KIT.parameters.scales[2] < 1


def test_a_level_too_low_for_the_mask_is_refused() -> None:
    with pytest.raises(LevelsExhaustedError, match="one level earlier"):
        add_mask(PUBLIC.encrypt(VALUES, 5), PUBLIC, 3.0)


@pytest.mark.parametrize(("bound", "bits"), [(0.0, 40), (-1.0, 40), (np.inf, 40), (1.0, 39)])
def test_weak_masks_are_refused(bound: float, bits: int) -> None:
    with pytest.raises(InputError, match="at least 40 bits"):
        add_mask(PUBLIC.encrypt(VALUES), PUBLIC, bound, bits)


def test_foreign_keys_and_answers_are_refused() -> None:
    stranger = SecretKey.generate(KIT.parameters)
    with pytest.raises(KeyMismatchError):
        add_mask(stranger.public.encrypt(VALUES), PUBLIC, 3.0)
    masked, mask = add_mask(PUBLIC.encrypt(VALUES, 1), PUBLIC, 3.0)
    with pytest.raises(KeyMismatchError):
        encrypt_again(stranger, masked)
    with pytest.raises(CryptoError, match="mask again"):
        take_mask_off(PUBLIC.encrypt(VALUES, 0, 1.37e12), mask)


def test_a_mask_is_remembered_by_its_key() -> None:
    masked, mask = add_mask(PUBLIC.encrypt(VALUES, 2), PUBLIC, 3.0)
    again = Mask(mask.key, mask.width, mask.scale, mask.slots)
    assert all(np.array_equal(a, b) for a, b in zip(mask.parts, again.parts, strict=True))
    fresh = take_mask_off(encrypt_again(KIT.secret, masked), again)
    assert np.max(np.abs(KIT.secret.decrypt(fresh) - VALUES)) < 3 * NOISE
    _, another = add_mask(PUBLIC.encrypt(VALUES, 2), PUBLIC, 3.0)
    assert another.key != mask.key
    with pytest.raises(InputError, match="32 bytes, not 31"):
        Mask(mask.key[:-1], mask.width, mask.scale, mask.slots)


def test_a_mask_does_not_show() -> None:
    _, mask = add_mask(PUBLIC.encrypt(VALUES), PUBLIC, 3.0)
    assert repr(mask) == "<Mask>"
    with pytest.raises(TypeError):
        pickle.dumps(mask)
