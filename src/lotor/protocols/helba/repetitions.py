"""Many repetitions at once: each has slots of its own in the same ciphertexts.

A round costs the same for one repetition as for thousands, which is how regret is measured. The
same loop runs in the clear, by the circuit's twin on arrays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

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
    flood,
)
from lotor.crypto.ckks.formulas import Array, Number
from lotor.environments import LinearContexts
from lotor.protocols.helba.bounds import check_squares
from lotor.protocols.helba.circuit import Sums, choose, estimate
from lotor.protocols.helba.setting import Setting


class Arithmetic(Protocol[Number]):
    """How what is in slots becomes numbers of a circuit, and is read again."""

    def first(self, value: float) -> Number:
        """A public number in all slots."""
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


class InClear:
    """The twin: no encryption, and no noise."""

    def __init__(self, setting: Setting) -> None:
        self._slots = setting.comparing.slots

    def first(self, value: float) -> Array:
        return np.full(self._slots, value)

    def contexts(self, slots: Sequence[Floats]) -> list[Array]:
        return list(slots)

    def update(self, slots: Sequence[Floats]) -> list[Array]:
        return list(slots)

    def read(self, answer: Array) -> Floats:
        return answer


class UnderEncryption:
    """The user's key and the server's, in one hand: for simulations only."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._secret = SecretKey.generate(setting.parameters)
        evaluation = self._secret.evaluation_keys(setting.comparing.rotations)
        keys = EvaluationKeys.from_bytes(evaluation, setting.parameters, self._secret.fingerprint)
        self.evaluator = Evaluator(keys)

    def first(self, value: float) -> Encrypted:
        return self._taken(self._secret.public.encrypt(value))

    def contexts(self, slots: Sequence[Floats]) -> list[Encrypted]:
        levels, d = self._setting.levels, self._setting.terms.d
        return [
            self._taken(self._secret.encrypt(values, levels.contexts, scale))
            for values, scale in zip(slots, levels.scales(d), strict=True)
        ]

    def update(self, slots: Sequence[Floats]) -> list[Encrypted]:
        return [self._taken(self._secret.encrypt(values)) for values in slots]

    def read(self, answer: Encrypted) -> Floats:
        noisy = flood(answer.ciphertext, self._secret.public, self._setting.terms.noise)
        return self._secret.decrypt(noisy)

    def decrypt(self, number: Encrypted) -> Floats:
        """What is in its slots, without noise: for tests of a circuit."""
        return self._secret.decrypt(number.ciphertext)

    def _taken(self, ciphertext: Ciphertext) -> Encrypted:
        return Encrypted(self.evaluator, ciphertext)


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
    setting: Setting,
    environments: Sequence[LinearContexts],
    seeds: Sequence[int],
    arithmetic: Arithmetic[Number],
) -> Iterator[Round]:
    """The rounds of a run, for one repetition with each environment and seed."""
    terms, bounds, packing = setting.terms, setting.bounds, setting.packing
    _check(setting, environments)
    pulls = [arms.start(seed) for arms, seed in zip(environments, seeds, strict=True)]
    sums = Sums.of([arithmetic.first(value) for value in packing.ridge()], terms.d)
    start, learnt = 1, estimate(sums, bounds, 1)
    squares = np.zeros(len(environments))
    for t in range(1, terms.budget + 1):
        begun = bounds.start(t, start)
        if begun != start:
            start, learnt = begun, estimate(sums, bounds, begun)
        x = np.stack([arms.contexts_at(t) for arms in environments])
        tables = arithmetic.contexts(packing.contexts(x, t, start))
        answer = arithmetic.read(choose(learnt, tables, setting.comparing))
        b = packing.read(answer, len(environments))
        arms = [int(arm) for arm in b.argmax(axis=1)]
        rewards = [
            pull(Decision.of_step(terms.run, t, arm)) for pull, arm in zip(pulls, arms, strict=True)
        ]
        yield Round(t, start, x, b, arms, rewards)
        pulled = x[np.arange(len(arms)), arms]
        squares += np.square(pulled).sum(axis=1)
        check_squares(float(squares.max()), bounds, t)
        sums = sums.plus(arithmetic.update(packing.update(pulled, np.array(rewards))))


def _check(setting: Setting, environments: Sequence[LinearContexts]) -> None:
    terms = setting.terms
    setting.comparing.check(len(environments))
    for arms in environments:
        if (arms.k, arms.d) != (terms.arms, terms.d) or arms.rounds < terms.budget:
            raise InputError(
                f"all repetitions have {terms.arms} arms, contexts of {terms.d} numbers and at "
                f"least {terms.budget} rounds: one of them is {arms!r}"
            )
        terms.learner.check_contexts(arms.contexts[: terms.budget])
