"""The tables of party.toml and what their keys may hold. docs/party.md explains every key."""

import re
from collections.abc import Callable, Iterable
from math import isfinite
from pathlib import Path
from typing import Final

import msgspec

from lotor.core.errors import ConfigError, InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET, RewardScale
from lotor.core.registry import is_class_name
from lotor.crypto.certificates.subject import check_word
from lotor.policies import canonical
from lotor.privacy.accountant import LARGEST_DELTA
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.runtime.daemon.address import Address

ANY: Final = "*"
# The first message of a connection may be this long.
LEAST_FRAME: Final = 128 * 1024

_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


class ConfigTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the tables of party.toml: unknown keys are refused."""


MOST_WORKERS: Final = 64


class LimitsTable(ConfigTable, frozen=True):
    """How long and how much: times in seconds, sizes in bytes."""

    wait: float = 3600.0
    keep_alive: float = 20.0
    handshake: float = 10.0
    max_frame: int = 16 * 1024 * 1024
    workers: int = 1

    def __post_init__(self) -> None:
        times = {"wait": self.wait, "keep_alive": self.keep_alive, "handshake": self.handshake}
        for key, value in times.items():
            _require(isfinite(value) and value > 0, key, f"a number above 0, {value} is not")
        _require(
            self.max_frame >= LEAST_FRAME,
            "max_frame",
            f"at least {LEAST_FRAME} bytes, {self.max_frame} is less",
        )
        _require(
            1 <= self.workers <= MOST_WORKERS,
            "workers",
            f"from 1 to {MOST_WORKERS} processes, {self.workers} is not",
        )


class OwnerTable(ConfigTable, frozen=True):
    """What a party brings: functions that answer for it, or a model of what its arms pay.

    With an inbox, people or programs carry decisions out and tell their outcomes.
    """

    inbox: bool = False
    pull: str | None = None
    act: str | None = None
    features: str | None = None
    dimensions: int | None = None
    model: str | None = None
    arms: int | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)
    repeatable: bool = False
    tick: float = 0.0
    check: str | None = None

    @property
    def functions(self) -> dict[str, str | None]:
        """The functions that it may name, by key."""
        return {"pull": self.pull, "act": self.act, "features": self.features}

    @property
    def brought(self) -> dict[str, str | None]:
        """All that it may name, by key."""
        return {**self.functions, "model": self.model}

    @property
    def asked_for_arms(self) -> bool:
        """Whether it is asked to carry out its arms, or for their rewards."""
        return self.inbox or self.pull is not None or self.act is not None

    def __post_init__(self) -> None:
        for key, spec in {**self.brought, "check": self.check}.items():
            what = "name" if key == "model" else "function"
            _require(
                spec is None or _FUNCTION.fullmatch(spec) is not None,
                key,
                f'written as "package.module:{what}", {spec!r} is not',
            )
        self._check_fit()
        for key, value in (("arms", self.arms), ("dimensions", self.dimensions)):
            _require(
                value is None or 1 <= value <= MAXIMAL_BUDGET,
                key,
                f"a whole number from 1 to {MAXIMAL_BUDGET}, {value} is not",
            )
        try:
            RewardScale(*self.reward_range)
        except InputError as error:
            raise ConfigError(f"reward_range: {error}") from None
        _require(
            isfinite(self.tick) and self.tick >= 0,
            "tick",
            f"0 or a number of seconds above it, {self.tick} is not",
        )

    def _check_fit(self) -> None:
        """Refuse a key that is about something which the table does not have."""
        has_functions = any(self.functions.values())
        if not has_functions and self.model is None and not self.inbox:
            raise ConfigError(
                "pull: is missing, and so are inbox, act, features and model: a party has one or "
                "more"
            )
        if self.inbox and (self.pull is not None or self.act is not None):
            raise ConfigError(
                "inbox: takes the place of pull and act, so leave out these two, or the inbox"
            )
        if (self.features is None) != (self.dimensions is None):
            raise ConfigError(
                "dimensions: says how many numbers `features` returns, so there are both or none"
            )
        has_arms = self.asked_for_arms or self.model is not None
        needs: list[tuple[str, bool, bool, str]] = [
            ("arms", self.arms is None, has_arms, "pull, act, inbox or model"),
            (
                "reward_range",
                self.reward_range == (0.0, 1.0),
                self.pull is not None or self.inbox,
                "pull or inbox",
            ),
            ("repeatable", not self.repeatable, has_functions, "function"),
            ("tick", self.tick == 0.0, has_functions or self.inbox, "function or inbox"),
        ]
        for key, at_rest, there, needed in needs:
            _require(at_rest or there, key, f"left out where there is no {needed}")


class ConsentRules(ConfigTable, frozen=True):
    """Which runs start by themselves; any other waits for a person's approval.

    Without `forms`, a form on which attacks succeed waits if its protocol has a better one. Without
    `reveal`, a run waits that tells more than its result to whoever orders it. With `keep`, runs
    may start after which this party keeps a state.
    """

    customers: tuple[str, ...]
    policies: tuple[str, ...]
    least_budget: int
    total_budget: int
    least_owners: int = 3
    privacy_budget: float | None = None
    largest_delta: float = 1e-6
    code: tuple[str, ...] = ()
    forms: tuple[str, ...] | None = None
    reveal: tuple[str, ...] = ()
    keep: bool = False

    def __post_init__(self) -> None:
        _require_names("customers", (name for name in self.customers if name != ANY))
        for policy in self.policies:
            _require_policy(policy)
        _require(
            1 <= self.least_budget <= MAXIMAL_BUDGET,
            "least_budget",
            f"a number of pulls from 1 to {MAXIMAL_BUDGET}, {self.least_budget} is not",
        )
        _require(self.least_owners >= 1, "least_owners", f"at least 1, {self.least_owners} is not")
        _require(
            self.total_budget >= self.least_budget,
            "total_budget",
            f"at least least_budget ({self.least_budget}), {self.total_budget} is less, "
            "so that no run could ever start",
        )
        _require(
            self.privacy_budget is None
            or (isfinite(self.privacy_budget) and self.privacy_budget >= 0),
            "privacy_budget",
            f"0 or a number above it, {self.privacy_budget} is not; leave it out for no limit",
        )
        _require(
            0.0 <= self.largest_delta <= LARGEST_DELTA,
            "largest_delta",
            f"a probability from 0 to {LARGEST_DELTA:g}, {self.largest_delta} is not",
        )


class LocalTable(ConfigTable, frozen=True):
    """Where programs of this machine find the party's local interface."""

    port: int
    ipv6: bool = False

    def __post_init__(self) -> None:
        _require(0 <= self.port <= 65535, "port", f"a port from 0 to 65535, {self.port} is not")


