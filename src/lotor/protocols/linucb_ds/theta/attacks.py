"""Attacks where P and Comp have a share of theta each: what shares tell alone, and together."""

from abc import abstractmethod
from collections import Counter
from typing import ClassVar

import numpy as np

from lotor.core.draws import Words
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View
from lotor.environments import LinearArms
from lotor.policies.linear.layout import Integers
from lotor.protocols.attack import NOT_TRIED, Attack, Score
from lotor.protocols.chance import blind
from lotor.protocols.linucb_ds.attacks import messages_in, real_scores, world_of
from lotor.protocols.linucb_ds.theta.handing_out import ThetaHolding, in_scores
from lotor.protocols.linucb_ds.theta.messages import ModelShare
from lotor.protocols.linucb_ds.theta.shares import centred
from lotor.protocols.linucb_ds.theta.terms import SharingTerms
from lotor.protocols.plain.linear import linear_layout


class ThetaFromShares(Attack):
    """P has one share of theta, and the holders have the other. One alone is a poor guess."""

    name: ClassVar[str] = "theta, from its shares"
    secret: ClassVar[str] = "theta"

    def score(self, view: View, truth: Truth) -> Score:
        arms, terms = world_of(truth), sharing_terms(view)
        layout = linear_layout(arms.vectors, terms.check(terms.run), terms.slot_bits)
        theta, modulus = layout.theta(arms.theta), terms.score_modulus
        shares = [in_scores(model, terms) for model in messages_in(view, ModelShare)[:1]]
        if (holding := holding_in(view)) is not None:
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

    @abstractmethod
    def shares(self, view: View) -> list[Words]:
        """Comp's share of each round's scores."""

    def score(self, view: View, truth: Truth) -> Score:
        real = real_scores(truth)
        found = zip(self.shares(view), real, strict=True)
        right = sum((Counter(one.tolist()) & Counter(other)).total() for one, other in found)
        return Score(right, sum(map(len, real)), 0.0)


class ArmsFromRows(Attack):
    """Comp, if it knows the catalogue of arms, follows the run by the rows that P sends it.

    They are under pads. Whoever knows the pads reads every u, and each u tells what was pulled
    before. The last arm leaves no rows, and is not guessed.
    """

    name: ClassVar[str] = "arms, from P's rows and the catalogue"
    secret: ClassVar[str] = "arms"

    @abstractmethod
    def rows(self, view: View) -> list[Integers]:
        """What P sends Comp in each round, a row for each arm, without pads if they are known."""

    def score(self, view: View, truth: Truth) -> Score:
        arms = list(truth.arms[:-1])
        guesses = self.guess(view, world_of(truth))
        right = sum(guess == arm for guess, arm in zip(guesses, arms, strict=True))
        return Score(right, len(arms), blind(arms))

    def guess(self, view: View, world: LinearArms) -> list[int]:
        """Of each round but the last, the arm after whose pull the rows would look most alike."""
        terms = sharing_terms(view)
        policy = terms.check(terms.run)
        layout = linear_layout(world.vectors, policy, terms.slot_bits)
        model = policy.start(world.vectors, budget=terms.budget, eigenvalues=world.eigenvalues)
        guesses: list[int] = []
        for t, rows in enumerate(self.rows(view), start=1):
            seen, before = _columns(rows), model.snapshot()
            errors = []
            for arm in range(world.k):
                model.update(arm, 0.0)
                errors.append(np.abs(_columns(layout.u(model.coefficients(t)[0])) - seen).sum())
                model.restore(before)
            guesses.append(int(np.argmin(errors)))
            model.update(guesses[-1], 0.0)
        return guesses


def sharing_terms(view: View) -> SharingTerms:
    """The terms, as a party in the view keeps them."""
    for party in view.parties.values():
        terms = getattr(getattr(party, "_memory", None), "terms", None)
        if isinstance(terms, SharingTerms):
            return terms
    raise InputError("this attack needs P or a holder of theta's other share in the view")


def holding_in(view: View) -> ThetaHolding | None:
    """The key of theta's other share, if somebody in the view has it."""
    for party in view.parties.values():
        holding = getattr(getattr(party, "_memory", None), "holding", None)
        if isinstance(holding, ThetaHolding):
            return holding
    return None


def _columns(rows: Integers) -> Floats:
    """What does not depend on the order of rows: each column, sorted."""
    return np.sort(rows.astype(np.float64), axis=0)
