"""What a cell is, as a digest: finished cells are known by it when a sweep goes on."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from hashlib import file_digest, sha256
from pathlib import Path, PurePath
from typing import Any, TypeAlias

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fingerprint import OWN, fingerprint_of, fingerprint_of_module
from lotor.protocols.cell import AnyCell

# JSON that says all that a value is.
Description: TypeAlias = Any


class CellDigests:
    """Digests of cells; an environment that many of them share is read once."""

    def __init__(self) -> None:
        # The object stays here beside its digest, so that no other one gets its id.
        self._read: dict[int, tuple[object, str]] = {}

    def of(self, cell: AnyCell) -> str:
        """The digest of a cell: its fields, and the code of Lotor and of the user's classes.

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
        own = fingerprint_of(CellDigests).digest
        return _hashed({"kind": type(cell).__name__, "lotor": own, **parts})

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
    [1, ['float', '0x1.0000000000000p-1'], ['mapping', [['b', None], ['a', 'text']]]]
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
    """In its order, by which an environment may number its arms."""
    return ["mapping", [[described(key), described(value)] for key, value in mapping.items()]]


def _file(path: PurePath) -> Description:
    """A file by its name and by what is in it today."""
    try:
        with Path(path).open("rb") as file:
            return ["file", str(path), file_digest(file, "sha256").hexdigest()]
    except OSError as error:
        raise InputError(
            f"it holds the path {path}, which cannot be read as a file ({error.strerror}), so that "
            "nobody can tell whether what lies there has changed"
        ) from None


_KINDS: Sequence[tuple[type | tuple[type, ...], Callable[[Any], Description]]] = (
    ((type(None), bool, int, str), lambda value: value),
    (float, lambda value: ["float", value.hex()]),
    (np.generic, lambda value: described(value.item())),
    (np.ndarray, _array),
    (bytes, lambda value: ["bytes", value.hex()]),
    (PurePath, _file),
    (Mapping, _mapping),
    ((tuple, list), lambda value: [described(one) for one in value]),
)


def _code(kind: type) -> list[str]:
    """Which class it is, and the code of the packages that are not Lotor's or Python's own."""
    roots = {base: base.__module__.partition(".")[0] for base in kind.__mro__}
    foreign = [base for base, root in roots.items() if root not in (OWN, *sys.stdlib_module_names)]
    digests = dict.fromkeys(
        _script_digest(base) if base.__module__ == "__main__" else fingerprint_of(base).digest
        for base in foreign
    )
    return [f"{kind.__module__}:{kind.__qualname__}", *digests]


def _script_digest(kind: type) -> str:
    """The code of a class whose module was not imported but started."""
    script = sys.modules["__main__"]
    try:
        text = Path(script.__file__ or "").read_bytes()
    except (AttributeError, OSError):
        text = b""
    # A shell or a profiler may be what was started.
    if f"class {kind.__name__}".encode() not in text:
        raise InputError(
            f"the code of {kind.__qualname__} is in no file, so that nobody can tell later which "
            "code ran (move the class into a module of its own, and import it)"
        )
    if script.__spec__ is None:
        return sha256(text).hexdigest()
    return fingerprint_of_module(script.__spec__.name).digest  # python -m


def _hashed(value: Description) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
