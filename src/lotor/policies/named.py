"""Policies by name: one text form for the command line, messages and results."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Generic, TypeVar

from lotor.core.errors import InputError

P = TypeVar("P")


class Names(Generic[P]):
    """The names of policies of one kind, whose text is a name and parameters: name:a=1,b=2."""

    def __init__(self, what: str, kinds: Mapping[str, type[P]]) -> None:
        self._what = what
        self._kinds = kinds
        self._names: dict[type, str] = {kind: name for name, kind in kinds.items()}

    def to_text(self, policy: P) -> str:
        """The name of a policy with all its parameters; one that is None is left out."""
        kind = type(policy)
        title = self._names.get(kind, f"{kind.__module__}.{kind.__qualname__}")
        values = ((name, getattr(policy, name)) for name in _parameters(kind))
        given = [f"{key}={_value_text(value)}" for key, value in values if value is not None]
        return f"{title}:{','.join(given)}" if given else title

    def from_text(self, text: str) -> P:
        """The policy that a text names."""
        name, _, rest = text.partition(":")
        kind = self._kinds.get(name)
        if kind is None:
            raise InputError(
                f"no {self._what} is called {name!r}: choose one of {', '.join(self._kinds)}"
            )
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
