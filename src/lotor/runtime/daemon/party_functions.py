"""A party's own functions and model, found by name."""

import importlib
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TypeAlias, cast

from lotor.core.effects import Decision
from lotor.core.errors import ConfigError
from lotor.core.registry import Registry
from lotor.policies import POLICIES, AnyPolicy
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.runtime.daemon.config_tables import CodeTable
from lotor.runtime.pulls import ACT, FEATURES, PULL

OwnFunction: TypeAlias = Callable[[Decision], object]
_DOES = {
    PULL: "returns a reward",
    ACT: "carries its arm out",
    FEATURES: "returns features of its context",
}

# The folders that were put first; modules of an earlier one may be replaced.
_kits: set[str] = set()


def load_function(spec: str, kit: Path, key: str = PULL) -> OwnFunction:
    """The function that "package.module:function" names; the kit's own folder is searched first."""
    found = _named(spec, kit, f"owner.{key}", "function")
    if isinstance(found, type) or not callable(found):
        what = "a class" if isinstance(found, type) else f"of type {type(found).__name__}"
        raise ConfigError(
            f"owner.{key}: {spec} is {what}: name a function, or an object that can be called, "
            f"that takes a Decision and {_DOES[key]}"
        )
    return cast("OwnFunction", found)


def load_check(spec: str, kit: Path) -> Callable[[], object]:
    """The function without arguments that tests a party's data, for `lotor doctor`."""
    found = _named(spec, kit, "owner.check", "function")
    if isinstance(found, type) or not callable(found):
        raise ConfigError(
            f"owner.check: {spec} is no function: name one without arguments that raises an error "
            "if something is wrong with this party's data"
        )
    return cast("Callable[[], object]", found)


def own_check(function: OwnFunction) -> Callable[[], object] | None:
    """The method `check` of an object that is called like a function, if it has one."""
    found = getattr(function, "check", None)
    return cast("Callable[[], object]", found) if callable(found) else None


def load_model(spec: str, kit: Path) -> object:
    """What "package.module:name" names, or returns if it is a function; protocols look at it."""
    found = _named(spec, kit, "owner.model", "name")
    if not callable(found) or isinstance(found, type):
        return found
    try:
        return found()
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"owner.model: {spec} failed with {type(error).__name__}: {error}"
        ) from error


def allow_code(code: CodeTable, kit: Path) -> None:
    """Let the policies and protocols that party.toml lists be imported when they are used."""
    for key, names, registry in _listed_code(code):
        for name in names:
            _search_first(kit.resolve(), name.partition(":")[0].partition(".")[0], f"code.{key}")
            registry.allow(name)


def import_code(name: str, kit: Path) -> object:
    """A policy or protocol that party.toml lists under [code]."""
    return _named(name, kit, "code", "Class")


def _listed_code(
    code: CodeTable,
) -> tuple[tuple[str, tuple[str, ...], Registry[AnyPolicy] | Registry[SecureProtocol]], ...]:
    return ("policies", code.policies, POLICIES), ("protocols", code.protocols, PROTOCOLS)


def _named(spec: str, kit: Path, key: str, what: str) -> object:
    name, _, path = spec.partition(":")
    if not all(part.isidentifier() for part in [*name.split("."), *path.split(".")]):
        raise ConfigError(f'{key}: must be written as "package.module:{what}", not {spec!r}')
    module = _imported(name, kit.resolve(), key)
    found: object = module
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ConfigError(
                f"{key}: module {name} ({getattr(module, '__file__', 'no file')}) has no "
                f"{path}: correct the name in party.toml or write the {what}"
            ) from None
    return found


def _imported(name: str, kit: Path, key: str) -> ModuleType:
    _search_first(kit, name.partition(".")[0], key)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise ConfigError(
                f"{key}: there is no module {error.name}: put {name.replace('.', '/')}.py "
                f"into {kit}, install it, or correct the name in party.toml"
            ) from None
        raise _broken(name, error, key) from error
    except (Exception, SystemExit) as error:
        raise _broken(name, error, key) from error


def _broken(name: str, error: BaseException, key: str) -> ConfigError:
    return ConfigError(
        f"{key}: module {name} cannot be imported, it raised {type(error).__name__}: {error}"
    )


def _search_first(kit: Path, top: str, key: str) -> None:
    """Put the kit first, and see to it that a module of the kit is not shadowed."""
    folder = str(kit)
    sys.path[:] = [folder, *(entry for entry in sys.path if entry != folder)]
    importlib.invalidate_caches()
    ours = PathFinder.find_spec(top, [folder])
    loaded = sys.modules.get(top)
    if loaded is not None and ours is not None and ours.origin is not None:
        _make_way(top, getattr(loaded, "__file__", None), ours.origin, key)
    _kits.add(folder)


def _make_way(top: str, loaded: str | None, ours: str, key: str) -> None:
    if loaded == ours:
        return
    if loaded is None or not any(Path(loaded).is_relative_to(kit) for kit in _kits):
        raise ConfigError(
            f"{key}: {ours} has the name of a module that is in use already "
            f"({loaded or 'built in'}): rename it, and {key} in party.toml"
        )
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{top}.")]:
        del sys.modules[name]
