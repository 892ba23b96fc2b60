"""Lotor: several organisations make the choice that pays best, and none of them shows its data.

>>> import lotor
>>> arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
>>> samba = lotor.Samba(lotor.UCB(), key_bits=2048)
>>> secure = lotor.run(samba, arms, budget=100, seed=7)
>>> plain = lotor.run(samba.plain(), arms, budget=100, seed=7)
>>> secure.reward == plain.reward and secure.arms == plain.arms
True
"""

from lotor.core.effects import Decision
from lotor.core.errors import LotorError
from lotor.core.version import VERSION
from lotor.environments import (
    BernoulliArms,
    CallbackArms,
    ContextualArms,
    GraphArms,
    LinearArms,
    LinearContexts,
    RatingArms,
)
from lotor.policies import (
    OFUL,
    RSOFUL,
    RSOFULTR,
    UCB,
    EpsilonGreedy,
    LinearEpsilonGreedy,
    LinUCB,
    Pursuit,
    ReinforcementComparison,
    Softmax,
    SpectralUCB,
    ThompsonSampling,
)
from lotor.protocols.helba import Helba
from lotor.protocols.linucb_ds import LinUCBDS, SpectralUCBDS
from lotor.protocols.ppcb import PPCB
from lotor.protocols.samba import Samba
from lotor.runtime import Result, run

__version__ = VERSION

__all__ = [
    "OFUL",
    "PPCB",
    "RSOFUL",
    "RSOFULTR",
    "UCB",
    "BernoulliArms",
    "CallbackArms",
    "ContextualArms",
    "Decision",
    "EpsilonGreedy",
    "GraphArms",
    "Helba",
    "LinUCB",
    "LinUCBDS",
    "LinearArms",
    "LinearContexts",
    "LinearEpsilonGreedy",
    "LotorError",
    "Pursuit",
    "RatingArms",
    "ReinforcementComparison",
    "Result",
    "Samba",
    "Softmax",
    "SpectralUCB",
    "SpectralUCBDS",
    "ThompsonSampling",
    "__version__",
    "run",
]
