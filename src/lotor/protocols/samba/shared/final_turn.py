"""What the customer is told beyond the total: by an argmax behind the last round, or by counts.

Only the customer can put the results together: Comp's part is sealed to it, and Controller's part
goes to nobody else. docs/security/shared-argmax.md has the argument.
"""

from collections.abc import Sequence
from struct import Struct

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import IntegrityError, ProtocolError
from lotor.core.revealed import Revealed
from lotor.crypto.garbling import OutputSigns
from lotor.crypto.sealing import SealingKey
from lotor.protocols.garbled.wire import expect
from lotor.protocols.revealing import COUNTS, told_arm, told_counts
from lotor.protocols.samba.keys import KeyRing
from lotor.protocols.samba.messages import SambaSealedKey
from lotor.protocols.samba.shared.messages import FinalBits, FinalCodes, SealedCounts
from lotor.protocols.samba.shared.results import result_bits
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import COMP_BITS, CONTROLLER_BITS, shown_bits
from lotor.protocols.samba.told import check_counts, the_one
from lotor.protocols.samba.wire import place_of

FINAL_BITS = "result of the final turn"
ARM_COUNTS = "counts of arms"


def shown_to_customer(ring: KeyRing, terms: SambaSharedTerms, signs: OutputSigns) -> Steps[None]:
    """Comp's part of the final result."""
    sealed = ring.seal_to("customer", terms.customer_key, shown_bits(signs), FINAL_BITS)
    yield Send("controller", FinalBits(sealed))  # step 9


def pass_on_result(place: bytes, codes: bytes) -> Steps[None]:
    """Controller's part, and Comp's as it came."""
    theirs: FinalBits = yield Receive("comp", FinalBits)
    yield Send("customer", FinalCodes(place, codes))  # step 10
    yield Send("customer", theirs)


def counted_for_customer(
    ring: KeyRing, terms: SambaSharedTerms, counts: Sequence[int]
) -> Steps[None]:
    """How many outcomes each of an owner's arms has, where the customer is told."""
    if terms.reveal == COUNTS:
        packed = _counts(len(counts)).pack(*counts)
        sealed = ring.seal_to("customer", terms.customer_key, packed, ARM_COUNTS)
        yield Send("controller", SealedCounts(sealed))  # step 11


def pass_on_counts(terms: SambaSharedTerms) -> Steps[None]:
    if terms.reveal == COUNTS:
        for owner in terms.owners:
            counts: SealedCounts = yield Receive(owner, SealedCounts)
            yield Send("customer", counts)


class FinalReader:
    """The customer, who opens what is sealed to it."""

    def __init__(self, ring: KeyRing, sealing: SealingKey, terms: SambaSharedTerms) -> None:
        self._ring, self._sealing, self._terms = ring, sealing, terms
        self._counts: list[int] = []
        self._arm: int | None = None

    def __repr__(self) -> str:
        return "<FinalReader>"

    def receive(self) -> Steps[None]:
        """What comes before the total."""
        if self._terms.final_turn is not None:
            self._arm = yield from self._receive_arm(place_of(*self._terms.final_turn))
        elif self._terms.reveal == COUNTS:
            for owner, held in self._terms.owners.items():
                sent: SealedCounts = yield Receive("controller", SealedCounts)
                layout = _counts(held)
                opened = self._opened(sent.sealed, owner, ARM_COUNTS, layout.size)
                self._counts += layout.unpack(opened)

    def told(self, outcomes: int) -> Revealed | None:
        """What was received; the total counts so many outcomes."""
        terms = self._terms
        if self._arm is not None:
            return told_arm(terms.reveal, terms.all_numbers[self._arm], terms.arm_names)
        if terms.reveal == COUNTS:
            check_counts(self._counts, outcomes)
            return told_counts(terms.by_number(self._counts), terms.arm_names)
        return None

    def _receive_arm(self, place: bytes) -> Steps[int]:
        mine: FinalCodes = yield Receive("controller", FinalCodes)
        expect(mine, place, "controller", codes=self._terms.k * CONTROLLER_BITS.size)
        theirs: FinalBits = yield Receive("controller", FinalBits)
        size = self._terms.k * COMP_BITS.size
        bits = result_bits(mine.codes, self._opened(theirs.sealed, "comp", FINAL_BITS, size))
        if bits is None:
            raise IntegrityError(
                "the arm that the customer is told does not fit its tag: comp or controller "
                "altered it, or controller garbled other circuits than it used; ask their "
                "operators and start a new run"
            )
        return the_one(bits, by="controller")

    def _opened(self, sealed: SambaSealedKey, maker: str, purpose: str, size: int) -> bytes:
        opened = self._ring.open(self._sealing, sealed, maker, purpose)
        if len(opened) != size:
            raise ProtocolError(
                f"{maker} sealed {len(opened)} bytes as its {purpose}, and {size} are due: it runs "
                "another version; start a new run"
            )
        return opened


def _counts(held: int) -> Struct:
    return Struct(f"<{held}Q")
