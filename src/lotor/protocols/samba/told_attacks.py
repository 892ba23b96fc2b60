"""Attacks on what the customer may be told beyond the total: by a customer, or by anybody else."""

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from lotor.core.revealed import Revealed
from lotor.core.views import Truth, View
from lotor.protocols.attack import NOT_TRIED, Attack, Score
from lotor.protocols.party import Party
from lotor.protocols.samba.attacks import against, content, cut, terms_of
from lotor.protocols.samba.told import ARM_COUNTS, BEST_ARM


class NameBestArm(Attack):
    """Which arm has the best mean, at the end of a run.

    Who was told nothing takes the last bytes that it was sent for a number of each arm.
    """

    name: ClassVar[str] = "the best arm"
    secret: ClassVar[str] = BEST_ARM

    def score(self, view: View, truth: Truth) -> Score:
        best, k = _best(truth), terms_of(view).k
        if k < 2 or len(best) == k:
            return NOT_TRIED
        told = _told(view)
        if told is None:
            numbers: Sequence[int] = _numbers(view, k)
        elif told.arm is not None:
            return Score(told.arm in best, 1, len(best) / k)
        else:
            numbers = told.counts or []
        if not numbers:
            return NOT_TRIED
        return Score(numbers.index(max(numbers)) in best, 1, len(best) / k)


class CountArms(Attack):
    """How often each arm was pulled. Who was told nothing shares the pulls out by such bytes."""

    name: ClassVar[str] = "the counts of arms"
    secret: ClassVar[str] = ARM_COUNTS

    def score(self, view: View, truth: Truth) -> Score:
        terms, told = terms_of(view), _told(view)
        counts = [truth.arms.count(arm) for arm in range(terms.k)]
        if terms.k < 2:
            return NOT_TRIED
        guesses = None if told is None else told.counts
        if guesses is None:
            numbers = _numbers(view, terms.k)
            whole = sum(numbers)
            guesses = [number * len(truth.arms) // whole for number in numbers] if whole else []
        return against(counts, guesses) if guesses else NOT_TRIED


def _told(view: View) -> Revealed | None:
    parties = (one for one in view.parties.values() if isinstance(one, Party))
    return next((one.revealed for one in parties if one.revealed is not None), None)


def _best(truth: Truth) -> set[int]:
    """The arms with the best mean of what they paid."""
    paid: dict[int, list[Fraction]] = {}
    for arm, reward in zip(truth.arms, truth.rewards, strict=True):
        paid.setdefault(arm, []).append(Fraction(reward))
    means = {arm: sum(rewards) / len(rewards) for arm, rewards in paid.items()}
    return {arm for arm, mean in means.items() if mean == max(means.values())}


def _numbers(view: View, k: int) -> list[int]:
    """A number for each arm, from the last message to these parties that is long enough."""
    seen = (content(one.message) for one in reversed(view.exchanges) if one.to in view.seats)
    words = next((cut(data[-4 * k :], k) for data in seen if len(data) >= 4 * k), [])
    # The highest byte of a share modulo a prime is not uniform.
    return [word & 0xFFFFFF for word in words]
