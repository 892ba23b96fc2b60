"""Randomisers encrypt zero, never repeat, and are handed out once."""

import copy
import os
import pickle
import threading

import pytest

from crypto.paillier.fixed_keys import fixed_key
from lotor.core.errors import InputError, KeyMismatchError
from lotor.crypto.paillier import Ciphertext, PrivateKey, Randomisers, generate_keypair
from lotor.crypto.paillier.randomisers import FEWEST_USES

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return fixed_key(512)


@pytest.mark.parametrize("uses", [0, FEWEST_USES, 300, 100_000])
def test_randomisers_decrypt_to_zero_and_never_repeat(key: PrivateKey, uses: int) -> None:
    randomisers = Randomisers(key.public, uses)
    values = [randomisers.take() for _ in range(200)]
    assert len(set(values)) == 200
    assert all(key.decrypt(Ciphertext(key.public, value)) == 0 for value in values[:20])
    assert randomisers.products > 0


@pytest.mark.parametrize("bits", [2048, 3072])
def test_randomisers_under_real_keys(bits: int) -> None:
    key = fixed_key(bits)
    randomisers = Randomisers(key.public, FEWEST_USES)
    assert key.decrypt(key.public.encrypt(-5, randomisers)) == -5


def test_masks_reach_squares_and_others_modulo_each_prime(key: PrivateKey) -> None:
    """Whoever decrypts knows the primes: the powers of one h would leave a coset to be seen.

    Seventeen units that are drawn all lie in one of three subgroups with a chance of 3/2^17, and 64
    masks miss one of four cosets with a chance of 4 (3/4)^64. So three of 40 sources leave one with
    a chance of 1.2e-10; without the further units, all do.
    """
    p, q = int(key.p), int(key.q)
    left = 0
    for _ in range(40):
        randomisers = Randomisers(key.public, 300)
        values = [int(randomisers.take()) for _ in range(64)]
        signs = {(pow(v, p // 2, p) == 1, pow(v, q // 2, q) == 1) for v in values}
        left += len(signs) < 4
    assert left < 3


def test_encrypt_and_rerandomise_take_from_the_source(key: PrivateKey) -> None:
    randomisers = Randomisers(key.public, 300)
    one = key.public.encrypt(7, randomisers)
    other = one.rerandomise(randomisers)
    assert one.is_fresh
    assert other.is_fresh
    assert one._value != other._value
    assert key.decrypt(one) == key.decrypt(other) == 7


def test_randomisers_of_another_key_are_refused(key: PrivateKey) -> None:
    foreign = Randomisers(generate_keypair(insecure_bits=256).public, 0)
    with pytest.raises(KeyMismatchError, match="randomisers are under key"):
        key.public.encrypt(1, foreign)
    with pytest.raises(KeyMismatchError, match="randomisers are under key"):
        key.public.encrypt(1).rerandomise(foreign)


def test_several_threads_never_get_the_same_value(key: PrivateKey) -> None:
    taken: list[int] = []
    with Randomisers(key.public, 1000, depth=40) as randomisers:

        def take() -> None:
            taken.extend(int(randomisers.take()) for _ in range(250))

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert randomisers.cpu_seconds >= 0
    assert len(taken) == len(set(taken)) == 1000


def test_the_pool_fills_to_its_depth_and_hands_out_what_is_ready(key: PrivateKey) -> None:
    with Randomisers(key.public, 300, depth=10) as randomisers:
        randomisers.wait()
        assert randomisers.ready == 10
        ready = list(randomisers._ready)
        assert [randomisers.take() for _ in range(3)] == ready[:3]
        assert randomisers.ready == 7
        for _ in range(2):
            randomisers.take()
        randomisers.wait()
        assert randomisers.ready == 10


def test_the_pool_makes_no_more_than_will_be_needed(key: PrivateKey) -> None:
    with Randomisers(key.public, 12, depth=8) as randomisers:
        taken = []
        for _ in range(12):
            randomisers.wait()
            taken.append(int(randomisers.take()))
        randomisers.wait()
        assert randomisers.ready == 0
        taken.append(int(randomisers.take()))
        assert len(set(taken)) == 13


def test_closing_forgets_the_pool_and_ends_the_thread(key: PrivateKey) -> None:
    before = set(threading.enumerate())
    randomisers = Randomisers(key.public, 300, depth=50)
    randomisers.close()
    randomisers.close()
    assert randomisers.ready == 0
    assert set(threading.enumerate()) <= before  # of other tests, some may end meanwhile
    with pytest.raises(InputError, match="closed"):
        randomisers.take()


def test_the_thread_that_fills_may_close_the_pool(
    key: PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a party that was dropped is collected in it."""
    closed = threading.Event()
    make = Randomisers._make

    def closing(self: Randomisers) -> object:
        self.close()
        closed.set()
        return make(self)

    monkeypatch.setattr(Randomisers, "_make", closing)
    source = Randomisers(key.public, uses=8, depth=4)
    assert closed.wait(60)
    source.wait()
    assert source._closed


def test_without_depth_there_is_no_thread(key: PrivateKey) -> None:
    before = set(threading.enumerate())
    randomisers = Randomisers(key.public, 300)
    randomisers.take()
    assert set(threading.enumerate()) <= before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_drops_the_pool(key: PrivateKey) -> None:
    randomisers = Randomisers(key.public, 300, depth=10)
    randomisers.wait()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        empty = randomisers.ready == 0
        value = int(randomisers.take())
        os.write(writer, (b"1" if empty else b"0") + str(value).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    assert said[:1] == b"1"
    assert int(said[1:]) not in {int(randomisers.take()) for _ in range(30)}
    randomisers.close()


def test_randomisers_cannot_be_written_down_or_shown(key: PrivateKey) -> None:
    randomisers = Randomisers(key.public, 300)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            attempt(randomisers)
    assert repr(randomisers) == f"<Randomisers under key {key.public.fingerprint}>"


@pytest.mark.parametrize(("uses", "depth"), [(-1, 0), (1, -1)])
def test_negative_numbers_are_refused(key: PrivateKey, uses: int, depth: int) -> None:
    with pytest.raises(InputError, match="negative"):
        Randomisers(key.public, uses, depth)
