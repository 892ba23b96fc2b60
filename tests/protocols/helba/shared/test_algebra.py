"""What is hidden by R and s, what is counted, and when a run must stop."""

import secrets
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import ProtocolError
from lotor.crypto.residues import Modulus, Numbers, Residues, ResidueSource
from lotor.policies.optimistic import BatchedOFUL, Grid, WholeModel
from lotor.policies.optimistic.whole_model import dot, times
from lotor.protocols.helba.shared.algebra import HiddenEstimate, HidingMatrix
from lotor.protocols.helba.shared.pads import UserPads
from lotor.protocols.helba.shared.setting import HelbaSharedSetting
from lotor.protocols.helba.shared.shares import ChosenShares
from protocols.helba.shared.stage import POLICIES, QUADRATIC, contexts, setting_of

seeds = st.integers(0, 2**32)
KEY = bytes(range(32))


class Batch:
    """A server's sums after some rounds, and shares of products as transfers would give them."""

    def __init__(self, policy: BatchedOFUL, seed: int, *, d: int, rounds: int) -> None:
        self.setting = setting_of(policy, arms=3, d=d)
        self.pads = UserPads(KEY, self.setting)
        self.model = WholeModel(policy, Grid(), d)
        self.start = rounds + 1
        self.sums = self.pads.first()
        table = contexts(seed, rounds=rounds, arms=1, d=d, longest=policy.L)
        for t, (x,) in enumerate(table, start=1):
            reward = (seed * t) % 13 - 6.0
            self.model.update(x, reward)
            (row,) = Grid().contexts(x[np.newaxis])
            update = self.pads.update(t, row, Grid().reward(reward))
            self.sums = self.setting.modulus.add(self.sums, update)
        self.model._estimate()
        self.hiding = HidingMatrix(secrets.token_bytes(32), self.setting, self.start)

    def shares(self) -> tuple[Residues, Residues]:
        """The user's and the server's share of pads times R and s."""
        modulus = self.setting.modulus
        pads, _, _ = self.pads.after(self.start - 1)
        whole = (pads @ modulus.whole(self.hiding.estimate_numbers()).T).T % modulus.product
        mine = ResidueSource(bytes(32), modulus).numbers(0, 0, whole.size).reshape(whole.shape)
        return modulus.residues(mine), modulus.residues(whole - mine)

    def opened(self, sums: Residues | None = None) -> tuple[HiddenEstimate, Residues]:
        mine, theirs = self.shares()
        covered = self.hiding.covered(self.sums if sums is None else sums, theirs)
        pads = self.pads.after(self.start - 1)
        return HiddenEstimate.opened(self.setting, self.start, covered, pads, mine)


def numbers(
    setting: HelbaSharedSetting, batch: Batch, t: int, rows: list[list[int]]
) -> list[Numbers]:
    """Scalar products of what the two have, as signed numbers."""
    estimate, _ = batch.opened()
    found = []
    for vectors, values, call in zip(
        estimate.vectors(t, rows),
        batch.hiding.score_numbers(),
        setting.score_products(t),
        strict=True,
    ):
        modulus = call.modulus
        total = modulus.whole(values)[0] @ modulus.whole(vectors)[0]
        found.append(modulus.signed(modulus.residues(total)))
    return found


@settings(max_examples=40)
@given(seeds, st.sampled_from(POLICIES), st.integers(1, 4), st.integers(0, 9))
def test_products_are_the_numbers_of_plain(
    seed: int, policy: BatchedOFUL, d: int, rounds: int
) -> None:
    batch = Batch(policy, seed, d=d, rounds=rounds)
    setting, index, t = batch.setting, batch.setting.index, rounds + 1
    (table,) = contexts(seed + 1, rounds=1, arms=3, d=d, longest=policy.L)
    rows, model = Grid().contexts(table), batch.model
    a = [dot(row, model._weights) for row in rows]
    z = [dot(row, times(model._inverse, row)) for row in rows]
    found = [part.tolist() for part in numbers(setting, batch, t, rows)]
    if index.rooted:
        b, e = index.squares(t, t)
        det = model._scale
        assert found == [a, [(b * each + e * det) * det for each in z]]
    else:
        q = index.factor(t, t)
        assert found == [[one + q * other for one, other in zip(a, z, strict=True)]]


