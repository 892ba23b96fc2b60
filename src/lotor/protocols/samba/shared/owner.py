"""A data owner in the shared form: Controller and Comp have a share of its scores each."""

from collections.abc import Sequence
from copy import deepcopy
from struct import Struct
from typing import ClassVar

import msgspec

from lotor.core.draws import Draws
from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import IntegrityError, ProtocolError
from lotor.crypto.sealing import SealingKey
from lotor.policies import ArmStates
from lotor.protocols.garbled.wire import expect
from lotor.protocols.pulls import Pulls
from lotor.protocols.revealing import final_scores
from lotor.protocols.samba.owner import SambaOwner, SambaOwnerMemory
from lotor.protocols.samba.shared.comp import SHARE_KEY
from lotor.protocols.samba.shared.customer import TAG_KEY
from lotor.protocols.samba.shared.era import Era, Loss
from lotor.protocols.samba.shared.final_turn import counted_for_customer
from lotor.protocols.samba.shared.messages import (
    WIRE,
    CoveredScores,
    Escrow,
    OwnersLeft,
    ResultShares,
    SumShare,
)
from lotor.protocols.samba.shared.pads import OwnerPads
from lotor.protocols.samba.shared.results import result_bits
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import COMP_BITS, CONTROLLER_BITS
from lotor.protocols.samba.tagged_totals import TaggedShare, alpha_from, drawn_share, split
from lotor.protocols.samba.wire import place_name


class SambaSharedOwnerMemory(SambaOwnerMemory, tag=WIRE + "owner", kw_only=True):
    """`share_key` is this owner's and Comp's; `tag_key` is the owners' and the customer's."""

    terms: SambaSharedTerms | None = None
    share_key: bytes = b""
    tag_key: bytes = b""
    losses: list[Loss] = msgspec.field(default_factory=list)


class RoundVoidError(Exception):
    """Other owners have left within a round, which begins anew without their arms."""

    def __init__(self, left: OwnersLeft) -> None:
        super().__init__(f"owners have left in round {left.t}")
        self.left = left


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

    def _begin(self, terms: SambaSharedTerms) -> None:
        self._era = Era(terms, self._memory.losses)
        self._share_key = self._era.key(self._memory.share_key)
        self._pads = OwnerPads(self._share_key, self._held)
        self._words = Struct(f"<{self._held}Q")

    def _chosen(
        self, terms: SambaSharedTerms, pulls: Pulls, t: int, draws: Draws
    ) -> Steps[int | None]:
        may_leave = terms.exclude_after is not None
        while True:
            before = pulls.arms
            if may_leave:
                before = deepcopy(before) if self._policy.observes else before
                yield Send("controller", self._escrow(before, t))
            try:
                return (yield from super()._chosen(terms, pulls, t, draws))
            except RoundVoidError as void:
                loss = self._era.checked(self._ring.identity, void.left, t)
            pulls.arms = before
            self._memory.losses.append(loss)
            self._begin(terms)

    def _escrow(self, arms: ArmStates, t: int) -> Escrow:
        """Controller's share of what this owner has counted; Comp draws its own, if ever."""
        share = self._share_of(self._earned(arms), drawn_share(self._share_key, t))
        return Escrow(self._era.place(t, 1), share.to_bytes())

    def _share_of(self, earned: Sequence[tuple[int, int]], other: TaggedShare) -> TaggedShare:
        """One server's share of all rewards and pulls, where the other has `other`."""
        s, n = sum(s for s, _ in earned), sum(n for _, n in earned)
        return split(s, n, alpha_from(self._memory.tag_key), other)

    def _selected(
        self,
        t: int,
        l: int,
        scores: Sequence[int],
        draws: Draws,  # noqa: ARG002 (ties are decided by the servers' tie key)
    ) -> Steps[int | None]:
        yield from self._hand_in(scores, t, l)
        answer: ResultShares | OwnersLeft = yield Receive("controller", ResultShares, OwnersLeft)
        if isinstance(answer, OwnersLeft):
            raise RoundVoidError(answer)
        return self._read(answer, self._era.place(t, l), t, l)  # step 10

    def _hand_in(self, scores: Sequence[int], t: int, l: int) -> Steps[None]:
        shares = zip(scores, self._pads.shares(t, l), strict=True)
        covered = self._words.pack(*(v ^ b for v, b in shares))
        yield Send("controller", CoveredScores(self._era.place(t, l), covered))  # step 7

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
        if terms.final_turn is not None:
            yield from self._hand_in(final_scores(terms.reveal, earned), *terms.final_turn)
        # Comp draws its share itself.
        share = self._share_of(earned, drawn_share(self._memory.share_key))
        yield Send("controller", SumShare(share.to_bytes()))  # step 11
        yield from counted_for_customer(self._ring, terms, [n for _, n in earned])
