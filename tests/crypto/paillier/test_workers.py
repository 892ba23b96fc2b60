"""Workers give what one would give, carry errors over, and leave nothing behind."""

import os
import threading
from pathlib import Path

import pytest

from crypto.paillier.fixed_keys import fixed_key
from crypto.paillier.shares_for_tests import Adder
from lotor.core.errors import CryptoError, InputError, IntegrityError, KeyMismatchError
from lotor.crypto.paillier import Ciphertext, PrivateKey, Workers, generate_keypair

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


@pytest.fixture
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


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
        with pytest.raises(IntegrityError, match="no ciphertext"):
            key.decrypt_batch([good, Ciphertext(key.public, value)])


def test_results_keep_their_order_and_errors_come_over() -> None:
    def square(number: int) -> int:
        if number == 13:
            raise IntegrityError("thirteen")
        return number * number

    for count in (1, 2, 5):
        with Workers(count) as workers:
            assert workers.map(square, range(11)) == [number**2 for number in range(11)]
            with pytest.raises(IntegrityError, match="thirteen"):
                workers.map(square, range(20))


def test_one_worker_is_the_calling_thread() -> None:
    with Workers(1) as workers:
        before = set(threading.enumerate())
        here = threading.get_ident()
        assert workers.map(lambda _: threading.get_ident(), [0, 1]) == [here, here]
        crew = workers.place(Adder, [b"1"])
        assert crew.ask([b"2"]) == [b"333"]
        assert set(threading.enumerate()) <= before
        assert workers.cpu_seconds == 0


@pytest.mark.usefixtures("_importable")
def test_shares_answer_their_own_requests_and_errors_come_over() -> None:
    with Workers(3) as workers:
        crew = workers.place(Adder, [b"10", b"20", b"30"])
        assert crew.ask([b"1", b"2", b"3"]) == [b"11" * 2, b"22" * 3, b"33" * 4]
        # A request and an answer beyond what a pipe holds.
        assert crew.ask([b"0", b" " * 200_000 + b"90000", b"1"])[1] == b"90020" * 90_001
        for requests in ([b"0", b"refuse", b"0"], [b"refuse", b"1", b"2"]):
            with pytest.raises(IntegrityError, match="this request is refused"):
                crew.ask(requests)
        with pytest.raises(CryptoError, match="failed with a ZeroDivisionError") as caught:
            crew.ask([b"0", b"fault", b"0"])
        assert "42" not in str(caught.value)
        assert crew.ask([b"1", b"print", b"3"]) == [b"11" * 2, b"20", b"33" * 4]
        assert workers.cpu_seconds > 0


@pytest.mark.usefixtures("_importable")
def test_a_share_that_cannot_be_made() -> None:
    with Workers(2) as workers, pytest.raises(IntegrityError, match="this part is unusable"):
        workers.place(Adder, [b"1", b"unusable"])


@pytest.mark.usefixtures("_importable")
def test_a_worker_that_ends_is_an_error_and_closing_still_works() -> None:
    with Workers(2) as workers:
        crew = workers.place(Adder, [b"1", b"2"])
        for _ in range(2):
            with pytest.raises(CryptoError, match="a worker has ended"):
                crew.ask([b"1", b"end"])
    with Workers(2) as workers:
        crew = workers.place(Adder, [b"1", b"2"])
    with pytest.raises(CryptoError, match="a worker has ended"):
        crew.ask([b"1", b"2"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_cannot_use_its_parents_workers() -> None:
    crew = Workers(1).place(Adder, [b"1"])
    child = os.fork()
    if child == 0:
        try:
            crew.ask([b"1"])
        except CryptoError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_impossible_numbers_of_workers_are_refused(count: int) -> None:
    with pytest.raises(InputError, match="at least one worker"):
        Workers(count)


def test_as_many_workers_as_cores_unless_told() -> None:
    assert Workers().count >= 1
    with pytest.raises(InputError, match="2 parts for 1 workers"):
        Workers(1).place(Adder, [b"1", b"2"])
