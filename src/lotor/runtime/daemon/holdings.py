"""What a party brings to its runs: the pull of its arms, or a model of them."""

from lotor.core.errors import ConfigError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.deployment import Offer
from lotor.runtime.daemon.config import PartyConfig
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.pull import Asker, load_model, load_pull


class Holdings:
    """Of an owner, as its party.toml names them; of others nothing."""

    def __init__(self, kit: Kit, config: PartyConfig) -> None:
        self._kit = kit
        self._owner = config.owner
        if config.owner is None and kit.subject.role == "owner":
            raise ConfigError(
                f"{kit.party_toml}: {kit.subject.name} is an owner, so party.toml needs an "
                "[owner] table with its pull or its model; docs/party.md has an example"
            )
        self.asker = self._load_asker()
        self.data = self._load_data()

    def _load_asker(self) -> Asker | None:
        owner = self._owner
        if owner is None or owner.pull is None:
            return None
        return Asker(load_pull(owner.pull, self._kit.path), RewardScale(*owner.reward_range))

    def _load_data(self) -> object:
        """The owner's model; without a pull it says how many arms there are."""
        owner = self._owner
        if owner is None or owner.model is None:
            return None
        data = load_model(owner.model, self._kit.path)
        if owner.pull is None and owner.arms not in (None, getattr(data, "k", None)):
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
        held = getattr(self.data, "k", 1) if owner.pull is None else 1
        return Offer(held if owner.arms is None else owner.arms, *owner.reward_range)

    @property
    def repeatable(self) -> bool:
        return self._owner is not None and self._owner.repeatable

    def close(self) -> None:
        if self.asker is not None:
            self.asker.close()
