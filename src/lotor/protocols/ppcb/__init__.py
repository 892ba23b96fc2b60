"""PPCB: a contextual bandit over features that several parties hold."""

from lotor.protocols.ppcb.protocol import PPCB

__all__ = ["PPCB"]
