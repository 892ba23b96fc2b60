"""Every policy by name, and one text for it: on the command line, in messages and in results.

ucb        softmax:tau=0.02        my_package.policies:Greedy:weight=2
"""

from collections.abc import Collection
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

from lotor.core.errors import InputError, LotorError
from lotor.core.registry import Registry
from lotor.policies.base import Policy
from lotor.policies.contextual.base import ContextualPolicy
from lotor.policies.linear.base import LinearPolicy
from lotor.policies.optimistic.base import OptimisticPolicy

AnyPolicy: TypeAlias = Policy | LinearPolicy | ContextualPolicy | OptimisticPolicy

POLICIES: Registry[AnyPolicy] = Registry(
    "lotor.policies", "policy", (Policy, LinearPolicy, ContextualPolicy, OptimisticPolicy)
)
"""The policies that packages offer by entry points, and those that were allowed by name."""


def to_text(policy: AnyPolicy) -> str:
    """The name of a policy with all its parameters; one that is None is left out.

    >>> from lotor.policies import RSOFULTR, Softmax
    >>> to_text(Softmax(tau=0.02))
    'softmax:tau=0.02'
    >>> to_text(RSOFULTR(C=2))
    'rsoful-tr:ridge=1.0,delta=0.01,sigma=0.5,S=1.0,L=5.5,width=determinant,C=2.0'
    """
    kind = type(policy)
    values = ((name, getattr(policy, name)) for name in _parameters(kind))
    given = [f"{key}={_value_text(value)}" for key, value in values if value is not None]
    name = POLICIES.name_of(kind)
    return f"{name}:{','.join(given)}" if given else name


def from_text(text: str) -> AnyPolicy:
    """The policy that a text names.

    >>> from_text("pursuit:beta=0.2")
    Pursuit(beta=0.2)
    """
    name, given = split_text(text)
    kind: Any = POLICIES[name]
    known = _parameters(kind)
    parameters: dict[str, float | str] = {}
    for part in filter(None, given.split(",")):
        key, _, value = part.partition("=")
        if key not in known:
            takes = f"takes {', '.join(known)}" if known else "takes no parameters"
            raise InputError(f"policy {name} has no parameter {key!r}: it {takes}")
        if key in parameters:
            raise InputError(f"policy {name} got two values of {key}: give one")
        parameters[key] = _number_or_text(value)
    try:
        policy: AnyPolicy = kind(**parameters)
    except LotorError:
        raise
    except TypeError:
        raise InputError(f"policy {name} needs numbers as parameters, not {given!r}") from None
    except Exception as error:
        # A policy of somebody else's: the text of its error may hold anything.
        raise InputError(
            f"policy {name} does not take {given!r}: it failed with {type(error).__name__}"
        ) from error
    return policy


def split_text(text: str) -> tuple[str, str]:
    """The name in a policy's text, and its parameters.

    >>> split_text("softmax:tau=0.02"), split_text("mine:Greedy:weight=2")
    (('softmax', 'tau=0.02'), ('mine:Greedy', 'weight=2'))
    """
    name, _, rest = text.partition(":")
    second, _, given = rest.partition(":")
    if second and "=" not in second and name not in POLICIES:
        return f"{name}:{second}", given
    return name, rest


def given_parameters(text: str) -> set[str]:
    """The names of the parameters that a text gives.

    >>> sorted(given_parameters("linucb:R=0.1,delta=0.5"))
    ['R', 'delta']
    """
    parts = filter(None, split_text(text)[1].split(","))
    return {part.partition("=")[0] for part in parts}


def without(text: str, names: Collection[str]) -> str:
    """The text without its values of these parameters.

    >>> without("linucb:R=0.1,delta=0.5", {"R"}), without("linucb:R=0.1", {"R"})
    ('linucb:delta=0.5', 'linucb')
    """
    name, given = split_text(text)
    parts = [part for part in given.split(",") if part.partition("=")[0] not in names]
    return f"{name}:{','.join(parts)}" if any(parts) else name


def canonical(text: str) -> str:
    """The text with all parameters, so that 0.020 is 0.02; unknown policies stay as they are.

    >>> canonical("softmax:tau=0.020"), canonical("linucb:R=0.10") == canonical("linucb")
    ('softmax:tau=0.02', True)
    """
    return to_text(from_text(text)) if split_text(text)[0] in POLICIES else text


def _parameters(kind: type) -> list[str]:
    return [field.name for field in fields(kind)] if is_dataclass(kind) else []


def _value_text(value: object) -> str:
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    return str(value)


def _number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value
