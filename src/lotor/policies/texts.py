"""One text for each policy, whichever catalogue it is in."""

from lotor.policies.catalogue import CATALOGUE, from_text, to_text
from lotor.policies.contextual import (
    CONTEXTUAL_CATALOGUE,
    contextual_from_text,
    contextual_to_text,
)
from lotor.policies.linear import LINEAR_CATALOGUE, linear_from_text, linear_to_text
from lotor.policies.optimistic import (
    OPTIMISTIC_CATALOGUE,
    optimistic_from_text,
    optimistic_to_text,
)


def canonical(text: str) -> str:
    """The text with all parameters, so that 0.020 is 0.02; unknown policies stay as they are.

    >>> canonical("softmax:tau=0.020"), canonical("linucb:R=0.10") == canonical("linucb")
    ('softmax:tau=0.02', True)
    """
    name = text.partition(":")[0]
    if name in CATALOGUE:
        return to_text(from_text(text))
    if name in LINEAR_CATALOGUE:
        return linear_to_text(linear_from_text(text))
    if name in CONTEXTUAL_CATALOGUE:
        return contextual_to_text(contextual_from_text(text))
    if name in OPTIMISTIC_CATALOGUE:
        return optimistic_to_text(optimistic_from_text(text))
    return text
