"""Lotor: several organisations make the choice that pays best, and none of them shows its data.

>>> import lotor
>>> arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
>>> samba = lotor.Samba(lotor.UCB())
>>> secure = lotor.run(samba, arms, budget=100, seed=7)
>>> plain = lotor.run(samba.plain(), arms, budget=100, seed=7)
>>> secure.reward == plain.reward and secure.arms == plain.arms
True

A name is imported when it is first used, so that `import lotor` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lotor.core.version import VERSION

if TYPE_CHECKING:
    from lotor.auditing.audit import audit
    from lotor.auditing.report import AuditReport
    from lotor.core.effects import Decision
    from lotor.core.errors import LotorError
    from lotor.core.result import Result
    from lotor.environments import (
        BernoulliArms,
        CallbackArms,
        ChangingArms,
        ContextualArms,
        GraphArms,
        LinearArms,
        LinearContexts,
        LoggedArms,
        OffPolicyEstimate,
        RatingArms,
        VectorArms,
        doubly_robust,
        fitted_rewards,
        ips,
        self_normalised_ips,
    )
    from lotor.policies import (
        KLUCB,
        LUCB,
        OFUL,
        RSOFUL,
        RSOFULTR,
        UCB,
        DiscountedUCB,
        EpsilonGreedy,
        LinearEpsilonGreedy,
        LinTS,
        LinUCB,
        Pursuit,
        ReinforcementComparison,
        SlidingWindowUCB,
        Softmax,
        SpectralUCB,
        ThompsonSampling,
    )
    from lotor.protocols.helba.protocol import Helba
    from lotor.protocols.linucb_ds.protocol import LinUCBDS, SpectralUCBDS
    from lotor.protocols.plain.replay import Replay, replay
    from lotor.protocols.plain.stepwise import Bandit
    from lotor.protocols.ppcb.protocol import PPCB
    from lotor.protocols.samba.protocol import Samba
    from lotor.runtime.daemon.inbox import Inbox
    from lotor.runtime.durable.open_decisions import OpenDecision
    from lotor.runtime.pull_log import Round
    from lotor.runtime.run import run
    from lotor.studies.compare import compare
    from lotor.studies.compared_runs import ComparedRuns
    from lotor.studies.plan import Planned, plan
    from lotor.studies.tune import SearchRange, tune
    from lotor.studies.tuning import Tuning

__version__ = VERSION

__all__ = [
    "KLUCB",
    "LUCB",
    "OFUL",
    "PPCB",
    "RSOFUL",
    "RSOFULTR",
    "UCB",
    "AuditReport",
    "Bandit",
    "BernoulliArms",
    "CallbackArms",
    "ChangingArms",
    "ComparedRuns",
    "ContextualArms",
    "Decision",
    "DiscountedUCB",
    "EpsilonGreedy",
    "GraphArms",
    "Helba",
    "Inbox",
    "LinTS",
    "LinUCB",
    "LinUCBDS",
    "LinearArms",
    "LinearContexts",
    "LinearEpsilonGreedy",
    "LoggedArms",
    "LotorError",
    "OffPolicyEstimate",
    "OpenDecision",
    "Planned",
    "Pursuit",
    "RatingArms",
    "ReinforcementComparison",
    "Replay",
    "Result",
    "Round",
    "Samba",
    "SearchRange",
    "SlidingWindowUCB",
    "Softmax",
    "SpectralUCB",
    "SpectralUCBDS",
    "ThompsonSampling",
    "Tuning",
    "VectorArms",
    "__version__",
    "audit",
    "compare",
    "doubly_robust",
    "fitted_rewards",
    "ips",
    "plan",
    "replay",
    "run",
    "self_normalised_ips",
    "tune",
]

_PLACES = {
    "lotor.auditing.audit": ("audit",),
    "lotor.auditing.report": ("AuditReport",),
    "lotor.core.effects": ("Decision",),
    "lotor.core.errors": ("LotorError",),
    "lotor.core.result": ("Result",),
    "lotor.environments": (
        "BernoulliArms",
        "CallbackArms",
        "ChangingArms",
        "ContextualArms",
        "GraphArms",
        "LinearArms",
        "LinearContexts",
        "LoggedArms",
        "OffPolicyEstimate",
        "RatingArms",
        "VectorArms",
        "doubly_robust",
        "fitted_rewards",
        "ips",
        "self_normalised_ips",
    ),
    "lotor.policies": (
        "KLUCB",
        "LUCB",
        "OFUL",
        "RSOFUL",
        "RSOFULTR",
        "UCB",
        "DiscountedUCB",
        "EpsilonGreedy",
        "LinTS",
        "LinUCB",
        "LinearEpsilonGreedy",
        "Pursuit",
        "ReinforcementComparison",
        "SlidingWindowUCB",
        "Softmax",
        "SpectralUCB",
        "ThompsonSampling",
    ),
    "lotor.protocols.helba.protocol": ("Helba",),
    "lotor.protocols.linucb_ds.protocol": ("LinUCBDS", "SpectralUCBDS"),
    "lotor.protocols.plain.replay": ("Replay", "replay"),
    "lotor.protocols.plain.stepwise": ("Bandit",),
    "lotor.protocols.ppcb.protocol": ("PPCB",),
    "lotor.protocols.samba.protocol": ("Samba",),
    "lotor.runtime.daemon.inbox": ("Inbox",),
    "lotor.runtime.durable.open_decisions": ("OpenDecision",),
    "lotor.runtime.pull_log": ("Round",),
    "lotor.runtime.run": ("run",),
    "lotor.studies.compare": ("compare",),
    "lotor.studies.compared_runs": ("ComparedRuns",),
    "lotor.studies.plan": ("Planned", "plan"),
    "lotor.studies.tune": ("SearchRange", "tune"),
    "lotor.studies.tuning": ("Tuning",),
}
_PLACE_OF = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name, and keep it."""
    if name not in _PLACE_OF:
        try:
            return import_module(f"lotor.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"lotor.{name}":
                raise
            raise AttributeError(f"module 'lotor' has no attribute {name!r}") from None
    found: object = getattr(import_module(_PLACE_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
