"""Policies that see a context before each choice."""

from lotor.policies.contextual.base import ContextualModel, ContextualPolicy
from lotor.policies.contextual.catalogue import (
    CONTEXTUAL_CATALOGUE,
    contextual_from_text,
    contextual_to_text,
)
from lotor.policies.contextual.least_squares import LeastSquares, LeastSquaresSnapshot
from lotor.policies.contextual.linear_epsilon_greedy import LinearEpsilonGreedy

__all__ = [
    "CONTEXTUAL_CATALOGUE",
    "ContextualModel",
    "ContextualPolicy",
    "LeastSquares",
    "LeastSquaresSnapshot",
    "LinearEpsilonGreedy",
    "contextual_from_text",
    "contextual_to_text",
]
