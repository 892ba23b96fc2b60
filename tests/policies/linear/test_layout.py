"""Against a reference in exact fractions."""

from fractions import Fraction
from math import inf, isqrt, ldexp, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import largest_norm
from lotor.policies.linear import Layout, RewardSum, SlotBits

seeds = st.integers(0, 2**32)
slots: st.SearchStrategy[SlotBits] = st.sampled_from((59, 62, 64, 96))
magnitudes = st.integers(-60, 60)


class Instance:
    """Random rows, theta and c, with duplicates, at any scale and right up to the bounds."""

    def __init__(self, seed: int, slot_bits: SlotBits, low: int, high: int, c: int) -> None:
        generator = np.random.default_rng(seed)
        k, d = int(generator.integers(2, 9)), int(generator.integers(1, 9))
        rows = generator.normal(size=(k, d))
        rows *= 2.0**low / largest_norm(rows)
        rows[generator.integers(k)] = rows[0]
        theta = generator.normal(size=d)
        theta *= 2.0**high / sqrt(np.square(theta).sum())
        self.u: Floats = rows
        self.real_theta: Floats = theta
        self.c: Floats = generator.normal(size=k) * 2.0**c
        self.layout = Layout(L=2.0**low, S=2.0**high, k=k, d=d, slot_bits=slot_bits)

    def reference(self) -> list[int]:
        """The unclamped scores, each coordinate rounded once, without the common shift."""
        layout, top = self.layout, self.c.max()
        theta = [_rounded(value, layout.theta_fraction) for value in self.real_theta.tolist()]
        return [
            sum(_rounded(value, layout.u_fraction) * t for value, t in zip(row, theta, strict=True))
            + _rounded(below, layout.fraction)
            for row, below in zip(self.u.tolist(), (self.c - top).tolist(), strict=True)
        ]

    def scores(self) -> list[int]:
        layout = self.layout
        theta = layout.theta(self.real_theta)
        return layout.scores(layout.u(self.u), theta, layout.addends(self.c))


def _rounded(value: float, fraction: int) -> int:
    return round(Fraction(value) * Fraction(2) ** fraction)


instances = st.builds(Instance, seeds, slots, magnitudes, magnitudes, st.integers(-130, 130))
# Where the second term of a score is about as large as the first.
level_instances = magnitudes.flatmap(
    lambda low: magnitudes.flatmap(
        lambda high: st.builds(
            Instance,
            seeds,
            slots,
            st.just(low),
            st.just(high),
            st.integers(low + high - 50, low + high + 3),
        )
    )
)


@given(instances | level_instances)
def test_scores_are_exact_fit_their_slot_and_clamping_changes_no_choice(one: Instance) -> None:
    layout, scores = one.layout, one.scores()
    assert all(0 <= score <= (1 << layout.slot_bits) - 3 for score in scores)
    reference, shift, half = one.reference(), 3 * layout.half + 1, layout.half
    best = max(reference)
    assert max(scores) == best + shift
    for score, exact in zip(scores, reference, strict=True):
        assert (score == max(scores)) == (exact == best)
        assert score == exact + shift or exact < -half


@given(level_instances)
def test_an_arm_that_leads_by_more_than_the_resolution_wins(one: Instance) -> None:
    scores = one.scores()
    top = Fraction(float(one.c.max()))
    real = [
        sum(Fraction(a) * Fraction(b) for a, b in zip(row, one.real_theta.tolist(), strict=True))
        + Fraction(c)
        - top
        for row, c in zip(one.u.tolist(), one.c.tolist(), strict=True)
    ]
    # The difference c - c_max is itself a float.
    room = one.layout.resolution + 2.0**-52 * float(np.ptp(one.c))
    leader = real.index(max(real))
    for value, score in zip(real, scores, strict=True):
        if real[leader] - value > room:
            assert scores[leader] > score


@given(seeds, st.integers(1, 30), st.sampled_from([1e-6, 1e-7, 1e-9, 1e-11, 1e-12]))
def test_near_ties_are_told_apart_where_the_slot_is_wide_enough(
    seed: int, d: int, gap: float
) -> None:
    generator = np.random.default_rng(seed)
    theta = generator.normal(size=d)
    theta /= sqrt(np.square(theta).sum())
    row = generator.normal(size=d)
    row *= 0.7 / sqrt(np.square(row).sum())
    # Along theta, the second row gains exactly the gap.
    rows = np.array([row, row + gap * theta, row])
    wide: SlotBits = 64 if gap >= 1e-7 else 96
    layout = Layout(L=1.0, S=1.0, k=3, d=d, slot_bits=wide)
    assert layout.resolution < gap
    first, second, same = layout.scores(
        layout.u(rows), layout.theta(theta), layout.addends(np.zeros(3))
    )
    assert second > first == same


@given(instances)
def test_integers_keep_their_widths(one: Instance) -> None:
    layout = one.layout
    u, theta = layout.u(one.u), layout.theta(one.real_theta)
    limit = 1 << (layout.u_bits - 1)
    assert all(isqrt(sum(v * v for v in row)) < limit for row in u.tolist())
    room = 1 << (layout.slot_bits - 1 - layout.u_bits)
    assert sum(v * v for v in theta) <= room**2
    # Half of the room is used, or a bit would be wasted.
    assert 3 * max(map(abs, theta)) * layout.d >= room
    assert layout.u_bits == layout.slot_bits // 2


