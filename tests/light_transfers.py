"""Base transfers that cost nothing and hide nothing: tests set up hundreds of runs."""

from collections.abc import Iterator
from hashlib import sha256

import numpy as np
import pytest
from numpy.typing import NDArray

from lotor.crypto.ot import (
    ANSWER_BYTES,
    OFFER_BYTES,
    SEED_BYTES,
    TRANSFERS,
    BaseReceiver,
    BaseSender,
)
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


@pytest.fixture(scope="module", autouse=True)
def light_transfers() -> Iterator[None]:
    """In all tests that do not ask for real ones; doctests and processes have real ones, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "BaseSender", LightSender)
        patch.setattr(garbler, "BaseReceiver", LightReceiver)
        yield


@pytest.fixture
def real_transfers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As everybody runs them."""
    monkeypatch.setattr(evaluator, "BaseSender", BaseSender)
    monkeypatch.setattr(garbler, "BaseReceiver", BaseReceiver)
