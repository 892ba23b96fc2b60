"""The terms of a run in the shared form: everything that is public about it."""

from hashlib import sha256
from typing import TypeVar

import msgspec

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET, RewardScale
from lotor.core.unreadable import UNREADABLE
from lotor.policies import from_text
from lotor.policies.optimistic import BatchedOFUL, Grid
from lotor.protocols.helba.shared.messages import WIRE
from lotor.protocols.helba.terms import MOST_ARMS, MOST_DIMENSIONS, helba_policy


class HelbaSharedTerms(msgspec.Struct, frozen=True, tag=WIRE + "terms", kw_only=True):
    """T, K, d, the policy and the grid that it is computed on.

    `batch` circuits of so many AND `gates` are garbled together, and numbers are shared modulo the
    product of so many `primes`. They follow from the rest, and say that all parties derive the
    same.
    """

    run: str
    budget: int
    arms: int
    d: int
    policy: str
    context_bits: int
    reward_bits: int
    low: float
    high: float
    batch: int = 0
    gates: int = 0
    primes: int = 0

    @property
    def scale(self) -> RewardScale:
        return RewardScale(self.low, self.high)

    @property
    def grid(self) -> Grid:
        return Grid(self.context_bits, self.reward_bits)

    @property
    def learner(self) -> BatchedOFUL:
        """The policy that is computed."""
        return helba_policy(from_text(self.policy))

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)

    @property
    def digest(self) -> bytes:
        """Parties compare it to make sure that all have the same terms."""
        return sha256(b"lotor/helba terms" + self.to_bytes()).digest()

    def check(self) -> None:
        """Refuse terms that no run can keep."""
        for name, value, least, most in (
            ("budget", self.budget, 1, MAXIMAL_BUDGET),
            ("arms", self.arms, 2, MOST_ARMS),
            ("d", self.d, 1, MOST_DIMENSIONS),
        ):
            if not least <= value <= most:
                raise InputError(f"{name} is {value}: helba takes {least} to {most}")
        RewardScale(self.low, self.high)


T = TypeVar("T", bound=HelbaSharedTerms)


def shared_terms_from(data: bytes) -> HelbaSharedTerms:
    """The terms in these bytes, if a run can keep them."""
    return read_terms(HelbaSharedTerms, data, "user")


def read_terms(kind: type[T], data: bytes, opener: str) -> T:
    """The terms that somebody ordered, if a run can keep them."""
    try:
        terms = msgspec.msgpack.decode(data, type=kind)
        terms.check()
    except UNREADABLE:
        raise ProtocolError(
            "this version of helba cannot read these terms: let all parties run the same version"
        ) from None
    except InputError as error:
        raise ProtocolError(f"the {opener} ordered an impossible run: {error}") from None
    return terms
