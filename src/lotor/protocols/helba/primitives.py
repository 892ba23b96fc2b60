"""What each operation costs on this machine, measured when asked for.

Prices are taken at a few levels, and in between they lie on straight lines: with five points that
is right to a few percent, since an operation's price is linear or about quadratic in the primes
that are left.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Final

import numpy as np

from lotor.crypto.ckks import Ciphertext, EvaluationKeys, Parameters, SecretKey
from lotor.crypto.ckks.binding import seal

_POINTS: Final = 5


@dataclass(frozen=True, slots=True)
class Prices:
    """CPU seconds by operation, at some levels."""

    levels: tuple[int, ...]
    seconds: dict[str, tuple[float, ...]]

    def of(self, operation: str, level: int) -> float:
        return float(np.interp(level, self.levels, self.seconds[operation]))


def measured(parameters: Parameters, repeats: int = 3, points: int = _POINTS) -> Prices:
    """Bare SEAL operations at so many levels, each the fastest of `repeats`."""
    secret = SecretKey.generate(parameters)
    data = secret.evaluation_keys([1])
    keys = EvaluationKeys.from_bytes(data, parameters, secret.fingerprint)
    last = parameters.levels - 1
    levels = tuple(int(level) for level in np.unique(np.linspace(0, last, points).round()))
    rows: dict[str, list[float]] = {}
    for level in levels:
        for name, action in _actions(secret, keys, level, repeats).items():
            rows.setdefault(name, []).append(min(_timed(action) for _ in range(repeats)))
    return Prices(levels, {name: tuple(row) for name, row in rows.items()})


def _actions(
    secret: SecretKey, keys: EvaluationKeys, level: int, repeats: int
) -> dict[str, Callable[[], object]]:
    evaluator, new = keys.context.evaluator, seal().Ciphertext
    parameters, key = secret.parameters, secret.fingerprint
    values = np.linspace(-1, 1, parameters.slots)
    written = secret.encrypt_to_bytes(values, level)
    x, y = (secret.encrypt(values, level).seal for _ in range(2))
    plain = secret.context.encode(0.5, level)
    products = [new() for _ in range(repeats + 1)]
    for product in products:
        evaluator.multiply(x, y, product)
    whole = products.pop()
    evaluator.relinearize_inplace(whole, keys.relinearisation)
    return {
        "multiply": lambda: evaluator.multiply(x, y, new()),
        "square": lambda: evaluator.square(x, new()),
        "multiply_plain": lambda: evaluator.multiply_plain(x, plain, new()),
        "relinearise": lambda: evaluator.relinearize_inplace(products.pop(), keys.relinearisation),
        "rescale": lambda: evaluator.rescale_to_next(whole, new()),
        "rotate": lambda: evaluator.rotate_vector(x, 1, keys.rotation[1], new()),
        "encrypt": lambda: secret.encrypt_to_bytes(values, level),
        "load": lambda: Ciphertext.from_bytes(written, parameters, key),
    }


def _timed(action: Callable[[], object]) -> float:
    started = process_time()
    action()
    return process_time() - started
