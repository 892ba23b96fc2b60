"""What the terms say with live rewards: the range that they lie in, besides the Paillier keys."""

from typing import ClassVar

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.policies.linear import LinearPolicy, LiveLayout, SlotBits
from lotor.protocols.kept_linear import LIVE_NOT_CONTINUED
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms


class LiveTerms(LinUCBPaperTerms, frozen=True):
    """Rewards lie from `low` to `high`, as the owner states."""

    widths: ClassVar[tuple[SlotBits, ...]] = (LiveLayout.slot_bits,)

    low: float
    high: float

    @property
    def scale(self) -> RewardScale:
        return RewardScale(self.low, self.high)

    def check(self, run: str) -> LinearPolicy:
        policy = super().check(run)
        if self.keep or self.continued is not None:
            raise ProtocolError(
                f"customer ordered a run with live rewards that keeps what P knows, or continues a "
                f"run: {LIVE_NOT_CONTINUED}; order it without"
            )
        try:
            _ = self.scale
        except InputError as error:
            raise ProtocolError(f"customer ordered impossible rewards: {error}") from None
        return policy
