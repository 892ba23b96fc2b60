"""What the receiver orders, as every party must agree on it."""

from dataclasses import replace
from hashlib import sha256
from itertools import accumulate
from math import isfinite, log2, sqrt

import msgspec

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET, RewardScale
from lotor.core.unreadable import UNREADABLE
from lotor.core.wording import counted
from lotor.crypto.sharing import TOURNAMENT
from lotor.crypto.sharing.polynomial import MOST
from lotor.policies import from_text, to_text
from lotor.policies.contextual import LinearEpsilonGreedy
from lotor.privacy import Accountant, PrivacySpent
from lotor.protocols.contextual_draws import threshold
from lotor.protocols.ppcb.dealt.sizes import largest_message
from lotor.protocols.ppcb.kept_model import ContinuedModel
from lotor.protocols.ppcb.protocol import (
    LEAST_BITS,
    MOST_BITS,
    NO_MODEL,
    ON_SHARES,
    RECIPROCALS,
)
from lotor.protocols.ppcb.shape import INNER_BITS, SLACK, StepShape
from lotor.protocols.two_server.schedule import ServerSeats

FIRST, SECOND = "server-0", "server-1"
"""The seats of the two servers."""
SEATS = ServerSeats(FIRST, SECOND)

MOST_ARMS = 1 << 12
MOST_FEATURES = 1 << 10
# After n steps of one arm its u may be as short as 1/n, and must keep some of its INNER_BITS: nine
# are left then, and what u is off by has been shown to add up to little until n^1.5 is near
# 2^INNER_BITS (a test runs as much of it as fewer bits allow).
MOST_STEPS = 1 << 19
# Bits of 1/ridge that must be there.
RIDGE_BITS = 8
# Bytes of contexts and choices whose reward is to come.
MOST_WAITING = 1 << 20
# Differences of scores are compared exactly below 2^63, in a tournament below 2^62; truncation
# needs less than 2^62, and has no ranks.
ROOM = 63
# What the larger part of a message may take. With the smaller part none reaches the 16 MiB that a
# frame of the federation may hold: a test computes those that come near it.
LARGEST_MESSAGE = 15 << 20


class Alone(msgspec.Struct, frozen=True):
    """How two servers do without a dealer.

    `prepared` is a digest of all that they make for each other. It follows from the rest of the
    terms, and says that all parties, and all versions that go on with the run, derive the same.
    """

    reciprocal: str = ON_SHARES
    prepared: str = ""


