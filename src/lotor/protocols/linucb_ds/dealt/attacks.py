"""Attacks on the dealt form: what shares tell alone, and what two of its servers read together."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lotor.core.views import Truth, View
from lotor.crypto.sharing import PadCipher, Pads, Words
from lotor.environments import LinearArms
from lotor.protocols.attack import NOT_TRIED, Attack, Score
from lotor.protocols.chance import blind
from lotor.protocols.linucb_ds.attacks import (
    game_of,
    messages_in,
    party_of,
    real_scores,
    world_of,
)
from lotor.protocols.linucb_ds.dealt.circuits import circuits
from lotor.protocols.linucb_ds.dealt.comp import LinUCBDealtComp
from lotor.protocols.linucb_ds.dealt.dealer import LinUCBDealer
from lotor.protocols.linucb_ds.dealt.terms import LinUCBDealtTerms
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.linucb_ds.theta.handing_out import ThetaHolding, in_scores
from lotor.protocols.linucb_ds.theta.messages import ModelShare
from lotor.protocols.linucb_ds.theta.shares import centred
from lotor.protocols.plain.linear import linear_layout
from lotor.protocols.two_server.checks import ATTEMPT, place_of
from lotor.protocols.two_server.messages import Corrections, Opened
from lotor.protocols.two_server.schedule import AnyCircuit


class ThetaFromShares(Attack):
    """P has one share of theta; Comp and the dealer have the other. One alone is a poor guess."""

    name: ClassVar[str] = "theta, from its shares"
    secret: ClassVar[str] = "theta"

    def score(self, view: View, truth: Truth) -> Score:
        arms, terms = world_of(truth), _terms(view)
        layout = linear_layout(arms.vectors, terms.check(terms.run), terms.slot_bits)
        theta, modulus = layout.theta(arms.theta), terms.score_modulus
        shares = [in_scores(model, terms) for model in messages_in(view, ModelShare)[:1]]
        if (holding := _holding(view)) is not None:
            shares.append(holding.in_scores(terms))
        if not shares:
            return NOT_TRIED
        guess = [centred(sum(parts), modulus) for parts in zip(*shares, strict=True)]
        right = sum(one == other for one, other in zip(guess, theta, strict=True))
        return Score(right, len(theta), blind(theta))


class ScoresFromShares(Attack):
    """Comp takes its shares of the scores for the scores."""

    name: ClassVar[str] = "scores, from Comp's shares"
    secret: ClassVar[str] = "scores"

    def score(self, view: View, truth: Truth) -> Score:
        real = real_scores(truth)
        found = zip(comps_shares(view), real, strict=True)
        right = sum((Counter(one.tolist()) & Counter(other)).total() for one, other in found)
        return Score(right, sum(map(len, real)), 0.0)


class ArmsFromRows(Attack):
    """Comp, if it knows the catalogue of arms, follows the run by the rows that P sends it.

    They are under pads, which the dealer knows: with it Comp reads every u, and each u tells what
    was pulled before. The last arm leaves no rows, and is not guessed.
    """

    name: ClassVar[str] = "arms, from P's rows and the catalogue"
    secret: ClassVar[str] = "arms"

    def score(self, view: View, truth: Truth) -> Score:
        arms = list(truth.arms[:-1])
        guesses = self.guess(view, world_of(truth))
        right = sum(guess == arm for guess, arm in zip(guesses, arms, strict=True))
        return Score(right, len(arms), blind(arms))

    @staticmethod
    def guess(view: View, world: LinearArms) -> list[int]:
        """Of each round but the last, the arm after whose pull the rows would look most alike."""
        terms = _terms(view)
        policy = terms.check(terms.run)
        layout = linear_layout(world.vectors, policy, terms.slot_bits)
        model = policy.start(world.vectors, budget=terms.budget, eigenvalues=world.eigenvalues)
        guesses: list[int] = []
        for t, rows in enumerate(rows_in(view), start=1):
            seen, before = _sums(rows.view(np.int64)), model.snapshot()
            errors = []
            for arm in range(world.k):
                model.update(arm, 0.0)
                errors.append(np.abs(_sums(layout.u(model.coefficients(t)[0])) - seen).sum())
                model.restore(before)
            guesses.append(int(np.argmin(errors)))
            model.update(guesses[-1], 0.0)
        return guesses


def comps_shares(view: View) -> list[Words]:
    """Comp's share of each round's scores: what it was sent times its share of theta, and more."""
    comp = party_of(view.parties, LinUCBDealtComp)
    holding = comp._memory.holding
    assert holding is not None  # noqa: S101 (its view is that of a run)
    share = np.array(holding.in_scores(_terms(view)), np.uint64)
    dealt = {seen.place: seen.shares for seen in messages_in(view, Corrections)}
    return [
        sent @ share + np.frombuffer(dealt[place_of(t)], np.uint64)[: holding.k]
        for t, sent in enumerate(sent_rows(view), start=1)
    ]


def rows_in(view: View) -> list[Words]:
    """What P sends Comp in each round: its rows, under pads unless the dealer is in the view."""
    sent, dealer = sent_rows(view), _dealer(view)
    if dealer is None:
        return sent
    cipher, number = PadCipher(dealer._memory.pad_keys[0]), _products(view).number
    found = []
    for t, rows in enumerate(sent, start=1):
        pads = Pads(cipher, rows.nbytes, t=t, attempt=ATTEMPT, circuit=number)
        found.append(rows + pads.words(rows.shape))
    return found


def sent_rows(view: View) -> list[Words]:
    """The same as they were sent."""
    sent = {seen.place: seen.shares for seen in messages_in(view, Opened) if seen.shares}
    number, shape = _products(view).number, _shape(view)
    return [
        np.frombuffer(sent[place_of(t, number)], np.uint64).reshape(shape)
        for t in range(1, _terms(view).budget)
    ]


def _products(view: View) -> AnyCircuit:
    return circuits(*_shape(view), _terms(view).budget).products


def _sums(
    rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """What does not depend on the order of rows: each column, sorted."""
    return np.sort(rows.astype(np.float64), axis=0)


def _terms(view: View) -> LinUCBDealtTerms:
    return terms_from(LinUCBDealtTerms, view.order)


def _holders(view: View) -> Sequence[LinUCBDealtComp | LinUCBDealer]:
    kinds = (LinUCBDealtComp, LinUCBDealer)
    return [party for party in view.parties.values() if isinstance(party, kinds)]


def _holding(view: View) -> ThetaHolding | None:
    """The key of theta's other share, if somebody in the view has it."""
    return next((party._memory.holding for party in _holders(view)), None)


def _dealer(view: View) -> LinUCBDealer | None:
    return next((party for party in _holders(view) if isinstance(party, LinUCBDealer)), None)


def _shape(view: View) -> tuple[int, int]:
    holding = _holding(view)
    if holding is not None:
        return holding.k, holding.d
    catalogue = game_of(view.parties).catalogue
    return catalogue.k, catalogue.d
