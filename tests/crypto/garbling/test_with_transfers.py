"""Transfers and circuits together: numbers shared by XOR, and who has the largest one."""

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.garbling import (
    ArgmaxCircuit,
    Evaluator,
    Garbler,
    HashKeys,
    LabelSource,
    OutputCodes,
    OutputSigns,
    Place,
    Purpose,
    bits_of,
    chosen,
    codes_of,
    opened,
    read_labels,
    signs_of,
)
from lotor.crypto.ot import BaseReceiver, BaseSender, CorrelatedReceiver, CorrelatedSender, Delta

PLACES, WIDTH, BATCH = 7, 63, 3
CIRCUIT = ArgmaxCircuit(PLACES, WIDTH, shares=2)
KEYS = HashKeys(bytes(range(32)))
Words = NDArray[np.uint64]


class GarblerSide:
    """All that it keeps is a key."""

    def __init__(self, key: bytes) -> None:
        self.delta = Delta.derive(key, "run")
        self.base = BaseReceiver(key, "run", self.delta.bits)
        self.source = LabelSource(key)
        self.garbler = Garbler(CIRCUIT, self.delta, BATCH)

    def meet(self, offer: bytes) -> bytes:
        answer, seeds = self.base.answer(offer)
        self.sender = CorrelatedSender(seeds, self.delta)
        return answer

    def garble(self, batch: int, columns: bytes) -> tuple[bytes, OutputCodes]:
        shape = (WIDTH, PLACES, BATCH)
        q = self.sender.extend(batch, columns, WIDTH * PLACES * BATCH).reshape(*shape, 2)
        self.own = self.source.zeros(0, 0, batch, shape)
        place = Place(0, 0, batch * BATCH)
        key = KEYS.of(0, batch, Purpose.GARBLING)
        garbled = self.garbler.garble(key, place, self.own, q)
        tag_key = KEYS.of(0, batch, Purpose.OUTPUTS)
        return garbled.tables.tobytes(), codes_of(tag_key, place, garbled.outputs, self.delta)

    def labels(self, number: int, shares: Words) -> bytes:
        zeros = self.own[:, :, number : number + 1]
        return chosen(zeros, bits_of(shares[:, np.newaxis], WIDTH), self.delta).tobytes()


class EvaluatorSide:
    """Keeps a key as well."""

    def __init__(self, key: bytes) -> None:
        self.base = BaseSender(key, "run")
        self.evaluator = Evaluator(CIRCUIT)

    def meet(self, answer: bytes) -> None:
        self.receiver = CorrelatedReceiver(self.base.pairs(answer))

    def choose(self, batch: int, shares: Words) -> bytes:
        columns, self.own = self.receiver.extend(batch, bits_of(shares, WIDTH))
        return columns

    def evaluate(self, batch: int, number: int, tables: bytes, message: bytes) -> OutputSigns:
        size, one = CIRCUIT.table_bytes, slice(number, number + 1)
        place = Place(0, 0, batch * BATCH + number)
        key = KEYS.of(0, batch, Purpose.GARBLING)
        theirs = read_labels(message, (WIDTH, PLACES, 1))
        table = memoryview(tables)[number * size : (number + 1) * size]
        result = self.evaluator.evaluate(key, place, table, theirs, self.own[:, :, one])
        return signs_of(KEYS.of(0, batch, Purpose.OUTPUTS), place, result)


def transcript(numbers: Words, shares: Words) -> tuple[list[bytes], list[int]]:
    """All messages, and who won each round; both are (batches, places, rounds)."""
    garbler, evaluator = GarblerSide(bytes(range(32))), EvaluatorSide(bytes(range(32, 64)))
    messages, winners = [evaluator.base.offer()], []
    messages.append(garbler.meet(messages[0]))
    evaluator.meet(messages[1])
    for batch in range(len(numbers)):
        columns = evaluator.choose(batch, shares[batch])
        tables, codes = garbler.garble(batch, columns)
        messages += [columns, tables]
        for number in range(BATCH):
            masked = (numbers ^ shares)[batch, :, number]
            messages.append(garbler.labels(number, masked))
            signs = evaluator.evaluate(batch, number, tables, messages[-1])
            messages.append(signs.colours.tobytes() + signs.tags.tobytes())
            bits = opened(codes.of(number), signs)
            winners.append(int(np.flatnonzero(bits)[0]))
    return messages, winners


def test_shared_numbers_from_the_first_message_to_the_last() -> None:
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 2**WIDTH, (2, PLACES, BATCH), np.uint64)
    numbers[1] %= np.uint64(3)
    shares = rng.integers(0, 2**WIDTH, numbers.shape, np.uint64)
    messages, winners = transcript(numbers, shares)
    assert winners == numbers.argmax(axis=1).ravel().tolist()
    again, _ = transcript(numbers, shares)
    assert again == messages  # both parties were built anew from their keys


def test_sizes_of_messages() -> None:
    zeros = np.zeros((1, PLACES, BATCH), np.uint64)
    messages, _ = transcript(zeros, zeros)
    transfers = WIDTH * PLACES * BATCH
    expected = [384, 49_152, 128 * -(-transfers // 8), BATCH * CIRCUIT.table_bytes]
    assert [len(message) for message in messages] == expected + BATCH * [
        16 * WIDTH * PLACES,
        9 * PLACES,
    ]
