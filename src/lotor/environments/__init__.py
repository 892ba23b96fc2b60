"""Where rewards come from: simulated arms, ratings, recorded outcomes, the user's own functions."""

from lotor.environments.base import Environment, PullFunction
from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.callback import CallbackArms
from lotor.environments.lookalike import LOOKALIKES, lookalike
from lotor.environments.outcomes import Outcomes
from lotor.environments.ratings import RatingArms

__all__ = [
    "LOOKALIKES",
    "BernoulliArms",
    "CallbackArms",
    "Environment",
    "Outcomes",
    "PullFunction",
    "RatingArms",
    "lookalike",
]
