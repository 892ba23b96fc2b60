"""Policies that see a context before each choice."""

from lotor.policies.contextual.base import ContextualModel, ContextualPolicy
from lotor.policies.contextual.least_squares import LeastSquares, LeastSquaresSnapshot
from lotor.policies.contextual.linear_epsilon_greedy import LinearEpsilonGreedy

__all__ = [
    "ContextualModel",
    "ContextualPolicy",
    "LeastSquares",
    "LeastSquaresSnapshot",
    "LinearEpsilonGreedy",
]
