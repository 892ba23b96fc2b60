"""Attacks on theta where P and Comp have a share of it each."""

from typing import ClassVar, Protocol, runtime_checkable

from lotor.core.views import Truth, View
from lotor.protocols.attack import Attack, Score
from lotor.protocols.chance import blind
from lotor.protocols.linucb_ds.attacks import world_of
from lotor.protocols.linucb_ds.theta.shares import centred
from lotor.protocols.linucb_ds.theta.terms import SharingTerms
from lotor.protocols.plain.linear import linear_layout


@runtime_checkable
class ThetaShareHolder(Protocol):
    """A party that has a share of theta in scores."""

    def theta_share(self) -> tuple[SharingTerms, list[int]]: ...


class ThetaFromShares(Attack):
    """Adds the shares that are in the view: both of them are theta, one of them is any number."""

    name: ClassVar[str] = "theta, from its shares"
    secret: ClassVar[str] = "theta"

    def score(self, view: View, truth: Truth) -> Score:
        arms = world_of(truth)
        holders = [one for one in view.parties.values() if isinstance(one, ThetaShareHolder)]
        found = [holder.theta_share() for holder in holders]
        terms, _ = found[0]
        policy = terms.check(terms.run)
        theta = linear_layout(arms.vectors, policy, terms.slot_bits).theta(arms.theta)
        guess = [
            centred(sum(parts), terms.score_modulus)
            for parts in zip(*(share for _, share in found), strict=True)
        ]
        right = sum(one == other for one, other in zip(guess, theta, strict=True))
        return Score(right, len(theta), blind(theta))