@given(instances, st.lists(st.floats(-4, 4), min_size=1, max_size=12))
def test_the_sum_of_rewards_is_exact(one: Instance, noises: list[float]) -> None:
    layout = one.layout
    rewards = RewardSum(layout, one.u)
    unit = layout.L * layout.S
    pulls = [(i % layout.k, noise * unit) for i, noise in enumerate(noises)]
    for arm, noise in pulls:
        rewards.add(arm, noise)
    theta = layout.theta(one.real_theta)
    exact = sum(
        sum(
            _rounded(value, layout.arm_fraction) * t
            for value, t in zip(one.u[arm].tolist(), theta, strict=True)
        )
        + _rounded(noise, layout.reward_fraction)
        for arm, noise in pulls
    )
    total = rewards.total(theta)
    assert total == exact
    assert abs(total) <= layout.largest_total(len(pulls))
    assert Fraction(layout.reward(total)) == pytest.approx(
        Fraction(total) / Fraction(2) ** layout.reward_fraction, rel=1e-15
    )
    real = sum(float(one.u[arm] @ one.real_theta) + noise for arm, noise in pulls)
    assert layout.reward(total) == pytest.approx(real, rel=1e-6, abs=1e-7 * unit * len(pulls))


@pytest.mark.parametrize("slot_bits", [59, 62, 64, 96])
def test_the_largest_noise_and_the_largest_total_fit(slot_bits: SlotBits) -> None:
    layout = Layout(L=0.75, S=3.0, k=2, d=3, slot_bits=slot_bits)
    arms = np.array([[0.75, 0.0, 0.0], [0.0, -0.75, 0.0]])
    rewards = RewardSum(layout, arms)
    for sign in (1, 1, 1):
        rewards.add(0, sign * ldexp(0.75 * 3.0, 32))
    total = rewards.total(layout.theta(np.array([3.0, 0.0, 0.0])))
    assert total <= layout.largest_total(3)
    # Room for a mask of 128 bits more, within the smallest modulus of a comparison with the paper.
    assert layout.largest_total((1 << 31) - 1).bit_length() + 128 < 512
    for noise in (ldexp(0.75 * 3.0, 33), inf, nan):
        with pytest.raises(InputError, match="lower noise_sd"):
            layout.noise(noise)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"k": 1}, "at least two arms"),
        ({"d": 0}, "1 to 1048576 dimensions"),
        ({"L": 0.0}, "L = 0.0.*K = 3"),
        ({"L": nan}, r"between 2\^-64 and 2\^64"),
        ({"L": 2.0**65}, "could overflow"),
        ({"S": 2.0**-65}, "could overflow"),
        ({"S": inf}, "could overflow"),
        ({"slot_bits": 32}, "give 59, 62 or 64, or 96"),
        ({"u_bits": 8}, "give 16 to 48"),
        ({"u_bits": 49}, "give 16 to 48"),
    ],
)
def test_bounds_that_could_overflow_are_refused(
    parameters: dict[str, float], complaint: str
) -> None:
    given = {"L": 1.0, "S": 1.0, "k": 3, "d": 2} | parameters
    with pytest.raises(InputError, match=complaint):
        Layout(**given)  # type: ignore[arg-type]


@given(st.integers(16, 48), slots, st.integers(1, 3000))
def test_every_split_of_a_slot_works(u_bits: int, slot: SlotBits, d: int) -> None:
    layout = Layout(L=1.0, S=1.0, k=2, d=d, slot_bits=slot, u_bits=u_bits)
    even = np.full(d, d**-0.5)
    rows = np.array([even, -even])
    theta = layout.theta(even)
    scores = layout.scores(layout.u(rows), theta, layout.addends(np.zeros(2)))
    assert 0 <= scores[1] < scores[0] < 1 << slot


def test_a_theta_that_does_not_fit_is_refused_without_its_values() -> None:
    layout = Layout(L=1.0, S=2.0, k=3, d=2)
    layout.theta(np.array([2.0, 0.0]))
    for theta in ([1.4375, 1.4375], [123.0, 0.0], [1e300, 0.0], [nan, 0.0], [inf, 0.0]):
        with pytest.raises(InputError, match="theta") as caught:
            layout.theta(np.array(theta))
        assert not any(digits in str(caught.value) for digits in ("1.4375", "123", "1e"))
    with pytest.raises(InputError, match="shape"):
        layout.theta(np.zeros(3))


def test_a_u_that_could_overflow_is_refused() -> None:
    layout = Layout(L=1.0, S=1.0, k=2, d=2)
    layout.u(np.array([[1.0, 0.0], [0.6, -0.8]]))
    for value in (2.0, -3.0, 1e300, nan, inf, -inf):
        with pytest.raises(PolicyError, match=r"L = 1 allows \(S = 1, K = 2\)"):
            layout.u(np.array([[value, 0.0], [0.0, 0.0]]))
    with pytest.raises(PolicyError, match="shape"):
        layout.u(np.zeros((2, 3)))


def test_a_c_of_any_size_is_taken_and_what_is_no_number_refused() -> None:
    layout = Layout(L=1.0, S=1.0, k=2, d=2)
    assert layout.addends(np.array([1.7e308, -1.7e308])) == [3 * layout.half + 1, layout.half]
    for value in (nan, inf):
        with pytest.raises(PolicyError, match="finite"):
            layout.addends(np.array([0.0, value]))
    with pytest.raises(PolicyError):
        layout.addends(np.zeros(3))


def test_arms_beyond_l_are_refused() -> None:
    with pytest.raises(InputError, match="longer than L = 1"):
        RewardSum(Layout(L=1.0, S=1.0, k=2, d=1), np.array([[1.0], [2.5]]))


def test_reprs_hold_no_values() -> None:
    rewards = RewardSum(Layout(L=1.0, S=1.0, k=2, d=1), np.array([[1.0], [0.5]]))
    rewards.add(0, 0.5)
    assert repr(rewards) == "<RewardSum in 1 dimensions>"
