"""Paillier: known answers, the homomorphism, who may leave as it is, and what is refused."""

import copy
import doctest
import json
import pickle
import traceback
from collections.abc import Callable
from contextlib import suppress
from math import gcd
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor.crypto.paillier
from lotor.core.errors import (
    CryptoError,
    FormatError,
    InputError,
    IntegrityError,
    KeyMismatchError,
    LotorError,
)
from lotor.crypto.paillier import (
    Ciphertext,
    InsecureKeyWarning,
    PrivateKey,
    PublicKey,
    generate_keypair,
)
from lotor.crypto.paillier.encoding import CIPHERTEXT, PRIVATE_KEY, PUBLIC_KEY, Record
from lotor.crypto.paillier.private import is_prime, random_prime

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

DATA = Path(__file__).parents[4] / "shared" / "data"
BITS = 256
SECRET = 0x5EC12E7C0FFEE5EC12E7C0FFEE
# n has exactly BITS bits, so these fit whatever the key.
plaintexts = st.integers(-(2 ** (BITS - 2)), 2 ** (BITS - 2))
scalars = plaintexts | st.integers(-100, 100)


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return generate_keypair(insecure_bits=BITS)


@pytest.fixture(scope="module")
def foreign() -> PrivateKey:
    return generate_keypair(insecure_bits=BITS)


def load_vectors(name: str) -> dict[str, Any]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the known answers {name} are not on this machine")
    vectors: dict[str, Any] = json.loads(path.read_text())
    return vectors


