"""Optimistic policies by name.

oful        rsoful:C=0.5        batched-oful:index=sqrt,C=1,eta=0.1
"""

from lotor.policies.named import Names
from lotor.policies.optimistic.base import OptimisticPolicy
from lotor.policies.optimistic.batched_oful import BatchedOFUL
from lotor.policies.optimistic.oful import OFUL
from lotor.policies.optimistic.rsoful import RSOFUL
from lotor.policies.optimistic.rsofultr import RSOFULTR

OPTIMISTIC_CATALOGUE: dict[str, type[OFUL] | type[RSOFUL] | type[RSOFULTR] | type[BatchedOFUL]] = {
    "oful": OFUL,
    "rsoful": RSOFUL,
    "rsoful-tr": RSOFULTR,
    "batched-oful": BatchedOFUL,
}
_NAMES: Names[OptimisticPolicy] = Names("optimistic policy", OPTIMISTIC_CATALOGUE)


def optimistic_to_text(policy: OptimisticPolicy) -> str:
    """The name of a policy with all its parameters; one that is None is left out.

    >>> optimistic_to_text(RSOFULTR(C=2))
    'rsoful-tr:ridge=1.0,delta=0.01,sigma=0.5,S=1.0,L=5.5,width=determinant,C=2.0'
    """
    return _NAMES.to_text(policy)


def optimistic_from_text(text: str) -> OptimisticPolicy:
    """The policy that a text names.

    >>> optimistic_from_text("batched-oful:index=sqrt,C=1,eta=0.1").width
    'public'
    """
    return _NAMES.from_text(text)
