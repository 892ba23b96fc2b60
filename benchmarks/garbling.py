"""What an argmax in a garbled circuit costs, beside the bare AES blocks that it cannot do without;
and what the base oblivious transfers cost.

Garbler and evaluator work in turn in this process, and each one's CPU time is counted by itself,
the least of many tries. The blocks are 8 for each AND gate at the garbler and 4 at the evaluator,
encrypted in calls of 4096, on buffers of the same kind. The network is not in it.
"""

import argparse
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from math import log10
from time import thread_time

import numpy as np
from machine import Others
from rich.console import Console
from rich.table import Table

from lotor.crypto.garbling import (
    ArgmaxCircuit,
    Evaluator,
    Garbler,
    HashKeys,
    LabelSource,
    Place,
    Purpose,
    bits_of,
    chosen,
    codes_of,
    opened,
    security_bits,
    signs_of,
)
from lotor.crypto.ot import BaseReceiver, BaseSender, CorrelatedReceiver, CorrelatedSender, Delta

WIDTH = 63
SIZES = (3, 10, 100, 1000)
GATES_AT_ONCE = 1 << 15
BLOCKS_AT_ONCE = 4096


def batch_size(ands: int) -> int:
    """How many circuits are garbled at once."""
    return max(1, min(16, round(GATES_AT_ONCE / ands)))


def spent(act: Callable[[], object]) -> float:
    began = thread_time()
    act()
    return (thread_time() - began) * 1e6


@dataclass(slots=True)
class Cost:
    """µs of CPU for one circuit, the least of all tries."""

    circuit: ArgmaxCircuit
    batch: int
    transfers: float = np.inf
    garbler: float = np.inf
    labels: float = np.inf
    evaluator: float = np.inf
    bare: float = np.inf

    @property
    def both(self) -> float:
        return self.garbler + self.evaluator

    @property
    def ratio(self) -> float:
        return self.both / self.bare


class Parties:
    """Garbler and evaluator of one circuit, with transfers between them."""

    def __init__(self, places: int) -> None:
        self.circuit = ArgmaxCircuit(places, WIDTH, shares=2)
        self.batch = batch_size(self.circuit.ands)
        self.delta = Delta.derive(secrets.token_bytes(32), "benchmark")
        pairs, seeds = base_transfers(self.delta)[2:]
        self.receiver, self.sender = CorrelatedReceiver(pairs), CorrelatedSender(seeds, self.delta)
        self.garbler = Garbler(self.circuit, self.delta, self.batch)
        self.evaluator = Evaluator(self.circuit)
        self.keys = HashKeys(secrets.token_bytes(32))
        self.source = LabelSource(secrets.token_bytes(32))
        self.rng = np.random.default_rng(places)
        self.shape = (WIDTH, places, self.batch)
        self.blocks = np.zeros(16 * BLOCKS_AT_ONCE + 16, np.uint8)
        self.room = np.zeros_like(self.blocks)

    def run(self, number: int, cost: Cost) -> None:
        """One batch, and its first circuit evaluated."""
        place = Place(0, 0, number * self.batch)
        key = self.keys.of(0, number, Purpose.GARBLING)
        tag_key = self.keys.of(0, number, Purpose.OUTPUTS)
        numbers, masks = self.rng.integers(0, 1 << WIDTH, (2, *self.shape[1:]), np.uint64)
        if number % 2:
            numbers %= np.uint64(3)
        began = thread_time()
        columns, theirs = self.receiver.extend(number, bits_of(masks, WIDTH))
        q = self.sender.extend(number, columns, int(np.prod(self.shape))).reshape(*self.shape, 2)
        transferred = thread_time()
        own = self.source.zeros(0, 0, number, self.shape)
        garbled = self.garbler.garble(key, place, own, q)
        done = thread_time()
        codes = codes_of(tag_key, place, garbled.outputs, self.delta)
        cost.transfers = min(cost.transfers, (transferred - began) * 1e6 / self.batch)
        cost.garbler = min(cost.garbler, (done - transferred) * 1e6 / self.batch)

        tables = garbled.tables[0].tobytes()
        began = thread_time()
        shares = bits_of((numbers ^ masks)[:, :1], WIDTH)
        sent = chosen(own[:, :, :1], shares, self.delta)
        labelled = thread_time()
        labels = np.ascontiguousarray(theirs[:, :, :1])
        result = self.evaluator.evaluate(key, place, tables, sent, labels)
        evaluated = thread_time()
        cost.labels = min(cost.labels, (labelled - began) * 1e6)
        cost.evaluator = min(cost.evaluator, (evaluated - labelled) * 1e6)
        cost.bare = min(cost.bare, self.bare_aes())
        bits = opened(codes.of(0), signs_of(tag_key, place, result))
        assert np.flatnonzero(bits).tolist() == [numbers[:, 0].argmax()]

    def bare_aes(self) -> float:
        """µs for 12 blocks a gate, in calls that are neither too short nor out of the cache."""
        encrypt = self.keys.of(0, 0, Purpose.PRODUCTS).encrypt
        count = 12 * self.circuit.ands
        whole, rest = divmod(count, BLOCKS_AT_ONCE)

        def act() -> None:
            for size in [BLOCKS_AT_ONCE] * whole + [rest]:
                encrypt(self.blocks.data[: 16 * size], self.room.data[: 16 * size + 15])

        return spent(act)


