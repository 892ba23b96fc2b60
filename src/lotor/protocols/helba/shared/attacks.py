"""Attacks on the shared form: gaps of indices from what a user sees, and sums from what it knows.

A user's view has everything that its party computed, since that follows from its keys and from the
messages that it received.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import msgspec
import numpy as np

from lotor.core.effects import Message
from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View
from lotor.crypto.garbling import HashKeys
from lotor.crypto.ot import Delta, ProductSender
from lotor.crypto.prf import new_key
from lotor.crypto.residues import Numbers
from lotor.policies.optimistic import WholeModel
from lotor.protocols.attack import Attack, Score
from lotor.protocols.helba.form import contexts_of
from lotor.protocols.helba.shared.algebra import HiddenEstimate
from lotor.protocols.helba.shared.messages import CoveredEstimate, CoveredUpdate, ProductColumns
from lotor.protocols.helba.shared.pads import UserPads
from lotor.protocols.helba.shared.setting import HelbaSharedSetting
from lotor.protocols.helba.shared.terms import shared_terms_from
from lotor.protocols.helba.shared.user import HelbaSharedUser
from lotor.protocols.helba.shared.wire import from_words, round_place
from lotor.protocols.plain.optimistic import TieDraws

DRAWS = 100


class SmallGaps(Attack):
    """A user guesses in which rounds the two best indices are closer than in half of them.

    It takes its own shares of scores for the scores. Half of such guesses are right by chance.
    """

    name: ClassVar[str] = "gaps of indices, from shares"
    secret: ClassVar[str] = "gaps"

    def score(self, view: View, truth: Truth) -> Score:
        setting = HelbaSharedSetting.of(shared_terms_from(view.order))
        guessed = np.array([gap_of(one.shares) for one in UserRounds(setting, view, truth)])
        return self._compared(guessed, real_gaps(setting, truth), truth)

    def _compared(self, guessed: Floats, real: Floats, truth: Truth) -> Score:  # noqa: ARG002
        return in_halves(guessed, real)


class SmallGapsFromRepeats(SmallGaps):
    """The same for means over all rounds that offer the same contexts: a guess for each of them."""

    name: ClassVar[str] = "gaps of indices, from repeated contexts"

    def _compared(self, guessed: Floats, real: Floats, truth: Truth) -> Score:
        world = contexts_of(truth.environment)
        same: defaultdict[bytes, list[int]] = defaultdict(list)
        for t in range(len(real)):
            offered = sorted(row.tobytes() for row in world.contexts_at(t + 1))
            same[b"".join(offered)].append(t)
        means = [np.array([gaps[one].mean() for one in same.values()]) for gaps in (guessed, real)]
        return in_halves(*means)


class SmallGapsFromEstimates(SmallGaps):
    """The same from A = V R in place of V and e = g + V s in place of g, where batches start.

    A user's own contexts tell something of gaps: chance is what comes out with random numbers in
    place of A and e.
    """

    name: ClassVar[str] = "gaps of indices, from hidden estimates"

    def score(self, view: View, truth: Truth) -> Score:
        setting = HelbaSharedSetting.of(shared_terms_from(view.order))
        rounds = list(enumerate(UserRounds(setting, view, truth), start=1))
        starts = np.array([t for t, one in rounds if one.start == t])
        real = real_gaps(setting, truth)[starts - 1]
        contexts = contexts_of(truth.environment).contexts[starts - 1]
        known = np.array([one.estimate for t, one in rounds if one.start == t]).astype(np.float64)
        return beside_random(known, contexts, real)


class SumsUncovered(Attack):
    """Reads what users told the server, with their pad key if somebody in the view has it.

    Else with a key of its own: nothing but noise comes out.
    """

    name: ClassVar[str] = "contexts and rewards, uncovered"
    secret: ClassVar[str] = "contexts of others"

    def score(self, view: View, truth: Truth) -> Score:
        setting = HelbaSharedSetting.of(shared_terms_from(view.order))
        grid, world = setting.terms.grid, contexts_of(truth.environment)
        pads, sent, right = UserPads(_pad_key(view), setting), words_sent(view, CoveredUpdate), 0
        for t, arm in enumerate(truth.arms[:-1], start=1):
            (x,) = grid.contexts(world.contexts_at(t)[arm][np.newaxis])
            paid = grid.reward(setting.terms.scale.total(fixed_reward(setting, truth, t), 1))
            if sent.get(round_place(t)) == pads.update(t, x, paid).astype("<u8").tobytes():
                right += 1
        return Score(right, len(truth.arms) - 1, 0.0)


class UserRound:
    """What a user knows of one round: its shares of scores, and A and e of the batch."""

    def __init__(self, start: int, shares: list[float], estimate: Numbers) -> None:
        self.start = start
        self.shares = shares
        self.estimate = estimate


class UserRounds:
    """All rounds of a user, computed again from its keys and its messages."""

    def __init__(self, setting: HelbaSharedSetting, view: View, truth: Truth) -> None:
        (user,) = (one for one in view.parties.values() if isinstance(one, HelbaSharedUser))
        memory = user._memory
        self._setting, self._view = setting, view
        self._world = contexts_of(truth.environment)
        self._pads = UserPads(memory.pad_key, setting)
        self._ties = TieDraws(memory.tie_key, setting.terms.arms)
        hashes = HashKeys(memory.evaluator.hash_key)
        delta = Delta.derive(memory.product_key, memory.run)
        self._products = ProductSender(memory.product_seeds, delta, hashes)

    def __iter__(self) -> Iterator[UserRound]:
        setting, modulus, d = self._setting, self._setting.modulus, self._setting.terms.d
        columns, answers = (
            columns_sent(self._view, ProductColumns),
            words_sent(self._view, CoveredEstimate),
        )
        start = 0
        for t in range(1, setting.terms.budget + 1):
            calls, here = setting.score_products(t), columns[t]
            if setting.starts(t, start):
                start, call = t, setting.estimate_products(t)
                rows = self._products.rows(
                    call.number, call.modulus, here[: call.column_bytes], call.shape
                )
                here, pads = here[call.column_bytes :], self._pads.after(t - 1)
                vectors = np.broadcast_to(modulus.residues(pads[0]), (d + 1, d, d, modulus.count))
                _, share = self._products.send(rows, vectors)
                covered = from_words(answers[round_place(t)], modulus, "server")
                estimate, kept = HiddenEstimate.opened(setting, t, covered, pads, share)
            rows = self._products.rows(
                calls[0].number, calls[0].modulus, here[: calls[0].column_bytes], calls[0].shape
            )
            contexts = setting.terms.grid.contexts(self._world.contexts_at(t))
            ordered = [contexts[arm] for arm in self._ties.order(t)]
            _, share = self._products.send(rows, estimate.vectors(t, ordered)[0])
            shares = [float(number) for number in calls[0].modulus.signed(share[0])]
            yield UserRound(start, shares, modulus.signed(kept))


def real_gaps(setting: HelbaSharedSetting, truth: Truth) -> Floats:
    """How far the two largest scores are apart in each round, in units of det V."""
    terms, world = setting.terms, contexts_of(truth.environment)
    model, gaps = WholeModel(setting.policy, terms.grid, terms.d), []
    for t, arm in enumerate(truth.arms, start=1):
        x = world.contexts_at(t)
        *_, second, first = sorted(model.indices(x))
        gaps.append((first - second) / model._scale)
        model.update(x[arm], terms.scale.total(fixed_reward(setting, truth, t), 1))
    return np.array(gaps)


def beside_random(estimates: Floats, contexts: Floats, real: Floats) -> Score:
    """Gaps by A^-1 e; chance is what comes out with random numbers in place of A and e."""
    # With this seed in each audit: numbers that anybody can draw.
    drawn = np.random.default_rng(0).uniform(-1, 1, size=(DRAWS, *estimates.shape))
    others = [in_halves(gaps_by(each, contexts), real).right for each in drawn]
    found = in_halves(gaps_by(estimates, contexts), real)
    return replace(found, chance=float(np.mean(others)) / found.of)


def in_halves(guessed: Floats, real: Floats) -> Score:
    """In how many rounds both are in the lower half, or both in the upper one."""
    ranks = [np.argsort(np.argsort(gaps, kind="stable")) for gaps in (guessed, real)]
    lower, really = (each < len(real) // 2 for each in ranks)
    return Score(int((lower == really).sum()), len(real), 0.5)


def gaps_by(estimates: Floats, contexts: Floats) -> Floats:
    """How far the two best arms are apart by A^-1 e, in each round with its own A and e."""
    weights = np.linalg.solve(estimates[..., :-1], estimates[..., -1:])
    values = np.sort((contexts @ weights)[..., 0], axis=1)
    gaps: Floats = values[:, -1] - values[:, -2]
    return gaps


def gap_of(numbers: Sequence[float]) -> float:
    *_, second, first = sorted(numbers)
    return first - second


def fixed_reward(setting: HelbaSharedSetting, truth: Truth, t: int) -> int:
    return setting.terms.scale.to_fixed(truth.rewards[t - 1])


def words_sent(view: View, kind: type[Message]) -> dict[bytes, bytes]:
    """The words of each message of a kind, by its place."""
    return {
        one.message.place: one.message.words  # type: ignore[attr-defined]
        for one in view.exchanges
        if isinstance(one.message, kind)
    }


def columns_sent(view: View, kind: type[Message]) -> dict[int, bytes]:
    """The columns of products, by rounds, with their parts put together."""
    found: defaultdict[int, bytes] = defaultdict(bytes)
    for one in view.exchanges:
        if isinstance(one.message, kind):
            place, columns = msgspec.structs.astuple(one.message)
            found[int.from_bytes(place[:8])] += columns
    return found


def _pad_key(view: View) -> bytes:
    for party in view.parties.values():
        if isinstance(party, HelbaSharedUser):
            return party._memory.pad_key
    return new_key()
