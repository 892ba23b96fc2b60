"""Policies for arms that are vectors, and the fixed point that plain and secure share."""

from lotor.policies.linear.base import (
    LinearModel,
    LinearPolicy,
    ModelSnapshot,
    NormalDraws,
    no_draws,
)
from lotor.policies.linear.layout import Layout, SlotBits
from lotor.policies.linear.lints import LinTS
from lotor.policies.linear.linucb import LinUCB
from lotor.policies.linear.live_layout import LiveLayout, LiveSums
from lotor.policies.linear.reward_sum import RewardSum
from lotor.policies.linear.spectral_ucb import SpectralUCB, effective_dimension

__all__ = [
    "Layout",
    "LinTS",
    "LinUCB",
    "LinearModel",
    "LinearPolicy",
    "LiveLayout",
    "LiveSums",
    "ModelSnapshot",
    "NormalDraws",
    "RewardSum",
    "SlotBits",
    "SpectralUCB",
    "effective_dimension",
    "no_draws",
]
