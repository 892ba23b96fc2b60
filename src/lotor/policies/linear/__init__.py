"""Policies for arms that are vectors, and the fixed point that plain and secure share."""

from lotor.policies.linear.base import LinearModel, LinearPolicy, ModelSnapshot
from lotor.policies.linear.layout import Layout, SlotBits
from lotor.policies.linear.linucb import LinUCB
from lotor.policies.linear.reward_sum import RewardSum
from lotor.policies.linear.spectral_ucb import SpectralUCB, effective_dimension

__all__ = [
    "Layout",
    "LinUCB",
    "LinearModel",
    "LinearPolicy",
    "ModelSnapshot",
    "RewardSum",
    "SlotBits",
    "SpectralUCB",
    "effective_dimension",
]
