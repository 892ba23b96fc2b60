"""PPCB as Algorithm 1 has it: every arm is updated in each step."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from lotor.protocols.party import Party
from lotor.protocols.ppcb.dealt.circuits import AllArmsCircuits, PPCBCircuits
from lotor.protocols.ppcb.dealt.dealer import PPCBDealer
from lotor.protocols.ppcb.dealt.form import PPCBDealt
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.ppcb.terms import PPCBTerms


class PPCBPaperServer(PPCBServer):
    """Computes what every arm would learn, whatever the sizes."""

    @staticmethod
    def circuits(terms: PPCBTerms) -> PPCBCircuits:
        return AllArmsCircuits(terms)


class PPCBPaperDealer(PPCBDealer):
    """Deals for it."""

    @staticmethod
    def circuits(terms: PPCBTerms) -> PPCBCircuits:
        return AllArmsCircuits(terms)


class PPCBPaper(PPCBDealt):
    """Lines 20 to 23 for all arms, by servers that a trusted third party deals for.

    The paper's are the loop over all arms, the dealer with its off-line store (the third input of
    Algorithm 1), the line numbers, and who learns what. Not the paper's are the two servers for its
    |P| parties, exact truncation, the comparison and the reciprocal from tables, one argmax,
    exploration that both servers draw, and the computed one-hot in place of what p' shares (lines
    17 and 18): with the paper's own, decisions would be wrong or seen (docs/ppcb.md says why). What
    its arithmetic loses is in `figures/paper_arithmetic.py`. The other forms compute the same
    decisions with less, so no federation needs this one.
    """

    name: ClassVar[str] = "paper"
    server_kind: ClassVar[Callable[..., Party]] = PPCBPaperServer
    helper_kinds: ClassVar[Mapping[str, Callable[..., Party]]] = {"dealer": PPCBPaperDealer}
    in_process_only: ClassVar[str] = (
        "it is there to compare with, and updates every arm in each step; a federation runs the "
        "forms shared and dealt, which take the same decisions with less work"
    )

    @staticmethod
    def circuits(terms: PPCBTerms) -> PPCBCircuits:
        return AllArmsCircuits(terms)
