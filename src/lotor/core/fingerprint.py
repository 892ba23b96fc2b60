"""Which code a class is: its distribution, its version, and a hash of its package's files.

Parties of a run compare them, so that nobody computes with other code under the same name.
"""

from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from importlib.util import find_spec
from pathlib import Path

import msgspec

from lotor.core.errors import InputError


class CodeFingerprint(msgspec.Struct, frozen=True, array_like=True):
    """`distribution` is the package itself where it was not installed, without a version."""

    distribution: str
    version: str
    digest: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version or '(not installed)'} ({self.digest[:12]})"


def fingerprint_of(kind: type) -> CodeFingerprint:
    """Of the package that defines a class.

    >>> from lotor.core.errors import LotorError
    >>> fingerprint_of(LotorError).distribution
    'lotor'
    """
    return _of_package(kind.__module__.partition(".")[0])


@cache
def _of_package(package: str) -> CodeFingerprint:
    # An editable installation does not list its packages; its distribution is mostly called alike.
    name = packages_distributions().get(package, [package])[0]
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return CodeFingerprint(package, "", _digest(package))
    return CodeFingerprint(found.name, found.version, _digest(package))


def _digest(package: str) -> str:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
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
