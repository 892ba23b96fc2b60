"""What installed packages offer by name: policies and protocols, our own included.

A package offers a class by an entry point in its pyproject.toml:

    [project.entry-points."lotor.policies"]
    my-policy = "my_package:MyPolicy"

Names are known without importing anything; a class is imported when it is asked for. A class that
no package offers has the name `module:Class`, and is imported only after `allow` has named it:
text that came in a message never makes a program import anything.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from lotor.core.errors import InputError
from lotor.core.fingerprint import fingerprint_of

T = TypeVar("T")

_CLASS = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_class_name(text: str) -> bool:
    """Whether a text is of the form module:Class.

    >>> is_class_name("my_package.policies:Greedy"), is_class_name("softmax")
    (True, False)
    """
    return _CLASS.fullmatch(text) is not None


def load(name: str, what: str) -> object:
    """Import `module:Class`; the caller says what it is for."""
    module, _, path = name.partition(":")
    try:
        found: object = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:
        # Its text may hold anything, and this error may be told to other parties.
        missing = f" {error.name}" if isinstance(error, ModuleNotFoundError) else ""
        raise InputError(
            f"the {what} {name} cannot be imported ({type(error).__name__}{missing}): is it "
            "installed here, and is the name right?"
        ) from error
    return found


class Registry(Mapping[str, type[T]], Generic[T]):
    """The classes of one kind by name; `group` is the name of their entry points."""

    def __init__(self, group: str, what: str, bases: tuple[type, ...]) -> None:
        self._group = group
        self._what = what
        self._bases = bases
        self._allowed: set[str] = set()
        self._loaded: dict[str, type[T]] = {}
        self._names: dict[type, str] = {}

    def __repr__(self) -> str:
        return f"<Registry of {self._group}>"

    @cached_property
    def _offers(self) -> dict[str, EntryPoint]:
        offers: dict[str, EntryPoint] = {}
        for offer in sorted(entry_points(group=self._group), key=lambda one: one.name):
            other = offers.setdefault(offer.name, offer)
            if other.value != offer.value:
                raise InputError(
                    f"two packages offer a {self._what} called {offer.name!r} ({other.value} and "
                    f"{offer.value}): uninstall one of them"
                )
        return offers

    def __iter__(self) -> Iterator[str]:
        yield from self._offers
        yield from sorted(self._allowed)

    def __len__(self) -> int:
        return len(self._offers) + len(self._allowed)

    def __contains__(self, name: object) -> bool:
        return name in self._offers or name in self._allowed

    def __getitem__(self, name: str) -> type[T]:
        if name in self._loaded:
            return self._loaded[name]
        if name in self._offers:
            value = self._offers[name].value
        elif name in self._allowed:
            value = name
        elif is_class_name(name):
            raise InputError(
                f"no package offers the {self._what} {name}, and a name alone is never imported: "
                "install a package that offers it, or list it under [code] in party.toml"
            )
        else:
            known = ", ".join(self._offers)
            raise InputError(f"no {self._what} is called {name!r}: choose one of {known}")
        kind = self._checked(name, load(value, self._what))
        if value.partition(".")[0] != __name__.partition(".")[0]:
            # Now, since somebody may replace its files while this process lives.
            fingerprint_of(cast("type", kind))
        return self._loaded.setdefault(name, kind)

    def _checked(self, name: str, found: object) -> type[T]:
        if not isinstance(found, type) or not issubclass(found, self._bases):
            bases = " or ".join(base.__name__ for base in self._bases)
            raise InputError(
                f"{name} is not a {self._what}: it must be a class derived from {bases}"
            )
        return cast("type[T]", found)

    def loadable(self) -> Iterator[tuple[str, type[T]]]:
        """All that can be loaded; one that cannot warns, and is left out."""
        for name in self:
            try:
                yield name, self[name]
            except InputError as error:
                warnings.warn(f"{name} is left out: {error}", UserWarning, stacklevel=2)

    def allow(self, name: str) -> None:
        """Let `module:Class` be imported, as the person who runs this program asks for it."""
        if not is_class_name(name):
            raise InputError(f"{name!r} does not name a {self._what}: write it as module:Class")
        self._allowed.add(name)

    def name_of(self, kind: type) -> str:
        """The name under which a package offers a class, else module:Class."""
        if kind not in self._names:
            self._names[kind] = self._find_name(kind)
        return self._names[kind]

    def _find_name(self, kind: type) -> str:
        own = f"{kind.__module__}:{kind.__qualname__}"
        for name, offer in self._offers.items():
            if offer.value == own:
                return name
        package = kind.__module__.partition(".")[0]
        for name, offer in self._offers.items():
            # It may be offered by another module of its package than the one that defines it.
            if offer.module.partition(".")[0] == package and self[name] is kind:
                return name
        return own
