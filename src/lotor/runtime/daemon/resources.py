"""What a party brings to its runs: functions that answer for it, or a model of its arms."""

from collections.abc import Mapping
from functools import partial
from math import inf
from typing import Protocol as Interface
from typing import runtime_checkable

from lotor.core.effects import Act, Decision, Observe, Pull
from lotor.core.errors import ConfigError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.form import Contribution
from lotor.protocols.protocol import SecureProtocol, must_bring
from lotor.runtime.daemon.answerer import FunctionCallers
from lotor.runtime.daemon.config import OwnerTable, PartyConfig
from lotor.runtime.daemon.function_caller import AnswerCheck, FunctionCaller
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.party_functions import load_function, load_model
from lotor.runtime.durable.journal import Journal
from lotor.runtime.durable.open_decisions import OpenDecisions
from lotor.runtime.pulls import ACT, FEATURES, PULL, to_features, to_reward


@runtime_checkable
class ArmsModel(Interface):
    """A model that says how many arms it has; a protocol may ask more of it."""

    @property
    def k(self) -> int: ...


class PartyResources:
    """As a party's [owner] table names them; a party without one brings nothing."""

    def __init__(
        self, kit: Kit, config: PartyConfig, protocols: Mapping[str, type[SecureProtocol]]
    ) -> None:
        self._kit = kit
        self._owner = config.owner
        role = kit.subject.role
        if config.owner is None and must_bring(role, protocols):
            raise ConfigError(
                f"{kit.party_toml}: {kit.subject.name} has the role {role}, so party.toml needs an "
                "[owner] table with what it brings; docs/party.md has an example"
            )
        self.callers = {} if config.owner is None else self._load_functions(config.owner)
        self.data = self._load_data()

    def _load_functions(self, owner: OwnerTable) -> FunctionCallers:
        checks: dict[type[Pull | Act | Observe], tuple[str, str | None, AnswerCheck]] = {
            Pull: (PULL, owner.pull, reward_in(RewardScale(*owner.reward_range))),
            Act: (ACT, owner.act, nothing),
            Observe: (FEATURES, owner.features, so_many_features(owner.dimensions or 0)),
        }
        return {
            effect: FunctionCaller(load_function(spec, self._kit.path, key), check, key)
            for effect, (key, spec, check) in checks.items()
            if spec is not None
        }

    def _load_data(self) -> object:
        """The owner's model; without a function for its arms it says how many there are."""
        owner = self._owner
        if owner is None or owner.model is None:
            return None
        data = load_model(owner.model, self._kit.path)
        counted = data.k if isinstance(data, ArmsModel) else None
        if not owner.asked_for_arms and owner.arms not in (None, counted):
            raise ConfigError(
                f"{self._kit.party_toml}: owner.arms is {owner.arms}, but the model has "
                f"{'no number k of arms' if counted is None else f'{counted} arms'}: leave "
                "owner.arms out, or correct it"
            )
        return data

    @property
    def contribution(self) -> Contribution:
        """What others are told of it."""
        owner = self._owner
        if owner is None:
            return Contribution()
        arms = self._counted_arms(owner) if owner.arms is None else owner.arms
        return Contribution(arms, *owner.reward_range, owner.dimensions or 0)

    def _counted_arms(self, owner: OwnerTable) -> int:
        """The number of arms where party.toml does not state it."""
        if isinstance(self.data, ArmsModel) and not owner.asked_for_arms:
            return self.data.k
        return 1 if owner.asked_for_arms or self.data is not None else 0

    @property
    def brings(self) -> frozenset[str]:
        """The keys of what it has, as in its [owner] table."""
        if self._owner is None:
            return frozenset()
        brought = {key for key, spec in self._owner.brought.items() if spec is not None}
        return frozenset(brought | ({PULL, ACT} if self._owner.inbox else set()))

    @property
    def repeatable(self) -> bool:
        """Whether its functions recognise a decision that they have answered before."""
        return self._owner is not None and self._owner.repeatable

    def decisions(self, journal: Journal) -> OpenDecisions:
        """The decisions of this party that wait for their outcomes."""
        low_high = (0.0, 1.0) if self._owner is None else self._owner.reward_range
        return OpenDecisions(journal.database, RewardScale(*low_high))

    def close(self) -> None:
        for caller in self.callers.values():
            caller.close()


def reward_in(scale: RewardScale) -> AnswerCheck:
    """A number in the range."""
    return partial(to_reward, scale=scale)


def so_many_features(count: int) -> AnswerCheck:
    """Finite numbers; each question says itself how long a vector of them may be."""
    return partial(to_features, count=count, length=inf)


def nothing(decision: Decision, answer: object) -> None:
    """Ignore what the function returns: another party is asked for the reward."""
