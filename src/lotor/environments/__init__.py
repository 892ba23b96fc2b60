"""Where rewards come from: simulated arms, data, recorded outcomes or the user's own functions."""

from lotor.environments.base import Environment, PullFunction
from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.callback import CallbackArms
from lotor.environments.changing import ChangingArms
from lotor.environments.contextual import ContextualArms
from lotor.environments.graph import GraphArms
from lotor.environments.linear import LinearArms
from lotor.environments.linear_contexts import LinearContexts
from lotor.environments.linear_lookalike import LINEAR_LOOKALIKES, linear_lookalike
from lotor.environments.logged import LoggedArms
from lotor.environments.lookalike import LOOKALIKES, lookalike
from lotor.environments.movielens_factors import Factors, movielens_factors
from lotor.environments.off_policy import (
    OffPolicyEstimate,
    doubly_robust,
    fitted_rewards,
    ips,
    self_normalised_ips,
)
from lotor.environments.outcomes import Outcomes
from lotor.environments.ratings import RatingArms
from lotor.environments.vector import VectorArms

__all__ = [
    "LINEAR_LOOKALIKES",
    "LOOKALIKES",
    "BernoulliArms",
    "CallbackArms",
    "ChangingArms",
    "ContextualArms",
    "Environment",
    "Factors",
    "GraphArms",
    "LinearArms",
    "LinearContexts",
    "LoggedArms",
    "OffPolicyEstimate",
    "Outcomes",
    "PullFunction",
    "RatingArms",
    "VectorArms",
    "doubly_robust",
    "fitted_rewards",
    "ips",
    "linear_lookalike",
    "lookalike",
    "movielens_factors",
    "self_normalised_ips",
]
