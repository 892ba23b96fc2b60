"""Policies by name: one text form for the command line, messages and results.

ucb        softmax:tau=0.02        epsilon-greedy:epsilon=1/log2
"""

from dataclasses import fields, is_dataclass

from lotor.core.errors import InputError
from lotor.policies.base import Policy
from lotor.policies.epsilon_greedy import EpsilonGreedy
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
_NAMES = {kind: name for name, kind in CATALOGUE.items()}


def to_text(policy: Policy) -> str:
    """The name of a policy with all its parameters.

    >>> to_text(Softmax(tau=0.02))
    'softmax:tau=0.02'
    """
    kind = type(policy)
    title = _NAMES.get(kind, f"{kind.__module__}.{kind.__qualname__}")
    values = ((name, getattr(policy, name)) for name in _parameters(kind))
    parameters = ",".join(f"{key}={_value_text(value)}" for key, value in values)
    return f"{title}:{parameters}" if parameters else title


def _parameters(kind: type) -> list[str]:
    return [field.name for field in fields(kind)] if is_dataclass(kind) else []


def _value_text(value: object) -> str:
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    return str(value)


def from_text(text: str) -> Policy:
    """The policy that a text names.

    >>> from_text("pursuit:beta=0.2")
    Pursuit(beta=0.2)
    """
    name, _, rest = text.partition(":")
    kind = CATALOGUE.get(name)
    if kind is None:
        raise InputError(f"no policy is called {name!r}: choose one of {', '.join(CATALOGUE)}")
    known = _parameters(kind)
    parameters: dict[str, float | str] = {}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        if key not in known:
            takes = f"takes {', '.join(known)}" if known else "takes no parameters"
            raise InputError(f"policy {name} has no parameter {key!r}: it {takes}")
        if key in parameters:
            raise InputError(f"policy {name} got two values of {key}: give one")
        parameters[key] = _number_or_text(value)
    try:
        return kind(**parameters)
    except TypeError:
        raise InputError(f"policy {name} needs numbers as parameters, not {rest!r}") from None


def _number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value