def test_a_and_e_are_uniform_whatever_is_summed() -> None:
    """All R and s over a field of 3 numbers: each A and e comes out equally often."""
    field, d = [0, 1, 2], 2
    for v, g in (([[1, 0], [0, 1]], [0, 0]), ([[2, 1], [1, 1]], [1, 2])):
        seen: Counter[tuple[int, ...]] = Counter()
        for entries in product(field, repeat=d * d + d):
            r, s = np.array(entries[:4]).reshape(2, 2), np.array(entries[4:])
            if round(np.linalg.det(r)) % 3:
                a, e = np.array(v) @ r % 3, (np.array(g) + np.array(v) @ s) % 3
                seen[*a.ravel().tolist(), *e.tolist()] += 1
        assert set(seen.values()) == {1}
        assert len(seen) == 48 * 9


@pytest.mark.parametrize("lost", ["lost", "doubled", "altered", "swapped"])
def test_an_update_that_was_not_counted_once_stops_the_run(lost: str) -> None:
    batch = Batch(QUADRATIC, 5, d=2, rounds=4)
    modulus = batch.setting.modulus
    update = batch.pads.update(4, [1, 2], 3)
    sums = {
        "lost": modulus.subtract(batch.sums, update),
        "doubled": modulus.add(batch.sums, update),
        "altered": modulus.add(batch.sums, modulus.residues(np.arange(6))),
        "swapped": batch.sums[::-1].copy(),
    }[lost]
    with pytest.raises(ProtocolError, match="has not summed each of 5 updates once"):
        batch.opened(sums)


def test_a_determinant_that_a_prime_divides_stops_the_run_and_names_no_prime() -> None:
    setting = setting_of(d=2)
    modulus = setting.modulus
    both = modulus.residues(np.array([[modulus.primes[1], 0, 1], [0, 1, 1]], object))
    with pytest.raises(ProtocolError, match=r"once in 2\^53 runs.*start a new run") as caught:
        HiddenEstimate(setting, 7, both)
    assert not any(str(prime) in str(caught.value) for prime in modulus.primes)


def test_r_and_s_are_new_with_each_batch_and_the_same_after_a_restart() -> None:
    setting = setting_of(d=3)
    first, again, later = (HidingMatrix(KEY, setting, start) for start in (4, 4, 5))
    assert np.array_equal(first.estimate_numbers(), again.estimate_numbers())
    assert not (first.estimate_numbers() == later.estimate_numbers()).any()


def test_pads_cover_every_number_anew() -> None:
    setting = setting_of(d=2)
    pads = UserPads(KEY, setting)
    updates = [pads.first(), *(pads.update(t, [0, 0], 0) for t in range(1, 20))]
    words = np.array(updates).ravel()
    assert len(set(words.tolist())) == words.size
    total = setting.modulus.total(np.array(updates))
    _, _, count = pads.after(19)
    assert (int(setting.modulus.whole(total)[-1]) - count) % setting.modulus.product == 20


def test_shares_are_chosen_anew_in_each_round() -> None:
    setting = setting_of(POLICIES[1], d=2)
    chosen = ChosenShares(KEY, setting)
    bits = chosen.choices(setting.schedule.batch(0))
    assert [each.shape[1:] for each in bits] == [(2, setting.schedule.size)] * 2
    for each in bits:
        columns = {each[:, arm, turn].tobytes() for arm in range(2) for turn in range(3)}
        assert len(columns) == 6
    assert all(
        np.array_equal(a, b)
        for a, b in zip(
            bits, ChosenShares(KEY, setting).choices(setting.schedule.batch(0)), strict=True
        )
    )


def test_nothing_secret_is_in_a_repr() -> None:
    batch = Batch(QUADRATIC, 5, d=2, rounds=2)
    estimate, _ = batch.opened()
    assert repr(estimate) == "<HiddenEstimate of the batch from round 3>"
    assert repr(batch.hiding) == "<HidingMatrix of the batch from round 3>"
    assert repr(batch.pads) == "<UserPads>"


def test_the_modulus_of_linear_parts_divides_that_of_squares() -> None:
    for policy in POLICIES:
        setting = setting_of(policy, d=3)
        linear, larger = setting.linear_modulus, setting.modulus
        assert isinstance(larger, Modulus)
        assert larger.primes[: linear.count] == linear.primes
