"""Contextual policies by name.

linear-epsilon-greedy        linear-epsilon-greedy:epsilon=0.05,ridge=2.0
"""

from lotor.policies.contextual.base import ContextualPolicy
from lotor.policies.contextual.linear_epsilon_greedy import LinearEpsilonGreedy
from lotor.policies.named import Names

CONTEXTUAL_CATALOGUE: dict[str, type[LinearEpsilonGreedy]] = {
    "linear-epsilon-greedy": LinearEpsilonGreedy
}
_NAMES: Names[ContextualPolicy] = Names("contextual policy", CONTEXTUAL_CATALOGUE)


def contextual_to_text(policy: ContextualPolicy) -> str:
    """The name of a policy with all its parameters; one that is None is left out.

    >>> contextual_to_text(LinearEpsilonGreedy(0.05))
    'linear-epsilon-greedy:epsilon=0.05,ridge=1.0'
    """
    return _NAMES.to_text(policy)


def contextual_from_text(text: str) -> ContextualPolicy:
    """The policy that a text names.

    >>> contextual_from_text("linear-epsilon-greedy:ridge=2").epsilon
    0.1
    """
    return _NAMES.from_text(text)
