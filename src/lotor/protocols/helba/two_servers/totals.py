"""Sums of rewards with how many there are, as shares that the customer alone adds up."""

from typing import Final

from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import REWARD_ONE
from lotor.crypto.residues import Modulus, Residues
from lotor.protocols.garbled.wire import expect
from lotor.protocols.helba.shared.setting import WORD_BYTES
from lotor.protocols.helba.shared.wire import from_words, round_place
from lotor.protocols.helba.two_servers.messages import PaddedTotal, TotalShare
from lotor.protocols.helba.two_servers.terms import HelbaTwoServersTerms

TOTAL_MODULUS: Final = Modulus(2)
"""Of sums of rewards, which stay below 2^63."""

NOTHING: Final = TOTAL_MODULUS.residues([0, 0])


def received_total(
    message: PaddedTotal | TotalShare, terms: HelbaTwoServersTerms, sender: str
) -> Residues:
    """A sum and a count, or a share of both."""
    size = len(NOTHING) * WORD_BYTES * TOTAL_MODULUS.count
    expect(message, round_place(terms.budget), sender, words=size)
    return from_words(message.words, TOTAL_MODULUS, sender)


def opened_total(shares: list[Residues], terms: HelbaTwoServersTerms) -> float:
    """The total of all users in their unit."""
    total, count = map(int, TOTAL_MODULUS.whole(TOTAL_MODULUS.add(*shares)))
    if count != terms.budget or total > terms.budget * REWARD_ONE:
        raise ProtocolError(
            f"the servers' shares are no total of {terms.budget} rewards: a message was lost or "
            "altered, or a user or a server computed something else; start a new run"
        )
    return terms.scale.total(total, terms.budget)
