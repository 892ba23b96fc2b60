"""The terms of a run: everything that is public about it and that all parties agree on."""

from hashlib import sha256
from math import isfinite
from typing import Final

import msgspec

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET, RewardScale
from lotor.core.unreadable import UNREADABLE
from lotor.policies import from_text
from lotor.policies.optimistic import BatchedOFUL

KEY_AUTHORITY: Final = "key-authority"
"""A role. Not the authority of the federation, which signs certificates."""

LEAST_STAGES, MOST_STAGES = 2, 6
MOST_ARMS = 1 << 10
MOST_DIMENSIONS = 64
LEAST_NOISE_BITS, MOST_NOISE_BITS = 4, 20


class HelbaTerms(msgspec.Struct, frozen=True):
    """T, K, d, the policy, and how it is computed under encryption.

    The comparison is composed of `stages` polynomials; noise of 2^-`noise_bits` is on every answer;
    no expected reward is larger than `mean_bound`; pulled contexts have a root mean square length
    of at most `rms_length`. A ring of `insecure_degree` (0: a secure one) is for tests.
    """

    run: str
    budget: int
    arms: int
    d: int
    policy: str
    security: int
    stages: int
    noise_bits: int
    mean_bound: float
    rms_length: float
    low: float
    high: float
    insecure_degree: int = 0

    @property
    def scale(self) -> RewardScale:
        return RewardScale(self.low, self.high)

    @property
    def learner(self) -> BatchedOFUL:
        """The policy that is computed."""
        return helba_policy(from_text(self.policy))

    @property
    def noise(self) -> float:
        """The standard deviation of noise on an answer, over all slots that say the same."""
        return float(2.0**-self.noise_bits)

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)

    @property
    def digest(self) -> bytes:
        """Parties compare it to make sure that all have the same terms."""
        return sha256(b"lotor/helba terms" + self.to_bytes()).digest()

    def check(self) -> None:
        """Refuse terms that are impossible with any CKKS parameters."""
        bound = self.mean_bound
        if not (isfinite(bound) and bound > 0):
            raise InputError(f"mean_bound is {bound!r}: give the largest expected reward, above 0")
        for name, value, least, most in (
            ("budget", self.budget, 1, MAXIMAL_BUDGET),
            ("arms", self.arms, 2, MOST_ARMS),
            ("d", self.d, 2, MOST_DIMENSIONS),
            ("stages", self.stages, LEAST_STAGES, MOST_STAGES),
            ("noise_bits", self.noise_bits, LEAST_NOISE_BITS, MOST_NOISE_BITS),
        ):
            if not least <= value <= most:
                raise InputError(f"{name} is {value}: helba takes {least} to {most}")
        longest = self.learner.L
        if not 0 < self.rms_length <= longest:
            raise InputError(
                f"rms_length is {self.rms_length!r}: give the mean length of contexts, above 0 and "
                f"at most L = {longest:g}"
            )
        RewardScale(self.low, self.high)


def helba_policy(policy: object) -> BatchedOFUL:
    """The policy, if helba computes it; else an error that says which policies it computes."""
    if not isinstance(policy, BatchedOFUL):
        raise InputError(
            f"Helba takes BatchedOFUL() as its policy, not {policy!r}: it alone has an index "
            "and a schedule that a server can follow on hidden contexts"
        )
    if policy.index == "optimistic-quadratic" and policy.C is not None:
        raise InputError(
            f"C={policy.C:g}: condition (8) needs the inverse of V, which the index without a root "
            "does not compute: leave C out and schedule by eta alone, or take the index 'sqrt'"
        )
    return policy


def terms_from(data: bytes) -> HelbaTerms:
    """The terms in these bytes, if a run can keep them."""
    try:
        terms = msgspec.msgpack.decode(data, type=HelbaTerms)
        terms.check()
    except UNREADABLE:
        raise ProtocolError(
            "this version of helba cannot read these terms: let all parties run the same version"
        ) from None
    except InputError as error:
        raise ProtocolError(f"the user ordered an impossible run: {error}") from None
    return terms
