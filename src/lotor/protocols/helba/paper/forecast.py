"""What a run will cost, and how small a gap it can tell apart, before any of it is computed.

>>> import lotor
>>> from lotor.core.fixed_point import RewardScale
>>> scale = RewardScale(-1, 1)
>>> setting = lotor.Helba(form="paper").setting("demo", budget=130, arms=2, d=2, scale=scale)
>>> forecast = HelbaForecast(setting)
>>> forecast.levels, forecast.modulus_bits, forecast.ring_degree
(14, 820, 32768)
>>> forecast.resolution(130) < 0.002
True
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from time import process_time
from typing import Final

import numpy as np

from lotor.crypto.ckks import Ciphertext, EvaluationKeys, Parameters, SecretKey
from lotor.crypto.seal.binding import seal
from lotor.protocols.helba.paper.complexity import per_round, per_switch, per_update
from lotor.protocols.helba.paper.counts import Counts
from lotor.protocols.helba.paper.setting import HelbaSetting

# Python, numpy and SEAL's tables, before any key.
_PROCESS_BYTES: Final = 250 << 20
# At how many levels prices are measured.
_POINTS: Final = 5


@dataclass(frozen=True, slots=True)
class Prices:
    """What each CKKS operation costs on this machine: CPU seconds, at some levels.

    Between these levels prices are interpolated linearly: with five points that is right to a few
    percent, since an operation's price is linear or about quadratic in the primes that are left.
    """

    levels: tuple[int, ...]
    seconds: dict[str, tuple[float, ...]]

    def of(self, operation: str, level: int) -> float:
        return float(np.interp(level, self.levels, self.seconds[operation]))


@dataclass(frozen=True)
class HelbaForecast:
    """The levels, sizes, memory, time and resolution of a run."""

    setting: HelbaSetting

    @property
    def levels(self) -> int:
        return self.setting.parameters.levels

    @property
    def ring_degree(self) -> int:
        return self.setting.parameters.degree

    @property
    def modulus_bits(self) -> int:
        return self.setting.parameters.bits

    @property
    def entries(self) -> int:
        """How many ciphertexts the sums of rounds are, and as many the contexts of a round."""
        return len(self.setting.circuit.spots)

    @property
    def round_bytes_up(self) -> int:
        """From user to server in a round: contexts, and the update."""
        parameters = self.setting.parameters
        contexts = sum(
            parameters.ciphertext_bytes(spot.level, seeded=True)
            for spot in self.setting.circuit.spots
        )
        return contexts + self.entries * parameters.ciphertext_bytes(seeded=True)

    @property
    def update_bytes_up(self) -> int:
        """From user to server with a new estimate, where the user encrypts it again."""
        spots = self.setting.circuit.refreshed(self.setting.terms.budget)
        return sum(self.setting.parameters.ciphertext_bytes(spot.level) for spot in spots)

    @property
    def round_bytes_down(self) -> int:
        return self.setting.parameters.ciphertext_bytes(self.levels)

    @property
    def key_bytes(self) -> int:
        """The evaluation keys that the server is sent once, about."""
        return self._switching_keys * self.setting.parameters.switching_key_bytes() // 2

    @property
    def _switching_keys(self) -> int:
        return 1 + len(self.setting.circuit.rotations)

    @property
    def server_memory_bytes(self) -> int:
        """Keys as received and loaded, V, g, X, h, one round's contexts, and what is computed."""
        parameters = self.setting.parameters
        keys = self.key_bytes + self._switching_keys * parameters.switching_key_bytes()
        # Sums, doubled sums, estimate and contexts, and for an adjugate its minors.
        kept = 4 * self.entries + per_update(self.setting)["relinearise", 0]
        return _PROCESS_BYTES + keys + kept * parameters.ciphertext_bytes()

    def updates(self) -> int:
        """How often the estimate is renewed."""
        return self.setting.bounds.batches()

    @cached_property
    def decided(self) -> float:
        """The smallest part of the largest possible difference that noise leaves decided."""
        terms, comparison = self.setting.terms, self.setting.circuit.polynomial
        return comparison.resolution(clear_error(terms.arms, terms.noise))

    def value_resolution(self, t: int, start: int) -> float:
        """`decided` with errors of encrypted arithmetic, in round t of the batch from `start`."""
        return self.decided + self.arithmetic_error(t, start)

    def arithmetic_error(self, t: int, start: int) -> float:
        """How far computed differences are from exact ones at most, as part of the largest."""
        return self.setting.circuit.arithmetic_error(t, start)

    def resolution(self, t: int, log_determinant: float | None = None) -> float:
        """The smallest gap between the two largest indices of round t that is decided right.

        Where no inverse is computed it depends on ln det V of the batch, which nobody knows during
        a run: without one, contexts are taken to be as long as allowed and in all directions alike,
        and the gap grows as det V falls behind that. Batches are those of the public schedule.
        """
        bounds, start = self.setting.bounds, 1
        for s in range(2, t + 1):
            start = bounds.start(s, start)
        value = self.value_resolution(t, start)
        return self.setting.circuit.gap(value, t, start, log_determinant)

    def switch_resolution(self) -> float | None:
        """How far tr must be from C for condition (8) to be decided right, if it is asked."""
        return self.setting.circuit.switch_resolution()

    def seconds(self, prices: Prices) -> Mapping[str, float]:
        """CPU seconds of a round, a new estimate and the whole run, at measured prices."""
        setting = self.setting
        spots = [spot.level for spot in setting.circuit.spots] + [0] * self.entries
        server = _priced(per_round(setting), prices) + _priced(per_switch(setting), prices)
        server += sum(prices.of("load", level) for level in spots)
        user = sum(prices.of("encrypt", level) for level in spots)
        updates = [self._update_seconds(start, prices) for start in setting.bounds.starts()]
        return {
            "server_round": server,
            "user_round": user,
            "update": max(updates),
            "run": setting.terms.budget * (server + user) + sum(updates),
        }

    def _update_seconds(self, start: int, prices: Prices) -> float:
        """A new estimate, with the user's help if it takes any."""
        helped = self.setting.circuit.refreshed(start)
        return _priced(per_update(self.setting, start), prices) + sum(
            prices.of("encrypt", spot.level) + prices.of("load", spot.level) for spot in helped
        )

    def summary(self) -> Mapping[str, float | int]:
        """Everything that is known without measuring, by name."""
        terms = self.setting.terms
        return {
            "levels": self.levels,
            "modulus_bits": self.modulus_bits,
            "prime_bits": self.setting.parameters.scale_bits,
            "ring_degree": self.ring_degree,
            "security": terms.security,
            "stages": terms.stages,
            "updates": self.updates(),
            "round_bytes_up": self.round_bytes_up,
            "round_bytes_down": self.round_bytes_down,
            "update_bytes_up": self.update_bytes_up,
            "evaluation_key_bytes": self.key_bytes,
            "server_memory_bytes": self.server_memory_bytes,
            "decided": self.decided,
            "resolution_last_round": self.resolution(terms.budget),
        }


def _priced(counts: Counts, prices: Prices) -> float:
    return sum(count * prices.of(operation, level) for (operation, level), count in counts.items())


def clear_error(arms: int, noise: float) -> float:
    """How far comparisons may be from a sign, with the best arm still ahead by six deviations.

    It wins against each of the others up to this error e: its b is at least (1 - e/2)^(K-1), and
    another's at most e/2.
    """
    margin = 6 * sqrt(2) * noise
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        ahead = (1 - middle / 2) ** (arms - 1) - middle / 2
        low, high = (middle, high) if ahead >= margin else (low, middle)
    return low


def measured(parameters: Parameters, repeats: int = 3, points: int = _POINTS) -> Prices:
    """The prices of bare SEAL operations at so many levels, each the fastest of `repeats`."""
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