def signed(m: int, key: PrivateKey) -> int:
    """The residue of m that lies between -n/2 and n/2."""
    n = int(key.public.n)
    return (m + n // 2) % n - n // 2


def test_iso_18033_6_known_answers() -> None:
    vectors = load_vectors("paillier/iso18033_6_paillier_2048.json")
    key = PrivateKey(int(vectors["p"], 16), int(vectors["q"], 16))
    assert key.public.n == int(vectors["n"], 16)
    ciphertexts = []
    for vector in vectors["vectors"]:
        m, r, c = (int(vector[name], 16) for name in "mrc")
        assert key.public._encrypt_with(m, r) == c
        ciphertexts.append(Ciphertext(key.public, c))
        assert key.decrypt(ciphertexts[-1]) == m
    total = ciphertexts[0] + ciphertexts[1]
    assert total._value == int(vectors["add"]["c"], 16)
    assert key.decrypt(total) == int(vectors["add"]["m"], 16)


def test_wycheproof_primality() -> None:
    for group in load_vectors("wycheproof/primality_test.json")["testGroups"]:
        for case in group["tests"]:
            number = int.from_bytes(bytes.fromhex(case["value"]), "big", signed=True)
            # The acceptable ones are negatives of primes, which no key may contain.
            assert is_prime(number) == (case["result"] == "valid"), case["tcId"]


def test_module_example_runs() -> None:
    results = doctest.testmod(lotor.crypto.paillier)
    assert results.attempted
    assert not results.failed


@given(plaintexts)
def test_round_trip(key: PrivateKey, m: int) -> None:
    assert key.decrypt(key.public.encrypt(m)) == m


def test_round_trip_at_the_extremes(key: PrivateKey) -> None:
    largest = int(key.public.n) // 2
    for m in (-largest, 1 - largest, -1, 0, 1, largest - 1, largest):
        assert key.decrypt(key.public.encrypt(m)) == m
    for m in (-largest - 1, largest + 1, int(key.public.n), 1 << 4 * BITS):
        with pytest.raises(InputError, match="outside"):
            key.public.encrypt(m)


@given(plaintexts, plaintexts)
def test_addition_and_subtraction(key: PrivateKey, a: int, b: int) -> None:
    encrypt = key.public.encrypt
    for total in (encrypt(a) + encrypt(b), encrypt(a) + b, a + encrypt(b)):
        assert key.decrypt(total) == signed(a + b, key)
    for difference in (encrypt(a) - encrypt(b), encrypt(a) - b):
        assert key.decrypt(difference) == signed(a - b, key)


@given(plaintexts, scalars)
def test_scalar_multiplication(key: PrivateKey, m: int, scalar: int) -> None:
    for product in (key.public.encrypt(m) * scalar, scalar * key.public.encrypt(m)):
        assert key.decrypt(product) == signed(m * scalar, key)
    assert key.decrypt(-key.public.encrypt(m)) == -m


@pytest.mark.parametrize("operand", [1.5, "1", None])
def test_operands_that_are_not_integers_are_refused(key: PrivateKey, operand: Any) -> None:
    ciphertext = key.public.encrypt(1)
    operations: list[Callable[[], object]] = [
        lambda: key.public.encrypt(operand),
        lambda: ciphertext + operand,
        lambda: ciphertext - operand,
        lambda: ciphertext * operand,
    ]
    for operation in operations:
        with pytest.raises(InputError, match="plain integers"):
            operation()


def test_product_of_ciphertexts_and_oversized_scalars_are_refused(key: PrivateKey) -> None:
    ciphertext: Any = key.public.encrypt(1)
    with pytest.raises(InputError, match="not multiplied"):
        ciphertext * ciphertext
    with pytest.raises(InputError, match="outside"):
        ciphertext * int(key.public.n)


@given(plaintexts)
def test_rerandomise_changes_the_bytes_and_not_the_plaintext(key: PrivateKey, m: int) -> None:
    original = key.public.encrypt(m)
    equivalent = original.rerandomise()
    assert key.decrypt(equivalent) == m
    assert equivalent.is_fresh
    assert equivalent.to_bytes() != original.to_bytes()


def test_only_encryption_and_rerandomisation_give_fresh_ciphertexts(key: PrivateKey) -> None:
    a, b = key.public.encrypt(1), key.public.encrypt(2)
    derived = [a + b, a + 0, 0 + a, a - b, -a, a * 1, a * 0]
    assert a.is_fresh
    assert b.is_fresh
    assert not any(c.is_fresh for c in derived)
    assert all(c.rerandomise().is_fresh for c in derived)
    assert not Ciphertext.from_bytes(a.to_bytes(), key.public).is_fresh
    assert not Ciphertext.from_json(b.to_json(), key.public).is_fresh


def test_a_fresh_ciphertext_leaves_once_as_it_is(key: PrivateKey) -> None:
    for first in (Ciphertext.to_bytes, Ciphertext.to_json):
        ciphertext = key.public.encrypt(7)
        value = ciphertext._value
        sent = first(ciphertext)
        read = Ciphertext.from_bytes if isinstance(sent, bytes) else Ciphertext.from_json
        assert read(sent, key.public)._value == value  # type: ignore[arg-type]
        assert not ciphertext.is_fresh
        later = [Ciphertext.from_bytes(ciphertext.to_bytes(), key.public) for _ in range(3)]
        later += [Ciphertext.from_json(ciphertext.to_json(), key.public) for _ in range(3)]
        assert len({value, *(c._value for c in later)}) == 7
        assert {key.decrypt(c) for c in later} == {7}
        assert ciphertext._value == value


def test_a_derived_ciphertext_leaves_rerandomised(key: PrivateKey) -> None:
    derived = key.public.encrypt(3) * 0
    assert derived._value == 1
    sent = [Ciphertext.from_bytes(derived.to_bytes(), key.public) for _ in range(2)]
    assert len({1, *(c._value for c in sent)}) == 3
    assert {key.decrypt(c) for c in sent} == {0}


def test_ciphertexts_and_private_keys_cannot_be_copied_or_changed(key: PrivateKey) -> None:
    ciphertext: Any = key.public.encrypt(1)
    for secret in (ciphertext, key):
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="not pickled"):
                duplicate(secret)
    for target, name in ((ciphertext, "_value"), (key, "p"), (key.public, "n")):
        with pytest.raises(AttributeError):
            setattr(target, name, 1)


