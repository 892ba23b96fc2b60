"""Comp, the second of the two servers: it knows the other share of theta, and nothing of any arm.

What P sends it in a round is settled before anything is opened that depends on it.
"""

from collections.abc import Mapping

import msgspec
import numpy as np

from lotor.core.effects import Checkpoint, Once, Receive, Send, Steps
from lotor.crypto.sealing import SealingKey
from lotor.crypto.sharing import large_to_bytes
from lotor.crypto.signing import Identity
from lotor.protocols.linucb_ds.dealt.circuits import DealtCircuits, circuits, no_numbers
from lotor.protocols.linucb_ds.dealt.messages import WIRE, DealtChoice, DealtRewards
from lotor.protocols.linucb_ds.dealt.terms import SEATS, TOTAL_BYTES, LinUCBDealtTerms
from lotor.protocols.linucb_ds.messages import LinUCBSetup
from lotor.protocols.linucb_ds.terms import accept
from lotor.protocols.linucb_ds.theta.handing_out import ThetaHolding, hold
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.two_server.checks import place_of
from lotor.protocols.two_server.server import SharingKeys, SharingServer


class LinUCBDealtCompMemory(Memory, tag=WIRE + "comp"):
    """Keys, and nothing of any round. The sealing key is dropped once it has done its work."""

    sealing_key: bytes
    terms: LinUCBDealtTerms | None = None
    holding: ThetaHolding | None = None
    sharing: SharingKeys = msgspec.field(default_factory=lambda: SharingKeys.fresh(1))


class LinUCBDealtComp(Party):
    """Figure 4 (b), on shares."""

    _server: SharingServer | None = None

    def __init__(
        self,
        identity: Identity,
        run: str,
        *,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._identity = identity
        self._order = order
        self._memory = (
            LinUCBDealtCompMemory(
                party=identity.name, run=run, sealing_key=SealingKey().private_bytes()
            )
            if snapshot is None
            else restored(LinUCBDealtCompMemory, snapshot, identity.name, run)
        )

    def operations(self) -> Mapping[str, int]:
        signing = {
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }
        return signing if self._server is None else {**signing, **self._server.operations()}

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None or memory.holding is None:
            yield Checkpoint(memory.dump)
            memory.terms, memory.holding = yield from self._set_up()
            memory.sealing_key, memory.t = b"", 1
        terms, holding = memory.terms, memory.holding
        server, computed = self._sharing(terms, holding)
        share = np.array(holding.in_scores(terms), np.uint64)
        nothing = np.zeros((holding.k, holding.d), np.uint64)
        for t in range(memory.t, terms.places):
            memory.t = t
            yield Checkpoint(memory.dump, t)
            scores = yield from server.compute(t, computed.products, nothing, share)  # step 3
            yield Once(scores.share.tobytes())
            won = yield from server.compute(t, computed.selection, scores)
            yield Send("principal", DealtChoice(place_of(t), won.share.tobytes()))  # step 4
        memory.t = terms.places
        yield from self._total(terms, holding, server, computed)

    def _set_up(self) -> Steps[tuple[LinUCBDealtTerms, ThetaHolding]]:
        memory, identity = self._memory, self._identity
        setup: LinUCBSetup = yield Receive("principal", LinUCBSetup)  # step 1
        terms = accept(LinUCBDealtTerms, setup, identity, memory.run, self._order)
        holding = yield from hold(terms, identity, SealingKey(memory.sealing_key))
        server, _ = self._sharing(terms, holding)
        yield from server.set_up(terms.digest(holding.k, holding.d), readers=(), sources=())
        return terms, holding

    def _sharing(
        self, terms: LinUCBDealtTerms, holding: ThetaHolding
    ) -> tuple[SharingServer, DealtCircuits]:
        computed = circuits(holding.k, holding.d, terms.places)
        self._server = SharingServer(1, SEATS, computed.schedule, self._memory.sharing)
        return self._server, computed

    def _total(
        self,
        terms: LinUCBDealtTerms,
        holding: ThetaHolding,
        server: SharingServer,
        computed: DealtCircuits,
    ) -> Steps[None]:
        """Steps 5 to 7: its share of the sum of rewards, for the customer."""
        end = terms.places
        yield Checkpoint(self._memory.dump, end)
        vector = large_to_bytes(holding.in_total(terms), TOTAL_BYTES)
        share = yield from server.compute(end, computed.total, no_numbers(holding.d), vector)
        yield Once(share.to_bytes(TOTAL_BYTES, "little"))
        blinded = server.blind_number(end, share, TOTAL_BYTES)
        yield Send("customer", DealtRewards(place_of(end), blinded.to_bytes(TOTAL_BYTES, "little")))
