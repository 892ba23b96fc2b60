"""A data owner in the shared form: Controller and Comp have a share of its scores each."""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from lotor.core.draws import Draws
from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import IntegrityError, ProtocolError
from lotor.crypto.sealing import SealingKey
from lotor.protocols.garbled.wire import expect
from lotor.protocols.revealing import final_scores
from lotor.protocols.samba.owner import SambaOwner, SambaOwnerMemory
from lotor.protocols.samba.shared.comp import SHARE_KEY
from lotor.protocols.samba.shared.customer import TAG_KEY
from lotor.protocols.samba.shared.final_turn import counted_for_customer
from lotor.protocols.samba.shared.messages import WIRE, CoveredScores, ResultShares, SumShare
from lotor.protocols.samba.shared.pads import OwnerPads
from lotor.protocols.samba.shared.results import result_bits
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import COMP_BITS, CONTROLLER_BITS
from lotor.protocols.samba.tagged_totals import alpha_from, drawn_share, split
from lotor.protocols.samba.wire import place_name, place_of


class SambaSharedOwnerMemory(SambaOwnerMemory, tag=WIRE + "owner", kw_only=True):
    """`share_key` is this owner's and Comp's; `tag_key` is the owners' and the customer's."""

    terms: SambaSharedTerms | None = None
    share_key: bytes = b""
    tag_key: bytes = b""


class SambaSharedOwner(SambaOwner[SambaSharedTerms, SambaSharedOwnerMemory]):
    """Learns of each of its arms whether it is selected, and nothing of others."""

    terms_kind = SambaSharedTerms
    memory_kind = SambaSharedOwnerMemory
    # A second score under the same share would show Controller the XOR of the two.
    masked: ClassVar[bool] = True

    def _makers(self, terms: SambaSharedTerms) -> Sequence[str]:
        return "comp", terms.first_owner, "customer"

    def _take_keys(self, terms: SambaSharedTerms, sealing: SealingKey) -> Steps[None]:
        memory = self._memory
        memory.share_key = yield from self._take_key(sealing, "comp", SHARE_KEY)
        memory.coin_key = yield from self._share_owners_keys(terms, sealing, memory.coin_key)
        memory.tag_key = yield from self._take_key(sealing, "customer", TAG_KEY)

    def _begin(self, terms: SambaSharedTerms) -> None:  # noqa: ARG002
        self._pads = OwnerPads(self._memory.share_key, self._held)
        self._words = Struct(f"<{self._held}Q")

    def _selected(
        self,
        t: int,
        l: int,
        scores: Sequence[int],
        draws: Draws,  # noqa: ARG002 (ties are decided by the servers' tie key)
    ) -> Steps[int | None]:
        yield from self._hand_in(scores, t, l)
        answer: ResultShares = yield Receive("controller", ResultShares)  # step 10
        return self._read(answer, place_of(t, l), t, l)

    def _hand_in(self, scores: Sequence[int], t: int, l: int) -> Steps[None]:
        shares = zip(scores, self._pads.shares(t, l), strict=True)
        covered = self._words.pack(*(v ^ b for v, b in shares))
        yield Send("controller", CoveredScores(place_of(t, l), covered))  # step 7

    def _read(self, answer: ResultShares, place: bytes, t: int, l: int) -> int | None:
        """Which of its arms is selected, if Comp's tags are those of its bits."""
        expect(answer, place, "controller", controller=self._held * CONTROLLER_BITS.size)
        expect(answer, place, "controller", comp=self._held * COMP_BITS.size)
        pads = zip(self._pads.colours(t, l), self._pads.tags(t, l), strict=True)
        bits = result_bits(answer.controller, answer.comp, pads)
        if bits is None:
            raise IntegrityError(
                f"the result of {place_name(place)} does not fit its tag: comp or controller "
                "altered it, or controller garbled other circuits than it used; the run ends "
                "here, so ask their operators and start a new run"
            )
        selected = [arm for arm, bit in enumerate(bits) if bit]
        if len(selected) > 1:
            raise ProtocolError(
                f"the result of {place_name(place)} selects {len(selected)} arms of {self._name}: "
                "controller garbled another circuit than an argmax; start a new run without it"
            )
        return selected[0] if selected else None

    def _cumulative_reward(
        self,
        terms: SambaSharedTerms,
        earned: Sequence[tuple[int, int]],
    ) -> Steps[None]:
        memory = self._memory
        if terms.final_turn is not None:
            yield from self._hand_in(final_scores(terms.reveal, earned), *terms.final_turn)
        # Comp draws its share itself.
        share = split(
            sum(s for s, _ in earned),
            sum(n for _, n in earned),
            alpha_from(memory.tag_key),
            drawn_share(memory.share_key),
        )
        yield Send("controller", SumShare(share.to_bytes()))  # step 11
        yield from counted_for_customer(self._ring, terms, [n for _, n in earned])
