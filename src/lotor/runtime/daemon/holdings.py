"""What a party brings to its runs: functions that answer for it, or a model of its arms."""

from functools import partial
from math import inf

from lotor.core.effects import Act, Decision, Observe, Pull
from lotor.core.errors import ConfigError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.deployment import Offer
from lotor.runtime.daemon.answering import Askers
from lotor.runtime.daemon.config import PartyConfig
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.pull import Asker, Check, load_function, load_model
from lotor.runtime.daemon.tables import OwnerTable
from lotor.runtime.pulls import ACT, FEATURES, PULL, to_features, to_reward

# The roles of parties that are asked for something.
BRINGERS = ("owner", "actor", "receiver", "user")


class Holdings:
    """As a party's [owner] table names them; a party without one brings nothing."""

    def __init__(self, kit: Kit, config: PartyConfig) -> None:
        self._kit = kit
        self._owner = config.owner
        role = kit.subject.role
        if config.owner is None and role in BRINGERS:
            raise ConfigError(
                f"{kit.party_toml}: {kit.subject.name} has the role {role}, so party.toml needs an "
                "[owner] table with what it brings; docs/party.md has an example"
            )
        self.askers = {} if config.owner is None else self._load_askers(config.owner)
        self.data = self._load_data()

    def _load_askers(self, owner: OwnerTable) -> Askers:
        checks: dict[type[Pull | Act | Observe], tuple[str, str | None, Check]] = {
            Pull: (PULL, owner.pull, reward_in(RewardScale(*owner.reward_range))),
            Act: (ACT, owner.act, nothing),
            Observe: (FEATURES, owner.features, so_many_features(owner.dimensions or 0)),
        }
        return {
            effect: Asker(load_function(spec, self._kit.path, key), check, key)
            for effect, (key, spec, check) in checks.items()
            if spec is not None
        }

    def _load_data(self) -> object:
        """The owner's model; without a function for its arms it says how many there are."""
        owner = self._owner
        if owner is None or owner.model is None:
            return None
        data = load_model(owner.model, self._kit.path)
        if not owner.asked_for_arms and owner.arms not in (None, getattr(data, "k", None)):
            raise ConfigError(
                f"{self._kit.party_toml}: owner.arms is {owner.arms}, which its model has not: "
                "leave it out, or correct it"
            )
        return data

    @property
    def offer(self) -> Offer:
        """What others are told of it."""
        owner = self._owner
        if owner is None:
            return Offer()
        held = 1 if owner.asked_for_arms else 0 if self.data is None else getattr(self.data, "k", 1)
        arms = held if owner.arms is None else owner.arms
        return Offer(arms, *owner.reward_range, owner.dimensions or 0)

    @property
    def brings(self) -> frozenset[str]:
        """The keys of what it has, as in its [owner] table."""
        keys = ("pull", "act", "features", "model")
        return frozenset(key for key in keys if getattr(self._owner, key, None) is not None)

    @property
    def repeatable(self) -> bool:
        return self._owner is not None and self._owner.repeatable

    def close(self) -> None:
        for asker in self.askers.values():
            asker.close()


def reward_in(scale: RewardScale) -> Check:
    """A number in the range."""
    return partial(to_reward, scale=scale)


def so_many_features(count: int) -> Check:
    """Finite numbers; how long they may be is for who asks to say."""
    return partial(to_features, count=count, length=inf)


def nothing(decision: Decision, answer: object) -> None:
    """Whatever the function returns, the reward of what it did goes to another party."""
