"""Simulates many repetitions of a HELBA run at once: each has its own slots in the ciphertexts.

A round costs the same for one repetition as for thousands, which is how regret is measured. The
same loop runs in the clear, where the circuit computes on arrays. One process holds the user's key
and the server's: this is for benchmarks and tests only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol

import numpy as np

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import (
    Ciphertext,
    Encrypted,
    EvaluationKeys,
    Evaluator,
    SecretKey,
    add_mask,
    encrypt_again,
    flood,
    take_mask_off,
)
from lotor.crypto.ckks.formulas import Array, Number
from lotor.environments import LinearContexts
from lotor.protocols.helba.paper.bounds import check_squares
from lotor.protocols.helba.paper.index_circuit import IndexCircuit, Numbers, Spot, plus
from lotor.protocols.helba.paper.root import RootCircuit, new_coin
from lotor.protocols.helba.paper.setting import HelbaSetting


class Arithmetic(Protocol[Number]):
    """What the simulation computes with: it turns slots into a circuit's numbers and back."""

    def first(self, value: float | Floats, level: int = 0) -> Number:
        """A public number in all slots, or one in each."""
        ...

    def contexts(self, slots: Sequence[Floats]) -> list[Number]:
        """A round's contexts."""
        ...

    def update(self, slots: Sequence[Floats]) -> list[Number]:
        """What a round adds to V and g."""
        ...

    def read(self, answer: Number) -> Floats:
        """What the user sees of an answer."""
        ...

    def refreshed(self, numbers: Sequence[Number], spots: Sequence[Spot]) -> list[Number]:
        """An estimate of numbers up to 1, after the user encrypted it again."""
        ...


class InClear:
    """Computes on arrays, without encryption and noise."""

    def __init__(self, setting: HelbaSetting) -> None:
        self._slots = setting.parameters.slots

    def first(self, value: float | Floats, level: int = 0) -> Array:  # noqa: ARG002
        return np.full(self._slots, value)

    def contexts(self, slots: Sequence[Floats]) -> list[Array]:
        return list(slots)

    def update(self, slots: Sequence[Floats]) -> list[Array]:
        return list(slots)

    def read(self, answer: Array) -> Floats:
        return answer

    def refreshed(
        self,
        numbers: Sequence[Array],
        spots: Sequence[Spot],  # noqa: ARG002
    ) -> list[Array]:
        return list(numbers)


class UnderEncryption:
    """Computes on ciphertexts, with the user's key and the server's."""

    def __init__(self, setting: HelbaSetting) -> None:
        self._setting = setting
        self._secret = SecretKey.generate(setting.parameters)
        evaluation = self._secret.evaluation_keys(setting.circuit.rotations)
        keys = EvaluationKeys.from_bytes(evaluation, setting.parameters, self._secret.fingerprint)
        self.evaluator = Evaluator(keys)

    def first(self, value: float | Floats, level: int = 0) -> Encrypted:
        return self._taken(self._secret.public.encrypt(value, level))

    def contexts(self, slots: Sequence[Floats]) -> list[Encrypted]:
        return [
            self._taken(self._secret.encrypt(values, spot.level, spot.scale))
            for values, spot in zip(slots, self._setting.circuit.spots, strict=True)
        ]

    def update(self, slots: Sequence[Floats]) -> list[Encrypted]:
        return [self._taken(self._secret.encrypt(values)) for values in slots]

    def read(self, answer: Encrypted) -> Floats:
        noisy = flood(answer.ciphertext, self._secret.public, self._setting.circuit.noise)
        return self._secret.decrypt(noisy)

    def refreshed(self, numbers: Sequence[Encrypted], spots: Sequence[Spot]) -> list[Encrypted]:
        fresh = []
        for number, spot in zip(numbers, spots, strict=True):
            masked, mask = add_mask(number.ciphertext, self._secret.public, 1.0)
            again = encrypt_again(self._secret, masked, spot.level)
            fresh.append(self._taken(take_mask_off(again, mask)))
        return fresh

    def decrypt(self, number: Encrypted) -> Floats:
        """What is in its slots, without noise: for tests of a circuit."""
        return self._secret.decrypt(number.ciphertext)

    def _taken(self, ciphertext: Ciphertext) -> Encrypted:
        return Encrypted(self.evaluator, ciphertext)


@dataclass(frozen=True, slots=True)
class SimulatedBatch(Generic[Number]):
    """Rounds that share one estimate; `before` are the sums of all rounds before."""

    start: int
    before: Numbers[Number]
    learnt: Numbers[Number]


