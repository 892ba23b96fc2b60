"""Several ciphertexts decrypted at once, by one thread or by several."""

import pytest

from crypto.paillier.fixed_keys import fixed_key
from lotor.core.errors import IntegrityError, KeyMismatchError
from lotor.crypto.paillier import Ciphertext, PrivateKey, generate_keypair
from lotor.crypto.workers import Workers

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return fixed_key(512)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("many", [0, 1, 2, 7])
def test_a_batch_equals_single_decryptions(key: PrivateKey, count: int, many: int) -> None:
    n = int(key.public.n)
    plaintexts = [5, -1, n // 2, -(n // 2), 0, 2**300, -(2**300)][:many]
    ciphertexts = [key.public.encrypt(m) for m in plaintexts]
    with Workers(count) as workers:
        assert key.decrypt_batch(ciphertexts, workers) == [m % n for m in plaintexts]
    assert [key.decrypt(ciphertext) for ciphertext in ciphertexts] == plaintexts


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("bits", [0, 64, 255, 256, 511])
def test_short_plaintexts_come_out_the_same(key: PrivateKey, count: int, bits: int) -> None:
    plaintexts = [0, 2**bits // 2, 2**bits - 1]
    ciphertexts = [
        key.public.encrypt(m if 2 * m < key.public.n else m - key.public.n) for m in plaintexts
    ]
    with Workers(count) as workers:
        assert key.decrypt_batch(ciphertexts, workers, plaintext_bits=bits) == plaintexts


def test_threads_are_counted(key: PrivateKey) -> None:
    ciphertexts = [key.public.encrypt(m) for m in range(50)]
    with Workers(2) as workers:
        key.decrypt_batch(ciphertexts, workers)
        assert workers.cpu_seconds > 0


def test_batches_refuse_foreign_and_impossible_ciphertexts(key: PrivateKey) -> None:
    good = key.public.encrypt(1)
    foreign = generate_keypair(insecure_bits=512).public.encrypt(1)
    with pytest.raises(KeyMismatchError, match="under key"):
        key.decrypt_batch([good, foreign])
    for value in (key.p, key.public.n, key.public.n_squared, -good._value):
        with pytest.raises(IntegrityError, match="not a ciphertext"):
            key.decrypt_batch([good, Ciphertext(key.public, value)])
