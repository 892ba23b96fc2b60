"""The dealer: provides the randomness of every turn, and is told nothing."""

from lotor.protocols.samba.dealt.circuit import schedule
from lotor.protocols.samba.dealt.terms import SEATS, SambaDealtTerms
from lotor.protocols.two_server.dealer import Dealer


class SambaDealtDealer(Dealer):
    """Deals for as many turns as the terms say."""

    def __init__(self, terms: SambaDealtTerms, *, snapshot: bytes | None = None) -> None:
        super().__init__(terms.run, terms.digest, SEATS, schedule(terms), snapshot=snapshot)