@dataclass(frozen=True, slots=True)
class Round:
    """One round of all repetitions: what was offered, answered, pulled and paid."""

    t: int
    start: int
    contexts: Floats
    b: Floats
    arms: list[int]
    rewards: list[float]


def repeat(
    setting: HelbaSetting,
    environments: Sequence[LinearContexts],
    seeds: Sequence[int],
    arithmetic: Arithmetic[Number],
) -> Iterator[Round]:
    """The rounds of a run, for one repetition with each environment and seed."""
    terms, bounds, packing = setting.terms, setting.bounds, setting.packing
    _check(setting, environments)
    pulls = [arms.start(seed) for arms, seed in zip(environments, seeds, strict=True)]
    sums = tuple(arithmetic.first(value) for value in packing.ridge())
    batch = SimulatedBatch(1, sums, renewed(setting.circuit, sums, 1, arithmetic))
    squares = np.zeros(len(environments))
    for t in range(1, terms.budget + 1):
        if t > 1 and _ends(setting, batch, sums, t, arithmetic):
            batch = SimulatedBatch(t, sums, renewed(setting.circuit, sums, t, arithmetic))
        start = batch.start
        x = np.stack([arms.contexts_at(t) for arms in environments])
        tables = arithmetic.contexts(packing.contexts(x, t, start))
        answer = arithmetic.read(setting.circuit.choose(batch.learnt, tables, t, start))
        b = packing.read(answer, len(environments))
        arms = [int(arm) for arm in b.argmax(axis=1)]
        rewards = [
            pull(Decision.of_step(terms.run, t, arm)) for pull, arm in zip(pulls, arms, strict=True)
        ]
        yield Round(t, start, x, b, arms, rewards)
        pulled = x[np.arange(len(arms)), arms]
        squares += np.square(pulled).sum(axis=1)
        check_squares(float(squares.max()), bounds, t)
        sums = plus(sums, arithmetic.update(packing.update(pulled, np.array(rewards))))


def _ends(
    setting: HelbaSetting,
    batch: SimulatedBatch[Number],
    sums: Numbers[Number],
    t: int,
    arithmetic: Arithmetic[Number],
) -> bool:
    """Whether a new batch starts with round t."""
    if setting.bounds.start(t, batch.start) == t:
        return True
    return ends_by_condition(setting.circuit, batch.learnt, batch.before, sums, arithmetic)


def renewed(
    circuit: IndexCircuit, sums: Sequence[Number], start: int, arithmetic: Arithmetic[Number]
) -> Numbers[Number]:
    """A new estimate of all rounds before `start`, which the user refreshes if it has to.

    With the paper's index the first estimate is public, and the user refreshes all others.
    """
    if not isinstance(circuit, RootCircuit):
        return circuit.estimate(sums, start)
    if start == 1:
        public = zip(circuit.packing.first_estimate(), circuit.spots, strict=True)
        return tuple(arithmetic.first(value, spot.level) for value, spot in public)
    return tuple(arithmetic.refreshed(circuit.estimate(sums, start), circuit.spots))


def ends_by_condition(
    circuit: IndexCircuit,
    of: Sequence[Number],
    before: Sequence[Number],
    sums: Sequence[Number],
    arithmetic: Arithmetic[Number],
) -> bool:
    """Whether condition (8) ends a batch that began with the sums `before`."""
    if not isinstance(circuit, RootCircuit) or circuit.bounds.policy.C is None:
        return False
    coin = new_coin()
    answer = arithmetic.read(circuit.covered_sign(of, before, sums, coin))
    return circuit.uncovered(answer.item(0) > 0, coin)


def _check(setting: HelbaSetting, environments: Sequence[LinearContexts]) -> None:
    terms = setting.terms
    check_repetitions(setting.circuit, len(environments))
    if terms.learner.C is not None and len(environments) > 1:
        raise InputError(
            "condition (8) ends the batches of each repetition in different rounds: take C=None, "
            "or one repetition"
        )
    for arms in environments:
        if (arms.k, arms.d) != (terms.arms, terms.d) or arms.rounds < terms.budget:
            raise InputError(
                f"{arms!r} does not fit the setting: all repetitions need {terms.arms} arms, "
                f"contexts of {terms.d} numbers and at least {terms.budget} rounds"
            )
        terms.learner.check_contexts(arms.contexts[: terms.budget])


def check_repetitions(circuit: IndexCircuit, repetitions: int) -> None:
    """Refuse more repetitions than there is room for."""
    if not 1 <= repetitions <= circuit.repetitions:
        raise InputError(
            f"{repetitions} repetitions of {circuit.terms.arms} arms: the slots hold 1 to "
            f"{circuit.repetitions}; take fewer"
        )
