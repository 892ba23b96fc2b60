"""Bandit algorithms in the clear, one a file; `Policy` is the base of your own."""

from lotor.core.draws import Draws
from lotor.core.fixed_point import REWARD_ONE, Floats
from lotor.policies.base import ArmSnapshot, ArmStates, Bits, Policy, check_iterations
from lotor.policies.contextual import ContextualPolicy, LinearEpsilonGreedy
from lotor.policies.discounted_ucb import DiscountedUCB
from lotor.policies.epsilon_greedy import EpsilonGreedy
from lotor.policies.genericity import Genericity, check_genericity
from lotor.policies.kl_ucb import KLUCB
from lotor.policies.linear import LinearPolicy, LinTS, LinUCB, SpectralUCB
from lotor.policies.lucb import LUCB
from lotor.policies.matching import ABOVE_LOWEST_GUMBEL
from lotor.policies.optimistic import OFUL, RSOFUL, RSOFULTR, BatchedOFUL, OptimisticPolicy
from lotor.policies.pursuit import Pursuit
from lotor.policies.registry import POLICIES, AnyPolicy, canonical, from_text, to_text
from lotor.policies.reinforcement_comparison import ReinforcementComparison
from lotor.policies.sliding_window_ucb import SlidingWindowUCB
from lotor.policies.softmax import Softmax
from lotor.policies.thompson_sampling import ThompsonSampling
from lotor.policies.ucb import UCB

__all__ = [
    "ABOVE_LOWEST_GUMBEL",
    "KLUCB",
    "LUCB",
    "OFUL",
    "POLICIES",
    "REWARD_ONE",
    "RSOFUL",
    "RSOFULTR",
    "UCB",
    "AnyPolicy",
    "ArmSnapshot",
    "ArmStates",
    "BatchedOFUL",
    "Bits",
    "ContextualPolicy",
    "DiscountedUCB",
    "Draws",
    "EpsilonGreedy",
    "Floats",
    "Genericity",
    "LinTS",
    "LinUCB",
    "LinearEpsilonGreedy",
    "LinearPolicy",
    "OptimisticPolicy",
    "Policy",
    "Pursuit",
    "ReinforcementComparison",
    "SlidingWindowUCB",
    "Softmax",
    "SpectralUCB",
    "ThompsonSampling",
    "canonical",
    "check_genericity",
    "check_iterations",
    "from_text",
    "to_text",
]