@given(plaintexts)
def test_serialised_ciphertexts_round_trip_in_one_width(key: PrivateKey, m: int) -> None:
    ciphertext = key.public.encrypt(m)
    data, text = ciphertext.to_bytes(), ciphertext.to_json()
    smallest = Record(CIPHERTEXT, BITS, key.public.fingerprint, (1,))
    assert len(data) == len(smallest.to_bytes()) == 24 + 2 * BITS // 8
    assert len(text) == len(smallest.to_json())
    assert key.decrypt(Ciphertext.from_bytes(data, key.public)) == m
    assert key.decrypt(Ciphertext.from_json(text, key.public)) == m


def test_serialised_keys_round_trip(key: PrivateKey, foreign: PrivateKey) -> None:
    public = PublicKey.from_bytes(key.public.to_bytes(), minimum_bits=BITS)
    private = PrivateKey.from_bytes(key.to_bytes(), minimum_bits=BITS)
    assert public == PublicKey.from_json(key.public.to_json(), minimum_bits=BITS) == key.public
    assert private == PrivateKey.from_json(key.to_json(), minimum_bits=BITS) == key
    assert private.decrypt(public.encrypt(-5)) == -5
    assert private != foreign
    assert len(foreign.to_bytes()) == len(key.to_bytes())
    assert len(foreign.public.to_json()) == len(key.public.to_json())


def test_the_format_stays_as_it_is() -> None:
    key = PrivateKey(0xF00000000000002B, 0xE000000000000005)
    fingerprint, n = "6a29117f0f34e42e1e149ccbcfbb99c1", "d20000000000002a50000000000000d7"
    value = f"{1:064x}"
    header = f'"version":1,"bits":128,"fingerprint":"{fingerprint}"'
    assert key.public.fingerprint == fingerprint
    assert key.public.to_bytes().hex() == f"4c50616901010080{fingerprint}{n}"
    assert key.to_bytes().hex() == f"4c50616901020080{fingerprint}f00000000000002be000000000000005"
    one = Record(CIPHERTEXT, 128, fingerprint, (1,))
    assert one.to_bytes().hex() == f"4c50616901030080{fingerprint}{value}"
    assert key.public.to_json() == f'{{"kind":"paillier-public-key",{header},"n":"{n}"}}'
    assert one.to_json() == f'{{"kind":"paillier-ciphertext",{header},"value":"{value}"}}'


def test_every_flipped_bit_of_a_key_is_refused(key: PrivateKey) -> None:
    for data, read in (
        (key.public.to_bytes(), PublicKey.from_bytes),
        (key.to_bytes(), PrivateKey.from_bytes),
    ):
        for position in range(8 * len(data)):
            with pytest.raises(FormatError):
                read(flipped(data, position), minimum_bits=128)


def test_every_flipped_bit_of_a_ciphertexts_header_is_refused(key: PrivateKey) -> None:
    data = key.public.encrypt(1).to_bytes()
    for position in range(8 * 24):
        error = FormatError if position < 8 * 8 else KeyMismatchError
        with pytest.raises(error):
            Ciphertext.from_bytes(flipped(data, position), key.public)


