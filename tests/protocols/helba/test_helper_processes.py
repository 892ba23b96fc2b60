"""An estimate in parts is the whole one, in clear and by several processes."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.ckks import Encrypted, EvaluationKeys, Evaluator, SecretKey
from lotor.crypto.ckks.adjugate import minor
from lotor.crypto.ckks.formulas import Array
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.divided_estimate import DIVIDED_SIZES, PartialEstimate, divided
from lotor.protocols.helba.paper.helper_processes import HelperProcesses, check_workers
from lotor.protocols.helba.paper.index_circuit import Numbers, Sums, plus
from lotor.protocols.helba.paper.quadratic import QuadraticCircuit, doubled_sums
from lotor.protocols.helba.paper.setting import HelbaSetting
from protocols.helba.stage import setting_of, small

ROUNDS = 6


def circuit_of(setting: HelbaSetting) -> QuadraticCircuit:
    assert isinstance(setting.circuit, QuadraticCircuit)
    return setting.circuit


def updates(setting: HelbaSetting, seed: int, count: int) -> list[list[Array]]:
    """What rounds add to V and g, one repetition."""
    draw, terms = np.random.default_rng(seed), setting.terms
    length = terms.learner.L / np.sqrt(terms.d)
    contexts = draw.uniform(-length, length, (count, 1, terms.d))
    return [setting.packing.update(x, draw.uniform(-1, 1, 1)) for x in contexts]


def contexts(setting: HelbaSetting, seed: int, t: int) -> list[Array]:
    draw, terms = np.random.default_rng(seed), setting.terms
    length = terms.learner.L / np.sqrt(terms.d)
    x = draw.uniform(-length, length, (1, terms.arms, terms.d))
    return circuit_of(setting).packing.contexts(x, t, t)


def clear_sums(setting: HelbaSetting, learnt: list[list[Array]]) -> Numbers[Array]:
    slots = setting.parameters.slots
    sums = tuple(np.full(slots, value) for value in setting.packing.ridge())
    for update in learnt:
        sums = plus(sums, update)
    return sums


@given(st.sampled_from(DIVIDED_SIZES), st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_parts_add_up_to_the_whole(d: int, count: int, seed: int) -> None:
    setting = setting_of(small(stages=2), rounds=ROUNDS, arms=2, d=d)
    circuit, parts = circuit_of(setting), divided(d, count)
    sums = clear_sums(setting, updates(setting, seed, 2))
    tables = contexts(setting, seed, 3)
    whole = circuit.differences(circuit.estimate(sums, 3), tables, 3, 3)
    doubled = doubled_sums(Sums.of(sums, d), circuit.bounds, 3)
    total = np.zeros(1)
    for part in parts:
        minors = {which: minor(doubled.v, which) for which in (*part.minors, *part.taken)}
        total = total + PartialEstimate.of(doubled, part, minors).differences(tables)
    assert np.allclose(total, whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("d", DIVIDED_SIZES)
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_each_minor_is_computed_once_and_given_to_who_needs_it(d: int, count: int) -> None:
    parts = divided(d, count)
    computed = Counter(which for part in parts for which in part.minors)
    assert all(times == 1 for times in computed.values())
    assert {which for part in parts for which in part.taken} == {
        which for part in parts for which in part.given
    }
    assert all(set(part.given) <= set(part.minors) for part in parts)
    assert len({place for part in parts for place in part.places}) == d * (d + 1) // 2


class Kit:
    """A server with a helper, and the key that reads what it computes."""

    def __init__(self, d: int) -> None:
        self.setting = setting_of(small(stages=2), rounds=ROUNDS, arms=2, d=d)
        self.secret = SecretKey.generate(self.setting.parameters)
        data = self.secret.evaluation_keys(self.setting.circuit.rotations)
        keys = EvaluationKeys.from_bytes(data, self.setting.parameters, self.secret.fingerprint)
        self.evaluator = Evaluator(keys)
        self.helpers = HelperProcesses(self.setting, self.evaluator, data, workers=2)
        first = [self.secret.public.encrypt(value) for value in self.setting.packing.ridge()]
        self.sums = tuple(Encrypted(self.evaluator, one) for one in first)
        self.helpers.take(self.sums)

    def learn(self, update: list[Array]) -> None:
        came = [self.secret.encrypt_to_bytes(values) for values in update]
        loaded = [Encrypted(self.evaluator, self.secret.encrypt(values)) for values in update]
        self.sums = self.helpers.learn(came, lambda: plus(self.sums, loaded))

    def differences(self, tables: list[Array], t: int) -> Array:
        self.helpers.renew(self.sums, t)
        spots = self.setting.circuit.spots
        placed = list(zip(tables, spots, strict=True))
        came = [self.secret.encrypt_to_bytes(values, *spot) for values, spot in placed]
        loaded = [Encrypted(self.evaluator, self.secret.encrypt(v, *spot)) for v, spot in placed]
        found = self.helpers.differences(came, lambda: loaded)
        return self.secret.decrypt(found.ciphertext)


@pytest.fixture
def kit(request: pytest.FixtureRequest) -> Iterator[Kit]:
    made = Kit(request.param)
    yield made
    made.helpers.close()


@pytest.mark.parametrize("kit", DIVIDED_SIZES, indirect=True)
def test_helpers_compute_what_one_process_would(kit: Kit) -> None:
    setting, learnt = kit.setting, updates(kit.setting, 1, 2)
    for t, update in enumerate(learnt, 2):
        kit.learn(update)
        tables = contexts(setting, t, t)
        sums = clear_sums(setting, learnt[: t - 1])
        exact = setting.circuit.differences(setting.circuit.estimate(sums, t), tables, t, t)
        error = np.abs(kit.differences(tables, t) - exact).max()
        assert error < setting.circuit.arithmetic_error(t, t) * setting.circuit.polynomial.factor
    assert kit.helpers.cpu_seconds > 0
    assert kit.helpers.operations()["relinearise"] > 0


@pytest.mark.parametrize("kit", [3], indirect=True)
def test_sums_can_be_taken_anew(kit: Kit) -> None:
    """As a server does that goes on from a snapshot."""
    update = updates(kit.setting, 1, 1)[0]
    before = kit.sums
    kit.learn(update)
    kit.helpers.take(before)
    kit.sums = before
    tables = contexts(kit.setting, 1, 1)
    circuit = kit.setting.circuit
    exact = circuit.differences(circuit.estimate(clear_sums(kit.setting, []), 1), tables, 1, 1)
    assert np.allclose(kit.differences(tables, 1), exact, atol=1e-3)


@pytest.mark.parametrize("kit", [3], indirect=True)
def test_a_helper_that_ends_is_an_error_that_says_so(kit: Kit) -> None:
    kit.helpers._processes._processes[0].kill()
    with pytest.raises(CryptoError, match="has ended"):
        kit.differences(contexts(kit.setting, 1, 1), 1)
    with pytest.raises(CryptoError, match="start again"):
        kit.differences(contexts(kit.setting, 1, 1), 1)


def test_too_many_are_refused() -> None:
    def setting(d: int, policy: BatchedOFUL | None = None) -> HelbaSetting:
        return setting_of(small(policy, stages=2), rounds=3, arms=2, d=d)

    for d in (2, 6):
        check_workers(setting(d), 1)
        with pytest.raises(InputError, match="Take workers=1"):
            check_workers(setting(d), 2)
    check_workers(setting(3), 6)
    with pytest.raises(InputError, match="at most 6"):
        check_workers(setting(3), 7)
    with pytest.raises(InputError, match="not divided"):
        divided(2, 2)
