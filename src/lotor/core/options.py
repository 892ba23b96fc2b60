"""Options: what a user may choose by name, in Python, on the command line and in an order.

An option is a field of a frozen dataclass that says in its metadata what it is for:

    slot_bits: int = field(default=64, kw_only=True, metadata=option("How wide a score is."))

Its name, type and default are the field's own.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal, InvalidOperation
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from lotor.core.errors import InputError

_KEY = "lotor option"


@dataclass(frozen=True, slots=True)
class _Described:
    text: str
    flag: str | None
    shown: str | None
    ordered: bool
    of_policy: bool
    simulated: bool


@dataclass(frozen=True, slots=True)
class Option:
    """One option. `flag` is its name on the command line, `shown` its default in words.

    An order to a federation holds only the options that are `ordered`: the others concern
    simulations, or are each party's own choice. One `of_policy` is a parameter of the policy, whose
    text says it. The commands that simulate a run offer those that are `simulated`.
    """

    name: str
    kind: type[int] | type[float] | type[str] | type[bool]
    text: str
    flag: str
    shown: str
    choices: tuple[str, ...] = ()
    ordered: bool = True
    of_policy: bool = False
    simulated: bool = True

    def read(self, value: Any) -> int | float | str | bool:
        """A value that came as text or number, in the option's own type."""
        try:
            if self.kind is bool:
                return _TRUTH[str(value).lower()]
            return to_whole(value) if self.kind is int else self.kind(value)
        except (KeyError, OverflowError, TypeError, ValueError):
            raise InputError(f"{self.name} takes {_WORDS[self.kind]}, not {value!r}") from None


def to_whole(value: object) -> int:
    """A whole number as people write it; anything else is refused with the reason.

    >>> to_whole("1000"), to_whole("1_000"), to_whole("1e3"), to_whole(1000.0)
    (1000, 1000, 1000, 1000)
    """
    text = str(value)
    with suppress(ValueError):
        return int(text)
    try:
        # No float on the way, so that no digit is lost.
        number = Decimal(text)
    except InvalidOperation:
        raise InputError(f"{value!r} is not a whole number: give one, such as 1000") from None
    if number.is_nan():
        raise InputError(f"{value!r} is not a whole number: give one, such as 1000")
    if not number.is_finite() or number.adjusted() > _MOST_DIGITS:
        raise InputError(f"{value!r} is too large: give a whole number, such as 1000")
    if number != number.to_integral_value():
        raise InputError(f"{value!r} has a fraction: give a whole number, such as 1000")
    return int(number)


def to_number(value: object) -> float:
    """A number that came as text."""
    try:
        return float(str(value))
    except ValueError:
        raise InputError(f"{value!r} is not a number: give one, such as 0.5") from None


def flag(option: Option) -> str:
    """An option as it is typed."""
    return "--" + option.flag.replace("_", "-")


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """An error message about parameters in the words of the command line: name -> as typed.

    A name is replaced where it cannot be an ordinary word: with an underscore in it, before an
    equals sign, or as the first word of a sentence that says what the parameter is.

    >>> flags = {"k": "--k", "noise_sd": "--noise-sd"}
    >>> in_flags("k is 0: give a number from 1 up", flags)
    '--k is 0: give a number from 1 up'
    >>> in_flags("take k=2 or a larger noise_sd", flags)
    'take --k 2 or a larger --noise-sd'
    """
    for name, typed in flags.items():
        # Within the text of a policy, a path or another option it stays as it is.
        message = re.sub(rf"(?<![\w./:,\-]){name}=(?=\S)", f"{typed} ", message)
        if "_" in name:
            message = re.sub(rf"(?<![\w./:,\-]){name}(?![\w./=\-])", typed, message)
        message = re.sub(rf"^{name}(?= (is|takes|must|has)\b)", typed, message)
    return message


_MOST_DIGITS = 30
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_WORDS = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}


def option(
    text: str,
    *,
    flag: str | None = None,
    shown: str | None = None,
    ordered: bool = True,
    of_policy: bool = False,
    simulated: bool = True,
) -> Mapping[str, object]:
    """The metadata of a field that is an option; see `Option`."""
    return {_KEY: _Described(text, flag, shown, ordered, of_policy, simulated)}


@cache
def options_of(kind: type) -> tuple[Option, ...]:
    """The options among the fields of a dataclass, in their order.

    >>> from dataclasses import field
    >>> @dataclass(frozen=True)
    ... class Scheme:
    ...     bits: int | None = field(default=None, metadata=option("How many.", shown="64"))
    >>> [(one.name, one.kind.__name__, one.shown) for one in options_of(Scheme)]
    [('bits', 'int', '64')]
    """
    hints = get_type_hints(kind)
    found = []
    for field in fields(kind):
        described = field.metadata.get(_KEY)
        if described is None:
            continue
        value, choices = _type_of(hints[field.name])
        default = "" if field.default in (MISSING, None) else _in_words(field.default)
        found.append(
            Option(
                name=field.name,
                kind=value,
                text=described.text,
                flag=described.flag or field.name,
                shown=default if described.shown is None else described.shown,
                choices=choices,
                ordered=described.ordered,
                of_policy=described.of_policy,
                simulated=described.simulated,
            )
        )
    return tuple(found)


def _in_words(default: object) -> str:
    """A default as people write it: 1, not 1.0; 1e-6, not 1e-06."""
    return f"{default:g}".replace("e-0", "e-") if isinstance(default, float) else str(default)


def _type_of(hint: Any) -> tuple[type[int] | type[float] | type[str], tuple[str, ...]]:
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (one for one in get_args(hint) if one is not type(None))
    if get_origin(hint) is Literal:
        values = get_args(hint)
        return type(values[0]), tuple(map(str, values))
    if hint in (int, float, str, bool):
        return hint, ()
    raise TypeError(f"an option is an int, float, str, bool or Literal, not {hint}")
