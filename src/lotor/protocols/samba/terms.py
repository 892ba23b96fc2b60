"""What the customer orders, as every party must agree on it."""

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

import msgspec

from lotor.core.durations import LONGEST
from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET, RewardScale
from lotor.core.unreadable import UNREADABLE
from lotor.policies import Policy, from_text, to_text
from lotor.protocols.pulls import OutcomeRules
from lotor.protocols.received import check_announced
from lotor.protocols.revealing import NOTHING, SENTENCES, takes_argmax
from lotor.protocols.samba.continued import ContinuedRun


class SambaTerms(msgspec.Struct, frozen=True, kw_only=True):
    """N, the policy A, how many arms each owner holds (in their order), the range of rewards.

    `outstanding`, `together` and `settle` are those of `OutcomeRules`. The customer is told what
    `reveal` says beyond the total. With `keep`, owners keep the states of their arms after the run.
    A run that is `continued` has its rounds, and the numbers of its arms, go on. Each form adds to
    them.
    """

    run: str
    budget: int
    owners: dict[str, int]
    policy: str
    iterations: int
    low: float
    high: float
    outstanding: int = 1
    together: int = 1
    settle: float | None = None
    reveal: str = NOTHING
    keep: bool = False
    continued: ContinuedRun | None = None

    @property
    def k(self) -> int:
        return sum(self.owners.values())

    @property
    def first_owner(self) -> str:
        return next(iter(self.owners))

    @property
    def scale(self) -> RewardScale:
        return RewardScale(self.low, self.high)

    @property
    def before(self) -> int:
        """How many rounds there were before this run."""
        return 0 if self.continued is None else self.continued.rounds

    @property
    def new(self) -> int:
        """How many arms nothing is known of: each of them is pulled once to begin with."""
        if self.continued is None:
            return self.k
        return self.k - sum(map(len, self.continued.known.values()))

    @property
    def first(self) -> int:
        """The first round in which arms are scored."""
        return self.before + self.new + 1

    @property
    def last(self) -> int:
        """The last round."""
        return self.before + self.budget

    @property
    def rounds(self) -> range:
        """The rounds in which arms are scored."""
        return range(self.first, self.last + 1)

    @property
    def rules(self) -> OutcomeRules:
        return OutcomeRules(self.first, self.outstanding, self.together, self.settle)

    @property
    def turns(self) -> int:
        """How many times all arms are scored and one is selected."""
        return len(self.rounds) * self.iterations

    @property
    def final_turn(self) -> tuple[int, int] | None:
        """(t, l), behind all rounds, in which the arm is found that the customer is told."""
        return (self.last + 1, 1) if takes_argmax(self.reveal) else None

    @property
    def argmaxes(self) -> int:
        """How many times a largest score is found."""
        return self.turns + (self.final_turn is not None)

    def arms(self) -> dict[str, slice]:
        """Which places each owner's arms have in what is sent of all arms."""
        ends = list(accumulate(self.owners.values()))
        return dict(zip(self.owners, map(slice, [0, *ends[:-1]], ends), strict=True))

    def numbers(self) -> dict[str, list[int]]:
        """The numbers of each owner's arms, by which they are pulled and drawn for.

        They are the places, unless a run is continued: known arms keep their numbers.
        """
        known = {} if self.continued is None else self.continued.known
        given = max((number for held in known.values() for number in held), default=-1) + 1
        numbers = {}
        for owner, held in self.owners.items():
            had = known.get(owner, [])
            end = given + held - len(had)
            numbers[owner] = [*had, *range(given, end)]
            given = end
        return numbers

    @property
    def all_numbers(self) -> list[int]:
        """The numbers of all arms, by their places."""
        return [number for held in self.numbers().values() for number in held]

    def by_number(self, counts: Sequence[int]) -> list[int]:
        """What there is of each arm in the order of their numbers; 0 for arms that are gone."""
        found = [0] * (max(self.all_numbers) + 1)
        for number, count in zip(self.all_numbers, counts, strict=True):
            found[number] = count
        return found

    @property
    def arm_names(self) -> list[str]:
        """Whose each arm is, with the number that its decisions have; "" for arms that are gone."""
        names = [""] * (max(self.all_numbers) + 1)
        for owner, held in self.numbers().items():
            for number in held:
                names[number] = f"{owner} (arm {number})"
        return names

    def first_rounds(self, owner: str) -> list[int]:
        """When each of an owner's arms is pulled to begin with; known arms were before this run."""
        numbers = self.numbers()
        # New arms have the largest numbers, without a gap.
        known = max(map(max, numbers.values())) - self.new
        return [self.before + max(number - known, 0) for number in numbers[owner]]

    def to_bytes(self) -> bytes:
        """What the customer signs."""
        return msgspec.msgpack.encode(self)

    def ordered_policy(self) -> Policy:
        """The policy that the customer ordered."""
        try:
            policy = from_text(self.policy)
        except InputError as error:
            raise ProtocolError(
                f"customer ordered a policy that is not known here: {error}"
            ) from None
        if not isinstance(policy, Policy):
            raise ProtocolError(
                f"customer ordered {self.policy}, which samba cannot run: order one such as ucb"
            )
        return policy

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
            and max(self.new, 1) <= self.budget
            and self.last <= MAXIMAL_BUDGET
            and (self.continued is None or self.continued.fits(self.run, self.owners))
            and self.iterations == policy.iterations
            and 1 <= self.together <= self.outstanding <= MAXIMAL_BUDGET
            and (self.settle is None or 0.0 < self.settle <= LONGEST)
        )
        if self.reveal != NOTHING and self.reveal not in SENTENCES:
            raise ProtocolError(
                f"customer ordered to be told {self.reveal!r}, which this version does not know: "
                "order it with this version"
            )
        if not fits:
            raise ProtocolError(
                f"customer ordered {self.budget} pulls of {self.k} arms of {len(self.owners)} "
                "owners, which no run can do: order it again"
            )


T = TypeVar("T", bound=SambaTerms)


def accepted_terms(kind: type[T], data: bytes, order: bytes | None, run: str, policy: Policy) -> T:
    """Terms that this party can keep, and that equal the announced ones if there are any."""
    check_announced(data, order, run)
    terms = terms_from(kind, data)
    terms.check(run, policy)
    return terms


def terms_from(kind: type[T], data: bytes) -> T:
    """Terms from the bytes that the customer signed."""
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except UNREADABLE:
        raise ProtocolError(
            "customer signed terms that this version cannot read: let it order with this version"
        ) from None
