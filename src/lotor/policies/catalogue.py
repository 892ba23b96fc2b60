"""Policies for arms without vectors or contexts, by name.

ucb        softmax:tau=0.02        epsilon-greedy:epsilon=1/log2
"""

from lotor.policies.base import Policy
from lotor.policies.epsilon_greedy import EpsilonGreedy
from lotor.policies.named import Names
from lotor.policies.pursuit import Pursuit
from lotor.policies.reinforcement_comparison import ReinforcementComparison
from lotor.policies.softmax import Softmax
from lotor.policies.thompson_sampling import ThompsonSampling
from lotor.policies.ucb import UCB

CATALOGUE: dict[str, type[Policy]] = {
    "epsilon-greedy": EpsilonGreedy,
    "pursuit": Pursuit,
    "reinforcement-comparison": ReinforcementComparison,
    "softmax": Softmax,
    "thompson-sampling": ThompsonSampling,
    "ucb": UCB,
}
_NAMES = Names("policy", CATALOGUE)


def to_text(policy: Policy) -> str:
    """The name of a policy with all its parameters.

    >>> to_text(Softmax(tau=0.02))
    'softmax:tau=0.02'
    """
    return _NAMES.to_text(policy)


def from_text(text: str) -> Policy:
    """The policy that a text names.

    >>> from_text("pursuit:beta=0.2")
    Pursuit(beta=0.2)
    """
    return _NAMES.from_text(text)
