"""Linear policies by name, in the same text form as the others.

linucb        linucb:gamma=0.01,delta=0.001,R=0.01,S=log t        spectral-ucb:C=2.5
"""

from dataclasses import fields, is_dataclass

from lotor.core.errors import InputError
from lotor.policies.linear.base import LinearPolicy
from lotor.policies.linear.linucb import LinUCB
from lotor.policies.linear.spectral_ucb import SpectralUCB

LINEAR_CATALOGUE: dict[str, type[LinUCB] | type[SpectralUCB]] = {
    "linucb": LinUCB,
    "spectral-ucb": SpectralUCB,
}
_NAMES: dict[type, str] = {kind: name for name, kind in LINEAR_CATALOGUE.items()}


def linear_to_text(policy: LinearPolicy) -> str:
    """The name of a policy with all its parameters; one that is None is left out.

    >>> linear_to_text(LinUCB(S="log t"))
    'linucb:gamma=1.0,delta=0.01,R=0.1,S=log t'
    """
    kind = type(policy)
    title = _NAMES.get(kind, f"{kind.__module__}.{kind.__qualname__}")
    values = ((name, getattr(policy, name)) for name in _parameters(kind))
    parameters = ",".join(f"{key}={value}" for key, value in values if value is not None)
    return f"{title}:{parameters}" if parameters else title


def linear_from_text(text: str) -> LinearPolicy:
    """The policy that a text names.

    >>> linear_from_text("spectral-ucb:C=2.5").C
    2.5
    """
    name, _, rest = text.partition(":")
    kind = LINEAR_CATALOGUE.get(name)
    if kind is None:
        raise InputError(
            f"no linear policy is called {name!r}: choose one of {', '.join(LINEAR_CATALOGUE)}"
        )
    known = _parameters(kind)
    parameters: dict[str, float | str] = {}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        if key not in known:
            raise InputError(f"policy {name} has no parameter {key!r}: it takes {', '.join(known)}")
        if key in parameters:
            raise InputError(f"policy {name} got two values of {key}: give one")
        parameters[key] = _number_or_text(value)
    return kind(**parameters)  # type: ignore[arg-type]  # each class checks its own


def _parameters(kind: type) -> list[str]:
    return [field.name for field in fields(kind)] if is_dataclass(kind) else []


def _number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value
