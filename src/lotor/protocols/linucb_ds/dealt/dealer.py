"""The dealer: provides the randomness of every round. It knows Comp's share of theta, and no arm.

With that share it deals products of P's pads with it, so that P and Comp multiply in one message.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from lotor.core.effects import Receive, Steps
from lotor.crypto.sealing import SealingKey
from lotor.crypto.sharing import large_to_bytes
from lotor.crypto.signing import Identity
from lotor.protocols.linucb_ds.dealt.circuits import circuits
from lotor.protocols.linucb_ds.dealt.messages import WIRE
from lotor.protocols.linucb_ds.dealt.terms import SEATS, TOTAL_BYTES, LinUCBDealtTerms
from lotor.protocols.linucb_ds.messages import LinUCBSetup
from lotor.protocols.linucb_ds.terms import accept
from lotor.protocols.linucb_ds.theta.handing_out import ThetaHolding, hold
from lotor.protocols.two_server.dealer import Dealer, DealerMemory
from lotor.protocols.two_server.schedule import DealerSchedule


class LinUCBDealerMemory(DealerMemory, tag=WIRE + "dealer", kw_only=True):
    """Both pad keys, and the key of theta's other share."""

    sealing_key: bytes = b""
    terms: LinUCBDealtTerms | None = None
    holding: ThetaHolding | None = None


class LinUCBDealer(Dealer):
    """Deals for as many rounds as the terms say, and for the total."""

    memory_kind: ClassVar[type[DealerMemory]] = LinUCBDealerMemory
    _memory: LinUCBDealerMemory

    def __init__(
        self,
        identity: Identity,
        run: str,
        *,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        # How many arms there are it learns in the set-up.
        super().__init__(run, b"", SEATS, DealerSchedule(), snapshot=snapshot)
        self._identity = identity
        self._order = order
        memory = self._memory
        if snapshot is None:
            memory.sealing_key = SealingKey().private_bytes()
        if memory.terms is not None and memory.holding is not None:
            self._prepare(memory.terms, memory.holding)

    def operations(self) -> Mapping[str, int]:
        return {
            **super().operations(),
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def _agree(self) -> Steps[None]:
        memory, identity = self._memory, self._identity
        setup: LinUCBSetup = yield Receive("principal", LinUCBSetup)  # step 1
        terms = accept(LinUCBDealtTerms, setup, identity, memory.run, self._order)
        holding = yield from hold(terms, identity, SealingKey(memory.sealing_key))
        self._prepare(terms, holding)
        memory.terms, memory.holding, memory.sealing_key = terms, holding, b""

    def _prepare(self, terms: LinUCBDealtTerms, holding: ThetaHolding) -> None:
        computed = circuits(holding.k, holding.d, terms.places)
        self._digest = terms.digest(holding.k, holding.d)
        self._schedule = computed.schedule
        self._given = {
            computed.products.number: [np.array(holding.in_scores(terms), np.uint64)],
            computed.total.number: [large_to_bytes(holding.in_total(terms), TOTAL_BYTES)],
        }
