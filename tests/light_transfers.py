"""Base transfers that cost nothing and hide nothing, for tests that set up hundreds of runs."""

from hashlib import sha256

import numpy as np
import pytest
from numpy.typing import NDArray

from lotor.crypto.ot import ANSWER_BYTES, OFFER_BYTES, SEED_BYTES, TRANSFERS
from lotor.protocols.garbled import evaluator, garbler


def _seed(run: str, number: int, choice: int) -> bytes:
    return sha256(f"{run} {number} {choice}".encode()).digest()[:SEED_BYTES]


class LightSender:
    def __init__(self, key: bytes, run: str) -> None:
        self._run = run

    def offer(self) -> bytes:
        return bytes(OFFER_BYTES)

    def pairs(self, answer: bytes) -> bytes:
        places = [(number, choice) for number in range(TRANSFERS) for choice in (0, 1)]
        return b"".join(_seed(self._run, number, choice) for number, choice in places)


class LightReceiver:
    def __init__(self, key: bytes, run: str, choices: NDArray[np.uint8]) -> None:
        self._run = run
        self._choices = choices.tolist()

    def answer(self, offer: bytes) -> tuple[bytes, bytes]:
        seeds = [_seed(self._run, number, choice) for number, choice in enumerate(self._choices)]
        return bytes(ANSWER_BYTES), b"".join(seeds)


@pytest.fixture
def light_transfers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "BaseSender", LightSender)
    monkeypatch.setattr(garbler, "BaseReceiver", LightReceiver)
