"""Counted operations: ours, the paper's pseudo-code, and what its Figure 5 leaves out."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

import pytest

import lotor
from lotor.crypto.paillier import PackedLayout
from lotor.protocols.linucb_ds.paper.complexity import (
    ADDITIONS,
    DECRYPTIONS,
    ENCRYPTIONS,
    MULTIPLICATIONS,
    figure_4,
    figure_5,
    ours,
)
from lotor.protocols.linucb_ds.protocol import PaperSlotBits
from protocols.linucb_ds.stage import BITS, known_keys, small, small_key, some_arms, some_graph

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

SIZES = [(2, 2, 1), (5, 3, 2), (9, 15, 3), (4, 6, 8)]


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


@pytest.mark.parametrize(("n", "k", "d"), SIZES)
@pytest.mark.parametrize("slot_bits", [64, 96])
def test_counted_operations_are_ours(n: int, k: int, d: int, slot_bits: PaperSlotBits) -> None:
    result = lotor.run(small(slot_bits=slot_bits), some_arms(1, k=k, d=d), budget=n, seed=1)
    expected = ours(n, k, key_bits=BITS, slot_bits=slot_bits, d=d)
    assert {name: result.operations[name] for name in expected} == expected
    # The terms for two, Comp's key for one.
    assert (result.operations["signatures"], result.operations["verifications"]) == (3, 3)


def test_spectral_ucb_ds_has_the_same_counts_with_d_as_large_as_k() -> None:
    protocol = small(lotor.SpectralUCB(C=20.0))
    result = lotor.run(protocol, some_graph(1, k=9), budget=7, seed=1)
    expected = ours(7, 9, key_bits=BITS, slot_bits=64, d=9)
    assert {name: result.operations[name] for name in expected} == expected


class Counted:
    """A ciphertext that counts what is done to it: c·c' adds, c^x multiplies."""

    counts: ClassVar[Counter[str]] = Counter()

    def __mul__(self, other: "Counted") -> "Counted":
        self.counts[ADDITIONS] += 1
        return self

    def __pow__(self, factor: float) -> "Counted":
        self.counts[MULTIPLICATIONS] += 1
        return self


def encrypt() -> Counted:
    Counted.counts[ENCRYPTIONS] += 1
    return Counted()


def decrypt(_: Counted) -> float:
    Counted.counts[DECRYPTIONS] += 1
    return 0.0


def edp(v: Sequence[Counted], w: Sequence[float]) -> Counted:
    """The encrypted dot product: the product of v(j)^w(j)."""
    powers = [c**x for c, x in zip(v, w, strict=True)]
    product = powers[0]
    for power in powers[1:]:
        product = product * power
    return product


def transcription(n: int, k: int, d: int) -> Counter[str]:
    """Figures 3 and 4, line by line; numbers in clear do not matter here."""
    Counted.counts.clear()
    x = [1.0] * d
    theta = [encrypt() for _ in range(d)]  # step 1

    def pull() -> Counted:
        return edp(theta, x) * encrypt()

    r = pull()  # step 2
    s = r
    b = [r**x_j for x_j in x]
    for _ in range(1, n):
        theta_hat = [edp(b, x) for _ in range(d)]  # step 3
        list_b = [edp(theta_hat, x) * encrypt() for _ in range(k)]
        for score in list_b:  # step 4
            decrypt(score)
        r = pull()
        s = s * r
        b = [b_j * r**x_j for b_j, x_j in zip(b, x, strict=True)]
    masked = encrypt() * s  # step 5
    decrypt(masked)  # step 6
    switched = encrypt()
    decrypt(switched * encrypt())  # step 7
    return Counted.counts.copy()


@pytest.mark.parametrize(("n", "k", "d"), SIZES)
def test_figure_4_is_its_transcription(n: int, k: int, d: int) -> None:
    assert figure_4(n, k, d) == dict(transcription(n, k, d))


@pytest.mark.parametrize(("n", "k", "d"), SIZES)
def test_figure_5_leaves_the_bonuses_out(n: int, k: int, d: int) -> None:
    """As printed; beside them it has one encryption in key switching, where there are three."""
    printed, counted = figure_5(n, k, d), figure_4(n, k, d)
    rounds = n - 1
    assert printed == {
        ENCRYPTIONS: n + d + 1,
        DECRYPTIONS: rounds * k + 2,
        ADDITIONS: d + rounds * (d * d + k * d + 2 * d) + 2,
        MULTIPLICATIONS: 2 * d + rounds * (d * d + k * d + 2 * d),
    }
    assert counted[ENCRYPTIONS] - printed[ENCRYPTIONS] == rounds * k + 2
    assert counted[DECRYPTIONS] == printed[DECRYPTIONS]
    assert counted[MULTIPLICATIONS] == printed[MULTIPLICATIONS]
    # A product of d powers takes d - 1 additions, d times a round; and s takes one.
    assert printed[ADDITIONS] - counted[ADDITIONS] == rounds * (d - 1)


def test_decryptions_at_the_papers_size() -> None:
    """d = 3, K = 15, N = 1000 at 2048 bits: one decryption a round, where the paper has 15."""
    mine = ours(1000, 15, key_bits=2048, slot_bits=64, d=3)
    assert mine[DECRYPTIONS] == 999 + 2
    assert figure_4(1000, 15, 3)[DECRYPTIONS] == 999 * 15 + 2
    assert PackedLayout(2048, 15).ciphertexts == 1
