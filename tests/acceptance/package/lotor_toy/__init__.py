"""A policy and a protocol that Lotor finds by their entry points."""

from lotor_toy.policy import FirstBest
from lotor_toy.protocol import Toy

__all__ = ["FirstBest", "Toy"]
