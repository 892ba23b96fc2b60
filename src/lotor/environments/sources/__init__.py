"""What the texts of `--arms` mean, for each kind of arms that policies and protocols need."""

from lotor.environments.sources.arm_contexts import ArmContextSource
from lotor.environments.sources.bandit import BanditSource
from lotor.environments.sources.base import ArmsSource
from lotor.environments.sources.contexts import ContextSource
from lotor.environments.sources.vectors import GraphSource, MadeUpArms, VectorSource, made_up

__all__ = [
    "ArmContextSource",
    "ArmsSource",
    "BanditSource",
    "ContextSource",
    "GraphSource",
    "MadeUpArms",
    "VectorSource",
    "made_up",
]
