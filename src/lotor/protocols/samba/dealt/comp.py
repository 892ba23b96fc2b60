"""Comp: the second of the two servers, whom the owners send their shares."""

from lotor.core.effects import Once, Receive, Steps
from lotor.crypto.sharing import Words
from lotor.protocols.samba.dealt.messages import DealtPartialTotal, DealtTieKey
from lotor.protocols.samba.dealt.server import SambaDealtServer
from lotor.protocols.samba.tagged_totals import TaggedShare
from lotor.protocols.two_server.checks import check_place, key_from, place_of
from lotor.protocols.two_server.messages import PlacedShares


class SambaDealtComp(SambaDealtServer):
    """What it is sent in a turn is settled before anything is opened that depends on it."""

    number = 1

    def _set_up(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        yield from self._sharing.set_up(terms.digest, readers=(), sources=terms.owners)
        ties: DealtTieKey = yield Receive("controller", DealtTieKey)
        memory.tie_key = key_from(ties, terms.digest, "controller")

    def _inputs(self, kind: type[PlacedShares], turn: int) -> Steps[Words]:
        inputs = yield from super()._inputs(kind, turn)
        yield Once(inputs.tobytes())
        return inputs

    def _totals(self) -> Steps[list[TaggedShare]]:
        shares = []
        for owner in self._terms.owners:
            message: DealtPartialTotal = yield Receive(owner, DealtPartialTotal)
            check_place(message, place_of(self._terms.end), owner)
            shares.append(TaggedShare.from_bytes(message.shares, owner))
        yield Once(b"".join(share.to_bytes() for share in shares))
        return shares
