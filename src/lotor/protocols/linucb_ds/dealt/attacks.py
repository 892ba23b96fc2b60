"""Attacks on the dealt form: what shares tell alone, and what two of its servers read together."""

import numpy as np

from lotor.core.views import View
from lotor.crypto.sharing import PadCipher, Pads, Words
from lotor.policies.linear.layout import Integers
from lotor.protocols.linucb_ds.attacks import game_of, messages_in, party_of
from lotor.protocols.linucb_ds.dealt.circuits import circuits
from lotor.protocols.linucb_ds.dealt.comp import LinUCBDealtComp
from lotor.protocols.linucb_ds.dealt.dealer import LinUCBDealer
from lotor.protocols.linucb_ds.dealt.terms import LinUCBDealtTerms
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.linucb_ds.theta.attacks import ArmsFromRows, ScoresFromShares, holding_in
from lotor.protocols.two_server.checks import ATTEMPT, place_of
from lotor.protocols.two_server.messages import Corrections, Opened
from lotor.protocols.two_server.schedule import AnyCircuit


class ScoresFromDealtShares(ScoresFromShares):
    """Comp's share: what it was sent times its share of theta, and what it was dealt."""

    def shares(self, view: View) -> list[Words]:
        return comps_shares(view)


class ArmsFromDealtRows(ArmsFromRows):
    """The dealer knows the pads."""

    def rows(self, view: View) -> list[Integers]:
        return [rows.view(np.int64) for rows in rows_in(view)]


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
        for t in range(1, _terms(view).places)
    ]


def _products(view: View) -> AnyCircuit:
    return circuits(*_shape(view), _terms(view).places).products


def _terms(view: View) -> LinUCBDealtTerms:
    return terms_from(LinUCBDealtTerms, view.order)


def _dealer(view: View) -> LinUCBDealer | None:
    parties = view.parties.values()
    return next((party for party in parties if isinstance(party, LinUCBDealer)), None)


def _shape(view: View) -> tuple[int, int]:
    holding = holding_in(view)
    if holding is not None:
        return holding.k, holding.d
    catalogue = game_of(view.parties).catalogue
    return catalogue.k, catalogue.d
