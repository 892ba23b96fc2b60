"""Where rewards come from: simulated arms, arms made from ratings, the user's own functions."""

from lotor.environments.base import Environment, PullFunction
from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.callback import CallbackArms
from lotor.environments.lookalike import LOOKALIKES, lookalike
from lotor.environments.ratings import RatingArms

__all__ = [
    "LOOKALIKES",
    "BernoulliArms",
    "CallbackArms",
    "Environment",
    "PullFunction",
    "RatingArms",
    "lookalike",
]
