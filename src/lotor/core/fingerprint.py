"""Which code a class comes from: its distribution, its version, and a hash of its package's files.

Parties of a run compare them, because two of them may have different code under the same name.
"""

import json
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.machinery import ModuleSpec
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    distribution,
    packages_distributions,
)
from importlib.util import find_spec
from pathlib import Path

import msgspec

from lotor.core.errors import InputError
from lotor.core.version import VERSION

OWN = __name__.partition(".")[0]


class CodeFingerprint(msgspec.Struct, frozen=True, array_like=True):
    """If the package was not installed, `distribution` is its name, and it has no version."""

    distribution: str
    version: str
    digest: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version or '(not installed)'} ({self.digest[:12]})"


@cache
def fingerprint_of(kind: type) -> CodeFingerprint:
    """The fingerprint of the package that defines a class.

    >>> from lotor.core.errors import LotorError
    >>> fingerprint_of(LotorError).distribution
    'lotor'
    """
    return fingerprint_of_module(kind.__module__)


def fingerprint_of_module(name: str) -> CodeFingerprint:
    """The fingerprint of the package that a module belongs to."""
    return _of_package(_package(name))


def fingerprints_of(*kinds: type) -> tuple[CodeFingerprint, ...]:
    """Of all packages that these classes and their bases come from, Python's own excepted."""
    bases = [base for kind in kinds for base in kind.__mro__]
    foreign = [
        base for base in bases if base.__module__.partition(".")[0] not in sys.stdlib_module_names
    ]
    return tuple(dict.fromkeys(map(fingerprint_of, foreign)))


def _package(module: str) -> str:
    """The outermost package of a module that is not a namespace, which several could share."""
    parts = module.split(".")
    names = (".".join(parts[:count]) for count in range(1, len(parts)))
    return next((name for name in names if _spec(name).has_location), module)


def _spec(name: str) -> ModuleSpec:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise InputError(f"the code of {name} cannot be found: is it a file or a package?")
    return spec


@cache
def _of_package(package: str) -> CodeFingerprint:
    if package == OWN:
        # To ask which of all distributions brought it takes a tenth of a daemon's start.
        return CodeFingerprint(OWN, VERSION, _digest(OWN))
    found = _installed(package.partition(".")[0])
    if found is None:
        return CodeFingerprint(package, "", _digest(package))
    return CodeFingerprint(found.name, found.version, _digest(package))


def _installed(package: str) -> Distribution | None:
    """The distribution that brought a package; None if there is none, or if several share it."""
    names = set(packages_distributions().get(package, ()))
    if len(names) == 1:
        return distribution(names.pop())
    if not names:
        # An editable installation does not list its packages.
        with suppress(PackageNotFoundError):
            found = distribution(package)
            came_from = json.loads(found.read_text("direct_url.json") or "{}")
            if came_from.get("dir_info", {}).get("editable"):
                return found
    return None


def _digest(package: str) -> str:
    spec = _spec(package)
    if spec.origin is None or not spec.has_location:
        raise InputError(f"the code of {package} cannot be found: is it a file or a package?")
    origin = Path(spec.origin)
    if not spec.submodule_search_locations:
        return sha256(origin.read_bytes()).hexdigest()
    hashed = sha256()
    for path in sorted(origin.parent.rglob("*.py")):
        name, content = path.relative_to(origin.parent).as_posix().encode(), path.read_bytes()
        hashed.update(len(name).to_bytes(4, "big") + name)
        hashed.update(len(content).to_bytes(8, "big") + content)
    return hashed.hexdigest()