def base_transfers(delta: Delta) -> tuple[float, float, bytes, bytes]:
    """µs of the sender and of the receiver, then pairs and seeds."""
    began = thread_time()
    sender = BaseSender(secrets.token_bytes(32), "benchmark")
    offer = sender.offer()
    offered = thread_time()
    answer, seeds = BaseReceiver(secrets.token_bytes(32), "benchmark", delta.bits).answer(offer)
    answered = thread_time()
    pairs = sender.pairs(answer)
    done = thread_time()
    return (offered - began + done - answered) * 1e6, (answered - offered) * 1e6, pairs, seeds


def measure(repeats: int) -> list[Cost]:
    """In alternation, since a machine's speed drifts."""
    parties = [Parties(places) for places in SIZES]
    costs = [Cost(each.circuit, each.batch) for each in parties]
    for number in range(repeats):
        for each, cost in zip(parties, costs, strict=True):
            each.run(number, cost)
    return costs


def table_of(costs: list[Cost]) -> Table:
    table = Table(title="Argmax of K numbers of 63 bits, µs of CPU", title_justify="left")
    headers = ("K", "ANDs", "levels", "kB", "batch", "security", "transfers", "garbler", "labels")
    for column in (*headers, "evaluator", "bare AES", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    for cost in costs:
        circuit = cost.circuit
        table.add_row(
            *(str(n) for n in (circuit.places, circuit.ands, circuit.levels)),
            f"{circuit.table_bytes / 1e3:.1f}",
            str(cost.batch),
            f"{security_bits(circuit.ands * cost.batch):.0f} bits",
            *(f"{us:.0f}" for us in (cost.transfers, cost.garbler, cost.labels, cost.evaluator)),
            f"{cost.bare:.0f}",
            f"{cost.ratio:.1f}",
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="some seconds, and less precise")
    options = parser.parse_args()
    console = Console(width=120)
    with Others() as others:
        costs = measure(10 if options.quick else 60)
        delta = Delta.derive(secrets.token_bytes(32), "benchmark")
        base = [base_transfers(delta)[:2] for _ in range(3 if options.quick else 10)]
    console.print(table_of(costs))
    console.print(
        "Bare AES: 12 blocks for each AND gate. Ratio: garbler and evaluator to bare AES."
    )
    few, many = (next(cost for cost in costs if cost.circuit.places == k) for k in (10, 1000))
    slope = log10(many.both / few.both) / 2
    console.print(f"From K = 10 to K = 1000 both together grow as K^{slope:.2f}.")
    sender, receiver = (min(column) / 1e3 for column in zip(*base, strict=True))
    console.print(f"128 base transfers: sender {sender:.0f} ms, receiver {receiver:.0f} ms of CPU.")
    console.print(f"Others used {others.text}.")


if __name__ == "__main__":
    main()
