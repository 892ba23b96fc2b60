"""Policies with no cryptography: what every secure run is held against."""

from lotor.protocols.plain.agent import Agent
from lotor.protocols.plain.plain import AGENTS, Plain, agent_of

__all__ = ["AGENTS", "Agent", "Plain", "agent_of"]
