"""Linear policies by name.

linucb        linucb:gamma=0.01,delta=0.001,R=0.01,S=log t        spectral-ucb:C=2.5
"""

from lotor.policies.linear.base import LinearPolicy
from lotor.policies.linear.linucb import LinUCB
from lotor.policies.linear.spectral_ucb import SpectralUCB
from lotor.policies.named import Names

LINEAR_CATALOGUE: dict[str, type[LinUCB] | type[SpectralUCB]] = {
    "linucb": LinUCB,
    "spectral-ucb": SpectralUCB,
}
_NAMES: Names[LinearPolicy] = Names("linear policy", LINEAR_CATALOGUE)


def linear_to_text(policy: LinearPolicy) -> str:
    """The name of a policy with all its parameters; one that is None is left out.

    >>> linear_to_text(LinUCB(S="log t"))
    'linucb:gamma=1.0,delta=0.01,R=0.1,S=log t'
    """
    return _NAMES.to_text(policy)


def linear_from_text(text: str) -> LinearPolicy:
    """The policy that a text names.

    >>> linear_from_text("spectral-ucb:C=2.5").C
    2.5
    """
    return _NAMES.from_text(text)
