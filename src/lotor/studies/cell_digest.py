"""What a cell is, as a digest: finished cells are known by it when a sweep goes on."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from hashlib import sha256
from pathlib import PurePath
from typing import Any, TypeAlias

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fingerprint import OWN, fingerprint_of
from lotor.core.version import VERSION
from lotor.protocols.cell import AnyCell

# JSON that says all that a value is.
Description: TypeAlias = Any


class CellDigests:
    """Digests of cells; an environment that many of them share is read once."""

    def __init__(self) -> None:
        # The object stays here beside its digest, so that no other one gets its id.
        self._read: dict[int, tuple[object, str]] = {}

    def of(self, cell: AnyCell) -> str:
        """The digest of a cell: its fields, and the version of Lotor.

        Code of other packages counts with its text, Lotor's own with its version.

        >>> from lotor import BernoulliArms, UCB
        >>> from lotor.protocols.cell import RunCell
        >>> cell = RunCell({"policy": "ucb"}, UCB(), BernoulliArms([0.9, 0.1]), 10, seed=1)
        >>> len(CellDigests().of(cell))
        64
        """
        try:
            parts = {
                one.name: self._part(one.name, getattr(cell, one.name)) for one in fields(cell)
            }
        except InputError as error:
            raise InputError(
                f"the cell {cell_name(cell)} cannot be kept on disk: {error}; sweep without a "
                "folder for finished cells"
            ) from None
        return _hashed({"kind": type(cell).__name__, "version": VERSION, **parts})

    def _part(self, name: str, value: object) -> Description:
        if name not in ("environment", "task"):
            return described(value)
        if id(value) not in self._read:
            self._read[id(value)] = value, _hashed(described(value))
        return self._read[id(value)][1]


def cell_name(cell: AnyCell) -> str:
    """A cell by its labels, as errors name it.

    >>> from lotor import BernoulliArms, UCB
    >>> from lotor.protocols.cell import RunCell
    >>> cell_name(RunCell({"policy": "ucb", "seed": 1}, UCB(), BernoulliArms([0.9]), 10, seed=1))
    '(policy ucb, seed 1)'
    """
    return f"({', '.join(f'{name} {value}' for name, value in cell.labels.items())})"


def described(value: object) -> Description:
    """All that a value is, as JSON; refuses what may change its meaning from one day to the next.

    >>> described((1, 0.5, {"b": None, "a": "text"}))
    [1, ['float', '0x1.0000000000000p-1'], ['mapping', [['a', 'text'], ['b', None]]]]
    """
    for kind, describe in _KINDS:
        if isinstance(value, kind):
            return describe(value)
    if is_dataclass(value) and not isinstance(value, type):
        own = [[one.name, described(getattr(value, one.name))] for one in fields(value)]
        return ["object", *_code(type(value)), own]
    if callable(value):
        raise InputError("it holds a function, and nobody can tell what that will answer next time")
    raise InputError(
        f"it holds a {type(value).__name__}, which is no dataclass, so that nobody can tell two of "
        "them apart"
    )


def _array(array: np.ndarray) -> Description:
    if array.dtype.hasobject:
        return ["objects", list(array.shape), [described(one) for one in array.ravel().tolist()]]
    data = np.ascontiguousarray(array)
    return ["array", data.dtype.str, list(data.shape), sha256(data.tobytes()).hexdigest()]


def _mapping(mapping: Mapping[object, object]) -> Description:
    pairs = [[described(key), described(value)] for key, value in mapping.items()]
    return ["mapping", sorted(pairs, key=lambda pair: json.dumps(pair[0]))]


_KINDS: Sequence[tuple[type | tuple[type, ...], Callable[[Any], Description]]] = (
    ((type(None), bool, int, str), lambda value: value),
    (float, lambda value: ["float", value.hex()]),
    (np.generic, lambda value: described(value.item())),
    (np.ndarray, _array),
    (bytes, lambda value: ["bytes", value.hex()]),
    (PurePath, lambda value: ["path", str(value)]),
    (Mapping, _mapping),
    ((tuple, list), lambda value: [described(one) for one in value]),
)


def _code(kind: type) -> list[str]:
    """Which class it is, and the code of the packages that are not Lotor's or Python's own."""
    roots = {base: base.__module__.partition(".")[0] for base in kind.__mro__}
    foreign = [base for base, root in roots.items() if root not in (OWN, *sys.stdlib_module_names)]
    digests = dict.fromkeys(fingerprint_of(base).digest for base in foreign)
    return [f"{kind.__module__}:{kind.__qualname__}", *digests]


def _hashed(value: Description) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
