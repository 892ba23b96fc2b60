"""What the holder of some arms keeps of them after a run, for a run that continues it."""

import msgspec
import numpy as np

from lotor.core.errors import FormatError, InputError
from lotor.core.fixed_point import RewardScale
from lotor.core.unreadable import UNREADABLE
from lotor.policies import ArmSnapshot, ArmStates, Policy, to_text


class KeptArms(msgspec.Struct, frozen=True, tag="lotor/kept-arms/1"):
    """The states of arms after `rounds` rounds; `numbers` are those that the arms had in `run`."""

    run: str
    party: str
    policy: str
    rounds: int
    low: float
    high: float
    numbers: list[int]
    arms: ArmSnapshot

    def __repr__(self) -> str:
        return f"<KeptArms of {self.party} after run {self.run}>"

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "KeptArms":
        try:
            return msgspec.msgpack.decode(data, type=cls)
        except UNREADABLE:
            raise FormatError(
                "what was kept of the earlier run is in a format that this version cannot read: "
                "continue it with the version of lotor that did it, or start a new run"
            ) from None

    @property
    def sums(self) -> list[tuple[int, int]]:
        """Of each arm, the sum of its rewards and its pulls."""
        return list(zip(self.arms.s, self.arms.n, strict=True))

    def check(self, policy: Policy, scale: RewardScale) -> None:
        """Refuse to go on with another policy, or rewards of another range."""
        if self.policy != to_text(policy):
            raise InputError(
                f"run {self.run} was one of {self.policy}, and what is known of its arms means "
                f"nothing to {to_text(policy)}: continue it with the same policy"
            )
        if (self.low, self.high) != (scale.low, scale.high):
            raise InputError(
                f"run {self.run} had rewards from {self.low} to {self.high}, and these are from "
                f"{scale.low} to {scale.high}: continue it with the same reward_range"
            )

    def states(self, policy: Policy, held: int, k: int) -> ArmStates:
        """The states to go on from: of these arms, and of new ones behind them, `held` in all."""
        new = fresh_states(policy, held - len(self.numbers), k)
        return joined(ArmStates.restore(self.arms), new)


def fresh_states(policy: Policy, held: int, k: int) -> ArmStates:
    """The states of arms that have not been pulled yet."""
    arms = ArmStates(held, k)
    policy.start(arms)
    return arms


def joined(known: ArmStates, new: ArmStates) -> ArmStates:
    """The states of known arms and of new ones behind them, in a run of the new ones' k."""
    arms = ArmStates(len(known) + len(new), new.k)
    arms.n[:] = np.concatenate([known.n, new.n])
    arms.s[:] = np.concatenate([known.s, new.s])
    arms.mean[:] = np.concatenate([known.mean, new.mean])
    arms.own = {
        name: np.concatenate([vector, new.own[name]]) if len(new) else vector
        for name, vector in known.own.items()
    }
    return arms


def first_arms(kept: KeptArms, count: int) -> KeptArms:
    """The same without all arms behind the first ones."""
    arms, held = kept.arms, len(kept.numbers)
    if count >= held:
        return kept
    own = {name: vector[: len(vector) // held * count] for name, vector in arms.own.items()}
    return msgspec.structs.replace(
        kept,
        numbers=kept.numbers[:count],
        arms=ArmSnapshot(arms.k, arms.n[:count], arms.s[:count], own),
    )
