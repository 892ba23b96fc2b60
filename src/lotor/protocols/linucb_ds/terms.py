"""What the customer orders, as every party must agree on it."""

from typing import ClassVar, TypeVar

import msgspec

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.core.unreadable import UNREADABLE
from lotor.crypto.signing import Identity
from lotor.policies import from_text
from lotor.policies.linear import LinearPolicy, SlotBits
from lotor.protocols.linucb_ds.messages import LinUCBSetup
from lotor.protocols.linucb_ds.protocol import LEAST_BUDGET
from lotor.protocols.received import check_announced

PURPOSE = "terms"


class ContinuedPulls(msgspec.Struct, frozen=True):
    """The run that is continued, and how many rounds there had been at its end."""

    run: str
    rounds: int


class LinUCBTerms(msgspec.Struct, frozen=True, kw_only=True):
    """N, the policy with its constants, the width of a slot. Each form adds to them.

    With `keep`, P keeps what it knows of its pulls after the run. A run that is `continued` begins
    with that, and its rounds count on.
    """

    widths: ClassVar[tuple[SlotBits, ...]]
    """The slots that the form computes with."""

    run: str
    budget: int
    policy: str
    slot_bits: SlotBits
    keep: bool = False
    continued: ContinuedPulls | None = None

    @property
    def before(self) -> int:
        """How many rounds there were before, in the runs that this one continues."""
        return 0 if self.continued is None else self.continued.rounds

    @property
    def rounds(self) -> int:
        """The number of the last round, counted from the first run on."""
        return self.before + self.budget

    @property
    def places(self) -> int:
        """The place of the total in messages: those from 1 up to it have a choice each.

        Place 1 stands for what nobody chooses: the first pull, or all pulls of earlier runs.
        """
        return self.budget if self.continued is None else self.budget + 1

    def to_bytes(self) -> bytes:
        """What the customer signs."""
        return msgspec.msgpack.encode(self)

    def check(self, run: str) -> LinearPolicy:
        """The policy that was ordered; refuses terms of another run, and impossible terms."""
        try:
            policy = from_text(self.policy)
        except InputError as error:
            raise ProtocolError(f"customer ordered a policy not known here: {error}") from None
        if not isinstance(policy, LinearPolicy):
            raise ProtocolError(
                f"customer ordered {self.policy}, which is not a linear policy: order one such as "
                "linucb"
            )
        begun = self.continued
        least = LEAST_BUDGET if begun is None else 1
        fits = least <= self.budget and self.rounds <= MAXIMAL_BUDGET
        fits = fits and self.slot_bits in self.widths
        fits = fits and (begun is None or (begun.run not in ("", run) and begun.rounds >= 1))
        if self.run != run or not fits:
            raise ProtocolError(
                f"customer ordered {self.budget} pulls in run {self.run} with slots of "
                f"{self.slot_bits} bits, which cannot be done in run {run}: order it again"
            )
        return policy


T = TypeVar("T", bound=LinUCBTerms)


def terms_from(kind: type[T], data: bytes) -> T:
    """Terms from the bytes that the customer signed."""
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except UNREADABLE:
        raise ProtocolError(
            "customer signed terms that this version cannot read: let it order with this version"
        ) from None


def accept(
    kind: type[T], setup: LinUCBSetup, identity: Identity, run: str, order: bytes | None
) -> T:
    """The customer's terms, if it signed them for this party and they are those announced."""
    identity.verify(
        setup.terms,
        setup.signature,
        sender="customer",
        run=run,
        purpose=PURPOSE,
        recipient=identity.name,
    )
    return accepted_terms(kind, setup.terms, order, run)


def accepted_terms(kind: type[T], data: bytes, order: bytes | None, run: str) -> T:
    """Terms that this party can keep, and that equal the announced ones if there are any."""
    check_announced(data, order, run)
    terms = terms_from(kind, data)
    terms.check(run)
    return terms