class TrialTable(ConfigTable, frozen=True):
    """What only a trial may set: decision draws from a seed."""

    seed: int

    def __post_init__(self) -> None:
        _require(self.seed >= 0, "seed", f"a whole number from 0, {self.seed} is not")


class CodeTable(ConfigTable, frozen=True):
    """Policies and protocols of this party's own, which no installed package offers by name."""

    policies: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for key in ("policies", "protocols"):
            for name in getattr(self, key):
                _require(
                    is_class_name(name), key, f'written as "package.module:Class", {name!r} is not'
                )


class PartyConfig(ConfigTable, frozen=True):
    """All of party.toml.

    >>> PartyConfig(peers={"hub": Address("hub.example.org", 7400)}).limits.wait
    3600.0
    """

    state: str = "state"
    listen: Address | None = None
    peers: dict[str, Address] = {}
    limits: LimitsTable = msgspec.field(default_factory=LimitsTable)
    owner: OwnerTable | None = None
    consent: ConsentRules | None = None
    members: dict[str, tuple[str, ...]] = {}
    trial: TrialTable | None = None
    code: CodeTable | None = None
    local: LocalTable | None = None

    def __post_init__(self) -> None:
        _require(
            self.state != "" and self.state.isprintable(), "state", "the name of a folder of yours"
        )
        _require_names("peers", self.peers)
        for name, address in self.peers.items():
            _require(
                address.port != 0,
                f"peers.{name}",
                "the port where it listens, and nobody listens at 0",
            )
        _require_names("members", self.members)
        for role, names in self.members.items():
            _require(bool(names), f"members.{role}", "one name or more, not []")
            _require_names(f"members.{role}", names)
        if self.consent is not None and not (self.code and self.code.protocols):
            _require_forms(self.consent.forms or ())
            _require_reveal(self.consent.reveal)
        everybody = [name for names in self.members.values() for name in names]
        twice = sorted({name for name in everybody if everybody.count(name) > 1})
        if twice:
            raise ConfigError(f"members: {', '.join(twice)} may be listed once only")

    @property
    def takes_part_unasked(self) -> bool:
        """Whether runs start by themselves: the party has no rules, and brings nothing to them.

        Not if they are in a form on which attacks succeed, and their protocol has a better one.
        """
        return self.consent is None and self.owner is None

    def state_folder(self, kit: Path) -> Path:
        """Where the journal of the party with this kit is."""
        return kit / self.state


def _require(holds: bool, key: str, allowed: str) -> None:
    if not holds:
        raise ConfigError(f"{key}: must be {allowed}")


def _require_names(key: str, names: Iterable[str]) -> None:
    for name in names:
        try:
            check_word("name", name)
        except InputError as error:
            raise ConfigError(f"{key}: {error}") from None


def _require_forms(forms: Iterable[str]) -> None:
    """Refuse forms that no installed protocol has."""
    _require_known("forms", "has a form", forms, lambda kind: kind.forms)


def _require_reveal(reveal: Iterable[str]) -> None:
    """Refuse what no installed protocol can tell beyond its result."""
    _require_known("reveal", "can tell", reveal, lambda kind: kind.may_reveal)


def _require_known(
    key: str,
    does: str,
    given: Iterable[str],
    offered: Callable[[type[SecureProtocol]], Iterable[str]],
) -> None:
    """Refuse what no protocol offers, unless one of these cannot be loaded."""
    chosen = set(given) - {ANY}
    if not chosen:
        return
    try:
        known = sorted({one for name in PROTOCOLS for one in offered(PROTOCOLS[name])})
    except InputError:
        return
    for one in sorted(chosen - set(known)):
        raise ConfigError(
            f"consent.{key}: no protocol that is installed here {does} {one!r}: choose from "
            f'{", ".join(known)}, or ["*"] for all'
        )


def _require_policy(policy: str) -> None:
    _require(
        policy != "" and policy.isprintable(),
        "policies",
        f'policies such as "ucb" or "softmax:tau=0.02", not {policy!r}',
    )
    try:
        canonical(policy)
    except InputError as error:
        raise ConfigError(f"policies: {error}") from None