class PPCBTerms(msgspec.Struct, frozen=True):
    """T, A, the policy with epsilon, and how many features each party brings, in their order.

    `bits` are those behind the point; `delay` is how many steps a reward is late; a run stops
    before its arms, and those of the runs that it continues, tell more than `privacy_budget` (None:
    no limit) except with probability `delta` for each run. With `keep`, each server keeps its share
    of the model after the run. A run that is `continued` begins with a kept one, and its steps
    count on from there; one that only `predicts` leaves it as it is, and asks for no rewards. The
    servers are `alone` where nobody deals for them.
    """

    run: str
    budget: int
    arms: int
    owners: dict[str, int]
    policy: str
    bits: int
    delay: int
    low: float
    high: float
    privacy_budget: float | None
    delta: float
    keep: bool = False
    predicts: bool = False
    continued: ContinuedModel | None = None
    alone: Alone | None = None

    @property
    def features(self) -> int:
        return sum(self.owners.values())

    @property
    def scale(self) -> RewardScale:
        return RewardScale(self.low, self.high)

    @property
    def learner(self) -> LinearEpsilonGreedy:
        """The policy that was ordered."""
        policy = from_text(self.policy)
        if not isinstance(policy, LinearEpsilonGreedy):
            raise InputError(f"ppcb does not run {self.policy}: order linear-epsilon-greedy")
        return policy

    @property
    def unexploring(self) -> str:
        """The policy but for how often it explores, which may change from run to run."""
        return to_text(replace(self.learner, epsilon=0.0))

    @property
    def shape(self) -> StepShape:
        return StepShape(self.arms, self.features, self.bits, threshold(self.learner.epsilon))

    @property
    def accountant(self) -> Accountant:
        return Accountant(self.arms, self.learner.epsilon, self.delta)

    @property
    def steps(self) -> int:
        """How many steps the run has: its budget, or fewer where its privacy is spent before."""
        return self.accountant.allowed(self.budget, self.privacy_budget, self._told)

    @property
    def before(self) -> int:
        """How many steps there were before, in the runs that this one continues."""
        return 0 if self.continued is None else self.continued.steps

    @property
    def last(self) -> int:
        """The number of the last step, counted from the first run on."""
        return self.before + self.steps

    @property
    def late(self) -> int:
        """How many steps late a reward is learnt from.

        Where the model is kept, all rewards are learnt: after the last step none is late any more.
        """
        return min(self.delay, self.steps - 1) if self.keep else self.delay

    @property
    def ends(self) -> int:
        """The step, counted within the run, after which it ends; behind the last it only learns."""
        return self.steps + (self.late if self.keep else 0)

    @property
    def learnt(self) -> int:
        """How many steps the run learns from."""
        return 0 if self.predicts else max(0, self.ends - self.late)

    def spent(self) -> PrivacySpent:
        """What the arms of this run tell, whatever was told before."""
        return self.accountant.spent(self.steps)

    @property
    def whole(self) -> float:
        """What the arms of this run and of all that it continues tell, but for `whole_delta`."""
        return self._told + self.accountant.total(self.steps)

    @property
    def _told(self) -> float:
        return 0.0 if self.continued is None else self.continued.told

    @property
    def whole_delta(self) -> float:
        return self.delta + (0.0 if self.continued is None else self.continued.delta)

    def account(self) -> dict[str, float | int | str | None]:
        """The same by name, for results and reports."""
        account: dict[str, float | int | str | None] = msgspec.structs.asdict(self.spent())
        if self.continued is not None:
            account["steps_before"] = self.before
            account["whole"] = self.whole if isfinite(self.whole) else None
            account["whole_delta"] = self.whole_delta
        return account

    def columns(self) -> dict[str, tuple[int, int]]:
        """Which part of a context each party brings."""
        ends = list(accumulate(self.owners.values()))
        return dict(zip(self.owners, zip([0, *ends[:-1]], ends, strict=True), strict=True))

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)

    @property
    def digest(self) -> bytes:
        """Equal at two parties only if their terms are equal."""
        return sha256(b"lotor/ppcb terms" + self.to_bytes()).digest()

    def check(self) -> None:
        """Refuse terms that no run can keep, with the reason."""
        self._check_size()
        self._check_continued()
        self._check_policy(self.learner)
        self._check_length()
        RewardScale(self.low, self.high)
        self._check_room(self.learner.ridge)
        if self.alone is None:
            self._check_messages()
        else:
            self._check_rings(self.learner.ridge)
            if self.alone.reciprocal not in RECIPROCALS:
                raise InputError(
                    f"reciprocal is {self.alone.reciprocal!r}: order one of {RECIPROCALS}"
                )

    def _check_size(self) -> None:
        if not 2 <= self.arms <= MOST_ARMS:
            raise InputError(f"{self.arms} arms: ppcb chooses between 2 and {MOST_ARMS}")
        if not self.owners or min(self.owners.values()) < 1:
            raise InputError(
                "a run needs at least one feature party, and each must bring at least one feature"
            )
        if self.features > MOST_FEATURES:
            raise InputError(f"{self.features} features: ppcb computes with up to {MOST_FEATURES}")
        if not LEAST_BITS <= self.bits <= MOST_BITS:
            raise InputError(f"{self.bits} bits: give from {LEAST_BITS} to {MOST_BITS}")

    def _check_policy(self, policy: LinearEpsilonGreedy) -> None:
        most = 1 << (self.bits - RIDGE_BITS)
        if not 1 <= policy.ridge <= most:
            raise InputError(
                f"ridge is {policy.ridge:g}: give from 1, so that 1 + x·A⁻¹x is proven to lie in "
                f"[1, 2], to {most}, beyond which {self.bits} bits would learn nothing"
            )
        if policy.recompute is not None:
            raise InputError("ppcb never computes A⁻¹ anew: leave recompute out of the policy")

    def _check_continued(self) -> None:
        continued = self.continued
        if self.predicts and continued is None:
            raise InputError(NO_MODEL)
        if self.predicts and (self.keep or self.delay):
            raise InputError(
                "a run that only predicts learns nothing, so it has nothing to keep and no rewards "
                "that could be late: leave keep and delay out; the model stays as it was kept"
            )
        # nan fails the comparison too.
        if continued is not None and not (
            continued.run not in ("", self.run)
            and 1 <= continued.steps <= MOST_STEPS
            and continued.told >= 0
            and continued.delta >= 0
        ):
            raise InputError(
                f"run {continued.run} cannot be continued as the order says: order it again"
            )

    def _check_length(self) -> None:
        if not 1 <= self.budget <= MAXIMAL_BUDGET:
            raise InputError(f"a budget of {self.budget}: give from 1 to {MAXIMAL_BUDGET} steps")
        if self.steps > MOST_STEPS:
            raise InputError(
                f"{self.steps} steps: rounding might add up beyond {MOST_STEPS}; order several runs"
            )
        if self.last > MOST_STEPS and not self.predicts:
            raise InputError(
                f"{counted(self.before, 'step')} before and {self.steps} more: rounding might add "
                f"up beyond {MOST_STEPS}; order fewer, or start a new run"
            )
        most = min(self.budget, MOST_WAITING // (8 * self.features + self.arms))
        if not 0 <= self.delay <= most:
            raise InputError(
                f"a delay of {self.delay} steps: give from 0 to {most}; the budget limits it, and "
                "how many unrewarded steps the servers can write down"
            )

    def _check_room(self, ridge: float) -> None:
        """Scores must stay where comparing and truncating them is exact.

        Rewards are in [0, 1] and contexts no longer than 1, so that |w| <= sqrt(n/ridge) / 2 after
        n rewards; a score has 2·bits behind the point and the ranks of the arms below these.
        """
        longest = (max(1.0, sqrt(self.last / ridge) / 2) + 1) * (1 + SLACK)
        compared = 2 * self.bits + self.shape.rank_bits + log2(longest) + 1
        truncated = INNER_BITS + self.bits + log2(longest)  # w, and k (r - s) before it is added
        needed = max(compared, truncated + 1)
        room = ROOM - 1 if self.arms >= TOURNAMENT else ROOM
        if needed >= room:
            raise InputError(
                f"scores of {self.arms} arms after {self.last} steps need {needed:.1f} bits, and "
                f"fewer than {room} are there: take fewer bits behind the point than {self.bits}"
            )

    def _check_rings(self, ridge: float) -> None:
        """A⁻¹ and A⁻¹x must fit their rings, and x·A⁻¹x must be where reciprocals are right.

        A⁻¹ is at most 1/ridge, as is A⁻¹x for contexts no longer than 1, but for what rounding adds
        up to. In a step u is off by at most D + 2 sqrt(D) units of its last place, as a vector, and
        A⁻¹ by twice that times the length of u, as an operator.
        """
        d = self.features
        drift = self.last * 2 * (d + 2 * sqrt(d)) * 2.0**-INNER_BITS
        if (1 / ridge + drift) * (1 + SLACK) >= MOST:
            raise InputError(
                f"rounding in {self.last} steps with {d} features might add up to more than the "
                "servers' arithmetic has room for: order fewer steps, take fewer features, or a "
                "larger ridge"
            )

    def _check_messages(self) -> None:
        dealt = largest_message(self.shape)
        if dealt > LARGEST_MESSAGE:
            raise InputError(
                f"{self.arms} arms with {self.features} features need messages of {dealt >> 20} "
                f"MiB, and {LARGEST_MESSAGE >> 20} is the most: take fewer of either"
            )


def terms_from(data: bytes) -> PPCBTerms:
    """Terms from the bytes that were announced, if a run can keep them."""
    try:
        terms = msgspec.msgpack.decode(data, type=PPCBTerms)
        terms.check()
    except UNREADABLE:
        raise ProtocolError(
            "receiver sent an order that this version cannot read: let the receiver order with the "
            "version that runs here"
        ) from None
    except InputError as error:
        raise ProtocolError(f"receiver ordered a run that cannot be: {error}") from None
    return terms
