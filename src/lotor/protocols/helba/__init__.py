"""HELBA: a contextual bandit whose server only ever sees ciphertexts."""

from lotor.protocols.helba.protocol import Helba

__all__ = ["Helba"]
