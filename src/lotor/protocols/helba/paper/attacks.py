"""Attacks on HELBA: how far apart indices are, and what the server's ciphertexts hold."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log
from typing import ClassVar

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View
from lotor.crypto.ckks import Ciphertext, SecretKey, SignPolynomial
from lotor.crypto.ckks.framing import CKKSFrame
from lotor.crypto.seal.framing import FrameKind
from lotor.environments import LinearContexts
from lotor.protocols.attack import Attack, Score
from lotor.protocols.helba.paper.messages import BatchDecision, EncryptedChoice, Update
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.paper.user import HelbaUser
from lotor.protocols.helba.paper.wire import place_of
from lotor.protocols.helba.terms import terms_from

NEAR = 0.2
"""A gap counts as read within this part of it."""

_GRID = 1 << 16


class GapsFromAnswers(Attack):
    """A user inverts the comparison: its answer says how far apart the two best indices are.

    Gaps are read as they are compared, as part of the largest difference that is possible. By
    chance is what would be right if answers belonged to other rounds.
    """

    name: ClassVar[str] = "gaps of indices, from answers"
    secret: ClassVar[str] = "gaps"

    def score(self, view: View, truth: Truth) -> Score:
        setting = HelbaSetting.of(terms_from(view.order))
        found = read_gaps(setting.circuit.polynomial, self._heights(view, truth, setting))
        return gap_score(found, real_gaps(setting, truth))

    def _heights(self, view: View, truth: Truth, setting: HelbaSetting) -> Floats:  # noqa: ARG002
        return answered(view, setting)


class GapsFromRepeats(GapsFromAnswers):
    """The same from the mean of all answers to the same contexts in one batch.

    Their gaps are nearly the same: only widths grow with the round. A view holds no contexts; the
    user's own are taken from the environment.
    """

    name: ClassVar[str] = "gaps of indices, from repeated answers"

    def _heights(self, view: View, truth: Truth, setting: HelbaSetting) -> Floats:
        return averaged(super()._heights(view, truth, setting), repeats(view, truth, setting))


class UpdatesDecrypted(Attack):
    """Reads what users told the server, with the secret key if somebody in the view has it.

    Else with a key of its own: nothing but noise comes out.
    """

    name: ClassVar[str] = "contexts and rewards, decrypted"
    secret: ClassVar[str] = "contexts of others"

    def score(self, view: View, truth: Truth) -> Score:
        setting = HelbaSetting.of(terms_from(view.order))
        key, right, of = _key(view, setting), 0, 0
        sent = {
            (seen.message.place, seen.message.index): seen.message.data
            for seen in view.exchanges
            if isinstance(seen.message, Update)
        }
        for t, index, real in _real_updates(setting, truth):
            of += 1
            data = sent.get((place_of(t), index))
            if data is not None:
                error = np.abs(_opened(key, setting, data) - real).max()
                right += bool(error < 0.01 * np.abs(real).max() + 1e-4)
        return Score(right, of, 0.0)


def answered(view: View, setting: HelbaSetting) -> Floats:
    """How much larger the best arm's answer is than the next one's, halved, in each round.

    With two arms that is what the comparison came to, with the noise of both answers averaged, and
    of each answer over all slots that hold it.
    """
    key, heights = _key(view, setting), []
    for seen in view.exchanges:
        if isinstance(seen.message, EncryptedChoice):
            slots = _opened(key, setting, seen.message.ciphertext)
            second, first = np.sort(setting.packing.read(slots, 1)[0])[-2:]
            heights.append((first - second) / 2)
    return np.array(heights, dtype=np.float64)


def repeats(view: View, truth: Truth, setting: HelbaSetting) -> list[list[int]]:
    """The rounds, from 0, that offer the same contexts in the same batch."""
    world = _world(truth)
    same: defaultdict[tuple[int, bytes], list[int]] = defaultdict(list)
    for t, start in enumerate(_starts(view, setting), start=1):
        offered = sorted(row.tobytes() for row in world.contexts_at(t))
        same[start, b"".join(offered)].append(t - 1)
    return list(same.values())


def averaged(heights: Floats, groups: Sequence[Sequence[int]]) -> Floats:
    """Each number replaced by the mean of its group."""
    means = heights.copy()
    for rounds in groups if len(heights) else ():
        means[rounds] = heights[rounds].mean()
    return means


def read_gaps(polynomial: SignPolynomial, heights: Floats) -> Floats:
    """The gaps that are compared to these heights; nan where the comparison is flat.

    It is inverted up to where it first comes to 1/2: above, a gap is large, and that is all.
    """
    grid = np.linspace(0, 1, _GRID)
    values = polynomial.plain(grid)
    top = int(np.argmax(values >= 0.5))
    gaps: Floats = np.interp(heights, values[:top], grid[:top])
    gaps[heights >= values[top - 1]] = np.nan
    return gaps


def gap_score(found: Floats, real: Floats) -> Score:
    """How many gaps were read, and how many would be if all were of other rounds."""
    if not len(found):
        return Score(0, len(real), 0.0)
    near = np.abs(found[:, None] - real) < NEAR * real
    right, count = int(near.trace()), len(real)
    others = count * (count - 1)
    return Score(right, count, float(near.sum() - right) / others if others else 0.0)


def real_gaps(setting: HelbaSetting, truth: Truth) -> Floats:
    """The gap of the two largest indices in each round, as it is compared."""
    terms, world = setting.terms, _world(truth)
    policy, scale = terms.learner, terms.scale
    model, gaps = policy.start(terms.d), []
    for t, (arm, reward) in enumerate(zip(truth.arms, truth.rewards, strict=True), start=1):
        x, batch = world.contexts_at(t), model.batch
        second, first = np.sort(model.indices(x))[-2:]
        log_determinant = batch.log_growth + terms.d * log(policy.ridge)
        gaps.append((first - second) / setting.circuit.gap(1.0, t, batch.start, log_determinant))
        model.update(x[arm], scale.total(scale.to_fixed(reward), 1))
    return np.array(gaps)


def _starts(view: View, setting: HelbaSetting) -> Iterator[int]:
    """In which round the batch of each round began, as the user knows."""
    decided = {
        seen.message.place: seen.message.new
        for seen in view.exchanges
        if isinstance(seen.message, BatchDecision)
    }
    start = 1
    for t in range(1, setting.terms.budget + 1):
        start = t if decided.get(place_of(t)) else setting.bounds.start(t, start)
        yield start


def _real_updates(setting: HelbaSetting, truth: Truth) -> Iterator[tuple[int, int, Floats]]:
    """What the user encrypted after each round but the last: round, number, slots."""
    world, scale = _world(truth), setting.terms.scale
    for t, arm in enumerate(truth.arms[:-1], start=1):
        reward = scale.total(scale.to_fixed(truth.rewards[t - 1]), 1)
        x = world.contexts_at(t)[arm]
        update = setting.packing.update(x[np.newaxis], np.array([reward]))
        yield from ((t, index, slots) for index, slots in enumerate(update))


def _key(view: View, setting: HelbaSetting) -> SecretKey:
    for party in view.parties.values():
        if isinstance(party, HelbaUser):
            return party._key
    return SecretKey.generate(setting.parameters)


def _opened(key: SecretKey, setting: HelbaSetting, data: bytes) -> Floats:
    """The slots of a ciphertext under this key, whatever key it was made with."""
    parameters = setting.parameters
    made_with = CKKSFrame.read(FrameKind.CIPHERTEXT, data, parameters).key
    ciphertext = Ciphertext.from_bytes(data, parameters, made_with)
    return key.decrypt(replace(ciphertext, key=key.fingerprint))


def _world(truth: Truth) -> LinearContexts:
    if not isinstance(truth.environment, LinearContexts):
        raise InputError(f"this attack needs LinearContexts, not {truth.environment!r}")
    return truth.environment
