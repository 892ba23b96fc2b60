"""A party's own functions and model: found by name, asked without holding up the party."""

import asyncio
import importlib
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from importlib.machinery import PathFinder
from inspect import isawaitable, iscoroutinefunction
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter
from types import ModuleType
from typing import TypeAlias, cast

from lotor.core.effects import Decision
from lotor.core.errors import ConfigError, LotorError, PullError
from lotor.core.registry import Registry
from lotor.policies import POLICIES, AnyPolicy
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.runtime.daemon.config_tables import CodeTable
from lotor.runtime.durable.record import Answer
from lotor.runtime.pulls import ACT, FEATURES, PULL, failed, question

OwnFunction: TypeAlias = Callable[[Decision], object]
# What becomes of a function's answer: checked, or a PullError.
AnswerCheck: TypeAlias = Callable[[Decision, object], Answer]
_DOES = {
    PULL: "returns a reward",
    ACT: "carries its arm out",
    FEATURES: "returns features of its context",
}

# So many seconds a plain function may take where the party waits for it.
QUICK = 0.002

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


class FunctionCaller:
    """Calls one function, which may be slow, without holding up the event loop.

    A plain function is always called in one and the same thread, so it need not be thread-safe;
    an awaitable is awaited in the loop. As long as a plain function is quick, `begin` waits for
    it: to be woken by its thread later would cost several times as much.
    """

    def __init__(self, function: OwnFunction, check: AnswerCheck, key: str = PULL) -> None:
        self._function = function
        self._check = check
        self._key = key
        self._is_async = iscoroutinefunction(function) or iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004
        )
        self._worker: _Worker | None = None
        self._begun: dict[str, Future[object]] = {}
        self._closed = False
        self.ready: Answer = None

    def begin(self, decision: Decision) -> bool:
        """Ask a function that was quick the last time; whether its checked answer is `ready`.

        If not, `call` must follow: it goes on with this very question, also where it failed.
        """
        worker = self._worker
        if worker is None or not worker.quick or self._closed:
            return False
        future = self._begun[decision.id] = worker.ask(decision)
        try:
            answer = future.result(QUICK)
            if isinstance(answer, _Raised) or isawaitable(answer):
                return False
            self.ready = self._check(decision, answer)
        except Exception:
            return False
        del self._begun[decision.id]
        return True

    async def call(self, decision: Decision) -> Answer:
        """The checked answer, or a PullError that names the decision and never the answer."""
        if self._closed:
            raise PullError(f"decision {decision.id} was asked for after the end: ask it again")
        try:
            return self._check(decision, await self._answer(decision))
        except PullError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # The function waited for something that was cancelled.
            raise failed(decision, error, self._key) from error
        except LotorError as error:
            # Such a message holds no secret and says what to do; the party may ask again later.
            raise PullError(
                f"{question(self._key, decision)} failed (decision {decision.id}): {error}"
            ) from error
        except (Exception, SystemExit) as error:
            raise failed(decision, error, self._key) from error

    async def _answer(self, decision: Decision) -> object:
        if self._is_async:
            answer = self._function(decision)
        else:
            self._worker = self._worker or _Worker(self._function)
            begun = self._begun.pop(decision.id, None) or self._worker.ask(decision)
            answer = await asyncio.wrap_future(begun)
            if isinstance(answer, _Raised):
                raise failed(decision, answer.error, self._key) from answer.error
        return await answer if isawaitable(answer) else answer

    def close(self) -> None:
        """End the thread without waiting for a call that is under way."""
        self._closed = True
        if self._worker is not None:
            self._worker.close()


class _Raised:
    """An error as a value: StopIteration and CancelledError mean something else to a future."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Worker:
    """One thread that calls one function; `quick` while it is free, if its last call was short.

    A thread of the standard executors would keep the process alive until a hanging pull answers.
    """

    def __init__(self, function: OwnFunction) -> None:
        self.quick = False
        self._function = function
        self._questions: SimpleQueue[tuple[Decision, Future[object]] | None] = SimpleQueue()
        threading.Thread(target=self._run, name="lotor-pull", daemon=True).start()

    def ask(self, decision: Decision) -> Future[object]:
        future: Future[object] = Future()
        self._questions.put((decision, future))
        return future

    def _run(self) -> None:
        while (question := self._questions.get()) is not None:
            decision, future = question
            if not future.set_running_or_notify_cancel():
                continue
            self.quick, began = False, perf_counter()
            try:
                answer = self._function(decision)
            except LotorError as error:
                future.set_exception(error)
            except BaseException as error:
                future.set_result(_Raised(error))
            else:
                self.quick = perf_counter() - began < QUICK
                future.set_result(answer)

    def close(self) -> None:
        self._questions.put(None)
