"""SAMBA: each arm's data stays with its owner."""

from lotor.protocols.samba.protocol import Samba

__all__ = ["Samba"]
