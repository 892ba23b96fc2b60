"""What products by oblivious transfer cost, beside the bare AES blocks that they cannot do without.

Both parties work in turn in this process, and each step's CPU time is counted by itself, the least
of many tries. The blocks are two for each word at the sender and one at the chooser, and once more
for each row and label; they are encrypted in calls of 4096. The transfers' own AES is not among
them, and neither is the network.
"""

import argparse
import secrets
from time import thread_time

import numpy as np
from machine import Others
from rich.console import Console
from rich.table import Table

from lotor.crypto.garbling import HashKeys, Purpose
from lotor.crypto.ot import (
    SEED_BYTES,
    TRANSFERS,
    Delta,
    ProductChooser,
    ProductSender,
    product_rows,
    product_words,
)
from lotor.crypto.residues import Modulus, Residues, ResidueSource, inverted

# primes, groups, numbers in a group, length of vectors: as two dimensions need, then 5, then 10
SHAPES = (
    (2, 3, 2, 2),
    (2, 1, 6, 2),
    (3, 1, 11, 2),
    (5, 6, 5, 5),
    (5, 1, 30, 5),
    (7, 11, 10, 10),
    (11, 1, 211, 10),
)
# primes and dimensions
MATRICES = ((2, 2), (5, 5), (10, 10), (20, 20))
BLOCKS_AT_ONCE = 4096
STEPS = ("choose", "rows", "send", "receive", "bare AES")


class Products:
    """Two parties and one shape; µs of CPU, the least of all tries."""

    def __init__(self, primes: int, groups: int, numbers: int, length: int) -> None:
        self.modulus, self.shape, self.length = Modulus(primes), (groups, numbers), length
        self.rows = product_rows(self.modulus, self.shape)
        self.words = product_words(self.modulus, self.shape, length)
        self.least = dict.fromkeys(STEPS, float("inf"))
        delta = Delta.derive(secrets.token_bytes(32), "benchmark")
        pairs = np.frombuffer(secrets.token_bytes(2 * TRANSFERS * SEED_BYTES), np.uint8)
        seeds = pairs.reshape(TRANSFERS, 2, SEED_BYTES)[np.arange(TRANSFERS), delta.bits]
        public = secrets.token_bytes(32)
        self.chooser = ProductChooser(pairs.tobytes(), HashKeys(public))
        self.sender = ProductSender(seeds.tobytes(), delta, HashKeys(public))
        self.encrypt = HashKeys(public).of(0, 0, Purpose.PRODUCTS).encrypt
        self.rng = np.random.default_rng(1)

    def residues(self, *shape: int) -> Residues:
        size = (*shape, self.modulus.count, 2)
        return self.modulus.reduced(self.rng.integers(0, 2**64, size, dtype=np.uint64))

    def run(self, batch: int) -> None:
        """One batch, whose result is checked."""
        modulus = self.modulus
        a, b = self.residues(*self.shape), self.residues(*self.shape, self.length)
        times = [thread_time()]
        columns, chosen = self.chooser.choose(batch, modulus, a)
        times.append(thread_time())
        offered = self.sender.rows(batch, modulus, columns, self.shape)
        times.append(thread_time())
        words, share = self.sender.send(offered, b)
        times.append(thread_time())
        other = self.chooser.receive(chosen, words, self.length)
        times.append(thread_time())
        self.bare_aes(3 * (self.words + self.rows))
        times.append(thread_time())
        for step, spent in zip(STEPS, np.diff(times), strict=True):
            self.least[step] = min(self.least[step], 1e6 * float(spent))
        wanted = (modulus.whole(a)[..., np.newaxis] * modulus.whole(b)).sum(axis=1)
        assert (modulus.whole(modulus.add(share, other)) == wanted % modulus.product).all()

    def bare_aes(self, count: int) -> None:
        blocks, room = bytearray(16 * BLOCKS_AT_ONCE), bytearray(16 * BLOCKS_AT_ONCE + 15)
        whole, rest = divmod(count, BLOCKS_AT_ONCE)
        for size in [BLOCKS_AT_ONCE] * whole + [rest]:
            self.encrypt(memoryview(blocks)[: 16 * size], memoryview(room)[: 16 * size + 15])


def table_of(all_: list[Products]) -> Table:
    table = Table(title="Products modulo primes of 61 bits, µs of CPU", title_justify="left")
    for column in ("primes", "groups", "numbers", "length", "words", *STEPS, "ns a word", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in all_:
        both = each.least["send"] + each.least["receive"]
        sizes = (each.modulus.count, *each.shape, each.length, each.words)
        table.add_row(
            *(str(n) for n in sizes),
            *(f"{each.least[step]:.0f}" for step in STEPS),
            f"{1e3 * both / each.words:.0f}",
            f"{both / each.least['bare AES']:.1f}",
        )
    return table


def inversion(primes: int, size: int, repeats: int) -> float:
    """µs to invert a matrix, the least of all tries."""
    modulus = Modulus(primes)
    matrix, _ = ResidueSource(secrets.token_bytes(32), modulus).invertible(0, 0, size)
    least = float("inf")
    for _ in range(repeats):
        began = thread_time()
        inverted(matrix, modulus)
        least = min(least, thread_time() - began)
    return 1e6 * least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="some seconds, and less precise")
    options = parser.parse_args()
    console = Console(width=120)
    repeats = 5 if options.quick else 50
    with Others() as others:
        all_ = [Products(*shape) for shape in SHAPES]
        for batch in range(repeats):
            for each in all_:
                each.run(batch)
        inverses = [(*shape, inversion(*shape, repeats)) for shape in MATRICES]
    console.print(table_of(all_))
    console.print("Ns a word and ratio: sending and receiving, the latter to bare AES.")
    for primes, size, spent in inverses:
        console.print(
            f"Inverse of a {size} x {size} matrix modulo {primes} primes: {spent:.0f} µs."
        )
    console.print(f"Others used {others.text}.")


if __name__ == "__main__":
    main()
