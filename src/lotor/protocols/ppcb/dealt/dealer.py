"""PPCB's dealer, whom the paper calls a trusted third party."""

from lotor.protocols.ppcb.dealt.circuits import PPCBCircuits, cheapest_circuits
from lotor.protocols.ppcb.terms import SEATS, PPCBTerms
from lotor.protocols.two_server.dealer import Dealer


class PPCBDealer(Dealer):
    """Lines 8 and 12's store of triples; the samples themselves are drawn by the servers."""

    def __init__(self, terms: PPCBTerms, *, snapshot: bytes | None = None) -> None:
        schedule = self.circuits(terms).schedule
        super().__init__(terms.run, terms.digest, SEATS, schedule, snapshot=snapshot)

    @staticmethod
    def circuits(terms: PPCBTerms) -> PPCBCircuits:
        """What the servers compute, and the dealer deals for."""
        return cheapest_circuits(terms)
