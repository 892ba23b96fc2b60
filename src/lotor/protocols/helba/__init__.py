"""HELBA: a contextual bandit whose server sees neither contexts nor rewards."""

from lotor.protocols.helba.protocol import Helba

__all__ = ["Helba"]
