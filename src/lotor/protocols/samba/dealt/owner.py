"""A data owner in the dealt form: its scores, and its total, are shared between both servers."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec
import numpy as np

from lotor.core.draws import Draws
from lotor.core.effects import Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.prf import new_key
from lotor.crypto.sealing import SealingKey
from lotor.crypto.sharing import Bits
from lotor.protocols.revealing import COUNTS, final_scores
from lotor.protocols.samba.dealt.customer import TAG_KEY
from lotor.protocols.samba.dealt.messages import (
    WIRE,
    DealtBits,
    DealtCounts,
    DealtPartialTotal,
    DealtScores,
)
from lotor.protocols.samba.dealt.terms import SEATS, SambaDealtTerms
from lotor.protocols.samba.owner import SambaOwner, SambaOwnerMemory
from lotor.protocols.samba.tagged_totals import alpha_from, drawn_share, split
from lotor.protocols.two_server.checks import place_of
from lotor.protocols.two_server.messages import PlacedShares
from lotor.protocols.two_server.outside import InputSharer, read_bits


class SambaDealtOwnerMemory(SambaOwnerMemory, tag=WIRE + "owner", kw_only=True):
    """`input_key` is this owner's and Controller's, `tag_key` the owners' and the customer's."""

    terms: SambaDealtTerms | None = None
    input_key: bytes = msgspec.field(default_factory=new_key)
    tag_key: bytes = b""


class SambaDealtOwner(SambaOwner[SambaDealtTerms, SambaDealtOwnerMemory]):
    """Figures 6 (a) and 9 (a), with shares in the place of masks and encryption."""

    terms_kind = SambaDealtTerms
    memory_kind = SambaDealtOwnerMemory
    # Another score under the same mask would show the difference of the two.
    masked: ClassVar[bool] = True

    _shared = 0

    def operations(self) -> Mapping[str, int]:
        return {"values_shared": self._shared, **super().operations()}

    def _makers(self, terms: SambaDealtTerms) -> Sequence[str]:
        return "customer", terms.first_owner

    def _take_keys(self, terms: SambaDealtTerms, sealing: SealingKey) -> Steps[None]:
        memory = self._memory
        memory.tag_key = yield from self._take_key(sealing, "customer", TAG_KEY)
        memory.coin_key = yield from self._share_owners_keys(terms, sealing, memory.coin_key)
        yield from InputSharer(memory.input_key, SEATS).set_up(terms.digest)

    def _begin(self, terms: SambaDealtTerms) -> None:
        self._terms = terms
        self._number = list(terms.owners).index(self._name)
        self._sharer = InputSharer(self._memory.input_key, SEATS)

    def _selected(self, t: int, l: int, scores: Sequence[int], draws: Draws) -> Steps[int | None]:
        del draws  # ties are the servers'
        turn = self._terms.turn(t, l)
        yield from self._hand_in(DealtScores, scores, turn)  # step 2
        bits = yield from read_bits(DealtBits, turn, self._held, SEATS, self._number)  # step 5
        return _one_of(bits, t, l)

    def _hand_in(self, kind: type[PlacedShares], numbers: Sequence[int], turn: int) -> Steps[None]:
        """Comp's share of a number for each arm."""
        share = self._sharer.share(np.array(numbers, np.uint64), turn)
        self._shared += len(numbers)
        yield Send("comp", kind(place_of(turn), share))

    def _cumulative_reward(
        self, terms: SambaDealtTerms, earned: Sequence[tuple[int, int]]
    ) -> Steps[None]:
        memory = self._memory
        if terms.final_turn is not None:
            yield from self._hand_in(DealtScores, final_scores(terms.reveal, earned), terms.told)
        elif terms.reveal == COUNTS:
            yield from self._hand_in(DealtCounts, [n for _, n in earned], terms.told)
        s, n = sum(s for s, _ in earned), sum(n for _, n in earned)
        share = split(s, n, alpha_from(memory.tag_key), drawn_share(memory.input_key))
        yield Send("comp", DealtPartialTotal(place_of(terms.end), share.to_bytes()))  # step 6


def _one_of(bits: Bits, t: int, l: int) -> int | None:
    """Which arm is selected, if any."""
    selected = np.flatnonzero(bits).tolist()
    if len(selected) > 1 or bits.max() > 1:
        raise ProtocolError(
            f"the shares of controller and comp in round {t}, iteration {l} do not select one arm "
            "at most: they are at different places, or a message was altered; nothing was pulled"
        )
    return selected[0] if selected else None