@given(st.integers(8 * 24, 8 * (24 + 2 * BITS // 8) - 1))
def test_an_altered_value_is_refused_or_decrypts_to_another(key: PrivateKey, position: int) -> None:
    data = flipped(key.public.encrypt(1).to_bytes(), position)
    with suppress(IntegrityError):
        assert key.decrypt(Ciphertext.from_bytes(data, key.public)) != 1


def flipped(data: bytes, position: int) -> bytes:
    altered = bytearray(data)
    altered[position // 8] ^= 1 << position % 8
    return bytes(altered)


def readers(key: PrivateKey) -> list[tuple[bytes, Callable[[bytes], object]]]:
    return [
        (key.public.to_bytes(), lambda data: PublicKey.from_bytes(data, minimum_bits=BITS)),
        (key.to_bytes(), lambda data: PrivateKey.from_bytes(data, minimum_bits=BITS)),
        (key.public.encrypt(1).to_bytes(), lambda data: Ciphertext.from_bytes(data, key.public)),
    ]


def json_readers(key: PrivateKey) -> list[tuple[str, Callable[[str], object]]]:
    return [
        (key.public.to_json(), lambda text: PublicKey.from_json(text, minimum_bits=BITS)),
        (key.to_json(), lambda text: PrivateKey.from_json(text, minimum_bits=BITS)),
        (key.public.encrypt(1).to_json(), lambda text: Ciphertext.from_json(text, key.public)),
    ]


def test_truncated_extended_or_exchanged_bytes_are_refused(key: PrivateKey) -> None:
    for data, read in readers(key):
        others = [other for other, _ in readers(key) if other[5] != data[5]]
        shorter = [data[:length] for length in range(len(data))]
        for altered in [*shorter, data + b"\0", b"\0" + data, data + data, *others]:
            with pytest.raises(FormatError):
                read(altered)


# As many as a ciphertext has could well be one.
@given(st.binary(max_size=2 * BITS // 8 - 1))
def test_arbitrary_bytes_are_refused(key: PrivateKey, data: bytes) -> None:
    for valid, read in readers(key):
        for altered in (data, valid[:6] + data, valid[:24] + data):
            with pytest.raises(CryptoError):
                read(altered)


@given(st.text('{}[]":,. -01efnultra\0é', max_size=60))
def test_arbitrary_text_is_refused(key: PrivateKey, text: str) -> None:
    for _, read in json_readers(key):
        with pytest.raises(FormatError):
            read(text)


def test_altered_json_is_refused(key: PrivateKey) -> None:
    for text, read in json_readers(key):
        document = json.loads(text)
        number = list(document)[-1]
        digits = document[number]
        altered: list[dict[str, object]] = [
            {**document, name: value}
            for name, value in [
                ("version", 2),
                ("version", True),
                ("version", "1"),
                ("kind", "paillier-something"),
                ("kind", 1),
                ("bits", BITS - 1),
                ("bits", 2 * BITS),
                ("bits", -BITS),
                ("bits", 1 << 80),
                ("bits", str(BITS)),
                ("fingerprint", document["fingerprint"][:-1]),
                ("fingerprint", 7),
                ("extra", 1),
                (number, "0" + digits),
                (number, digits[1:]),
                (number, " " + digits[1:]),
                (number, "+" + digits[1:]),
                (number, "A" + digits[1:]),
                (number, 5),
                (number, None),
            ]
        ]
        altered += [{k: v for k, v in document.items() if k != name} for name in document]
        for changed in altered:
            with pytest.raises(FormatError):
                read(json.dumps(changed))
        for broken in (text[:-1], text + "}", "[" + text + "]", "\ud800", "[" * 100_000):
            with pytest.raises(FormatError):
                read(broken)
        for other, _ in json_readers(key):
            if json.loads(other)["kind"] != document["kind"]:
                with pytest.raises(FormatError, match=r"expected a .* and got paillier-"):
                    read(other)


def test_consistent_but_unusable_keys_are_refused(key: PrivateKey, foreign: PrivateKey) -> None:
    p, q, other = key.p, key.q, foreign.q
    composite = next(c for c in range(int(p) - 2, 0, -2) if not is_prime(c))
    for first, second in ((composite, q), (p, composite), (p, p)):
        name = PublicKey(first * second).fingerprint
        with pytest.raises(FormatError, match="not two different primes"):
            PrivateKey.from_bytes(
                Record(PRIVATE_KEY, BITS, name, (first, second)).to_bytes(), minimum_bits=BITS
            )
    mismatch = Record(PRIVATE_KEY, BITS, key.public.fingerprint, (p, other))
    with pytest.raises(FormatError, match="fingerprint"):
        PrivateKey.from_json(mismatch.to_json(), minimum_bits=BITS)
    for n, why in (
        (key.public.n - 1, "not a Paillier modulus"),
        (key.public.n >> 1 | 1, "do not give its size"),
        (key.public.n >> 8 | 1, "do not give its size"),
        (0, "do not give its size"),
    ):
        record = Record(PUBLIC_KEY, BITS, key.public.fingerprint, (n,))
        with pytest.raises(FormatError, match=why):
            PublicKey.from_bytes(record.to_bytes(), minimum_bits=BITS)


def test_headers_that_name_another_size_are_refused(key: PrivateKey) -> None:
    wider = Record(CIPHERTEXT, 2 * BITS, key.public.fingerprint, (1,))
    with pytest.raises(FormatError, match="size"):
        Ciphertext.from_bytes(wider.to_bytes(), key.public)
    for data, read in readers(key):
        for bits in (0, 1):
            with pytest.raises(FormatError, match="impossible key size"):
                read(data[:6] + bits.to_bytes(2, "big") + data[8:24])


def test_primes_of_different_sizes_are_refused() -> None:
    p, q = random_prime(64), random_prime(192)
    with pytest.raises(InputError, match="same size"):
        PrivateKey(p, q)


def test_small_keys_load_only_on_request_and_with_a_warning(key: PrivateKey) -> None:
    with pytest.raises(FormatError, match="at least 2048"):
        PublicKey.from_bytes(key.public.to_bytes())
    with pytest.raises(FormatError, match="at least 2048"):
        PrivateKey.from_json(key.to_json())
    with pytest.warns(InsecureKeyWarning, match=f"{BITS}-bit"):
        PublicKey.from_json(key.public.to_json(), minimum_bits=BITS)
    with pytest.warns(InsecureKeyWarning, match=f"{BITS}-bit"):
        PrivateKey.from_bytes(key.to_bytes(), minimum_bits=BITS)


def test_foreign_ciphertexts_are_refused_by_name(key: PrivateKey, foreign: PrivateKey) -> None:
    ours, theirs = key.public.encrypt(1), foreign.public.encrypt(1)
    operations: list[Callable[[], object]] = [
        lambda: ours + theirs,
        lambda: ours - theirs,
        lambda: key.decrypt(theirs),
        lambda: Ciphertext.from_bytes(theirs.to_bytes(), key.public),
        lambda: Ciphertext.from_json(theirs.to_json(), key.public),
    ]
    for operation in operations:
        with pytest.raises(KeyMismatchError) as caught:
            operation()
        assert key.public.fingerprint in str(caught.value)
        assert foreign.public.fingerprint in str(caught.value)


def test_values_that_are_no_ciphertexts_are_refused(key: PrivateKey) -> None:
    public = key.public
    n_squared = public.n_squared
    for value in (0, public.n, key.p, 5 * key.q, n_squared - key.p, n_squared, n_squared + 1):
        with pytest.raises(IntegrityError):
            key.decrypt(Ciphertext(public, value))
        record = Record(CIPHERTEXT, BITS, public.fingerprint, (value,))
        with pytest.raises(IntegrityError):
            Ciphertext.from_bytes(record.to_bytes(), public)
    with pytest.raises(IntegrityError):
        key.decrypt(Ciphertext(public, -public.encrypt(1)._value))


def test_no_text_shows_a_secret(key: PrivateKey, foreign: PrivateKey) -> None:
    ciphertext = key.public.encrypt(SECRET)
    oversized = SECRET << BITS
    composite = next(c for c in range(int(key.p) - 2, 0, -2) if not is_prime(c))
    altered_key = json.loads(key.to_json())
    operations: list[Callable[[], object]] = [
        lambda: key.public.encrypt(oversized),
        lambda: ciphertext + oversized,
        lambda: ciphertext * oversized,
        lambda: foreign.decrypt(ciphertext),
        lambda: PrivateKey(key.p, composite),
        lambda: PrivateKey.from_bytes(key.to_bytes()),
        lambda: PrivateKey.from_bytes(key.to_bytes() + b"\0", minimum_bits=BITS),
        lambda: PrivateKey.from_bytes(flipped(key.to_bytes(), 8 * 30), minimum_bits=BITS),
        lambda: PrivateKey.from_json(json.dumps({**altered_key, "kind": altered_key["p"]})),
        lambda: PrivateKey.from_json(key.to_json()[:-1], minimum_bits=BITS),
        lambda: PublicKey.from_json(key.to_json(), minimum_bits=BITS),
        lambda: Ciphertext.from_bytes(key.to_bytes(), key.public),
    ]
    texts = []
    for thing in (key, key.public, ciphertext, ciphertext + 1, ciphertext._leave(), key._record()):
        texts += [repr(thing), str(thing), f"{thing}"]
    for operation in operations:
        with pytest.raises(LotorError) as caught:
            operation()
        texts.append("".join(traceback.format_exception(caught.value)))
    secrets = [int(number) for number in (key.p, key.q, SECRET, oversized, composite)]
    for text in texts:
        for secret in secrets:
            assert str(secret) not in text
            assert f"{secret:x}" not in text.lower()


@pytest.mark.parametrize("bits", [2048, 3072, pytest.param(4096, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("error")
def test_secure_sizes_make_working_keys_of_exactly_that_size(bits: int) -> None:
    key = generate_keypair(bits)
    check_primes(key, bits)
    ciphertext = Ciphertext.from_bytes(key.public.encrypt(-(1 << 64)).to_bytes(), key.public)
    assert key.decrypt(ciphertext + 1) == 1 - (1 << 64)
    assert PrivateKey.from_bytes(key.to_bytes()) == key
    assert PublicKey.from_json(key.public.to_json()) == key.public


@pytest.mark.parametrize("bits", [128, 130, 256, 510])
def test_insecure_sizes_warn_and_make_keys_of_exactly_that_size(bits: int) -> None:
    for _ in range(5):
        with pytest.warns(InsecureKeyWarning, match=f"{bits}-bit"):
            key = generate_keypair(insecure_bits=bits)
        check_primes(key, bits)
        assert key.decrypt(key.public.encrypt(-9)) == -9
        assert PrivateKey.from_bytes(key.to_bytes(), minimum_bits=bits) == key
        sent = key.public.encrypt(-9).to_json()
        assert key.decrypt(Ciphertext.from_json(sent, key.public)) == -9


def check_primes(key: PrivateKey, bits: int) -> None:
    p, q, n = int(key.p), int(key.q), int(key.public.n)
    assert n == p * q
    assert n.bit_length() == key.public.bits == bits
    assert p >> bits // 2 - 2 == q >> bits // 2 - 2 == 3
    assert p != q
    assert gcd(n, (p - 1) * (q - 1)) == 1


@pytest.mark.parametrize("bits", [-2048, 0, 512, 1024, 2047, 2050, 8192])
def test_other_sizes_are_refused(bits: int) -> None:
    with pytest.raises(InputError, match="choose 2048, 3072 or 4096 bits"):
        generate_keypair(bits)


@pytest.mark.parametrize("bits", [-256, 0, 64, 126, 129, 255, 2048, 3072])
def test_other_insecure_sizes_are_refused(bits: int) -> None:
    with pytest.raises(InputError, match="an insecure Paillier key"):
        generate_keypair(insecure_bits=bits)


def test_default_size_is_3072_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def stop(bits: int) -> None:
        asked.append(bits)
        raise KeyboardInterrupt

    monkeypatch.setattr("lotor.crypto.paillier.private.random_prime", stop)
    with pytest.raises(KeyboardInterrupt):
        generate_keypair()
    assert asked == [1536]
