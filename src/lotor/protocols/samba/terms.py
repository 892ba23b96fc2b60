"""What the customer orders, as every party must agree on it."""

from itertools import accumulate

import msgspec

from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET, RewardScale
from lotor.core.unreadable import UNREADABLE
from lotor.crypto.aead import MESSAGE_LIMIT
from lotor.policies import Policy, to_text
from lotor.protocols.received import check_announced
from lotor.protocols.samba import complexity
from lotor.protocols.samba.protocol import SELECTIONS


class SambaTerms(msgspec.Struct, frozen=True):
    """N, the policy A, how many arms each owner holds (in their order), the customer's key."""

    run: str
    budget: int
    owners: dict[str, int]
    policy: str
    iterations: int
    selection: str
    low: float
    high: float
    customer_key: bytes

    @property
    def k(self) -> int:
        return sum(self.owners.values())

    @property
    def first_owner(self) -> str:
        return next(iter(self.owners))

    @property
    def scale(self) -> RewardScale:
        return RewardScale(self.low, self.high)

    def arms(self) -> dict[str, slice]:
        """Which arms each owner holds."""
        ends = list(accumulate(self.owners.values()))
        return dict(zip(self.owners, map(slice, [0, *ends[:-1]], ends), strict=True))

    def to_bytes(self) -> bytes:
        """What the customer signs."""
        return msgspec.msgpack.encode(self)

    def check(self, run: str, policy: Policy) -> None:
        """Refuse terms of another run or policy, and those that no run can fulfil."""
        if self.run != run or self.policy != to_text(policy):
            raise ProtocolError(
                f"customer ordered {self.policy} in run {self.run}, but this party was started "
                f"for {to_text(policy)} in run {run}: start it again with what was ordered"
            )
        fits = (
            self.owners
            and min(self.owners.values()) >= 1
            and self.k <= self.budget <= MAXIMAL_BUDGET
            and self.iterations == policy.iterations
            and self.selection in SELECTIONS
        )
        if not fits:
            raise ProtocolError(
                f"customer ordered {self.budget} pulls of {self.k} arms of {len(self.owners)} "
                f"owners with selection {self.selection!r}, which no run can do: order it again"
            )
        self._check_messages()

    def _check_messages(self) -> None:
        counts = complexity.operations(
            self.k,
            self.budget,
            self.iterations,
            owners=len(self.owners),
            selection=self.selection,
        )
        if counts["aes_gcm_encryptions"] > MESSAGE_LIMIT:
            raise ProtocolError(
                f"{self.budget} pulls of {self.k} arms need {counts['aes_gcm_encryptions']} "
                "AES-GCM messages, and one key may seal 2^32: split the budget into several "
                "runs, since each run has its own key"
            )


def accepted_terms(data: bytes, order: bytes | None, run: str, policy: Policy) -> SambaTerms:
    """Terms that this party can keep, and that equal the announced ones if there are any."""
    check_announced(data, order, run)
    terms = terms_from(data)
    terms.check(run, policy)
    return terms


def terms_from(data: bytes) -> SambaTerms:
    """Terms from the bytes that the customer signed."""
    try:
        return msgspec.msgpack.decode(data, type=SambaTerms)
    except UNREADABLE:
        raise ProtocolError(
            "customer signed terms that this version cannot read: let it order with this version"
        ) from None
