"""The data client DC with live rewards: alone learns their sum."""

from lotor.core.effects import Receive, Steps
from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import REWARD_ONE
from lotor.protocols.linucb_ds.live.messages import LiveTotal
from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.linucb_ds.paper.customer import KeyedCustomer, LinUCBCustomerMemory


class LiveCustomerMemory(LinUCBCustomerMemory, tag="linucb-ds-live/1/customer"):
    """The terms that it orders, and the key that opens the answer."""

    terms: LiveTerms | None = None


class LiveCustomer(KeyedCustomer[LiveTerms]):
    """Steps 1 and 7 of Figure 3."""

    memory_kind = LiveCustomerMemory

    def _total(self) -> Steps[float]:
        reply: LiveTotal = yield Receive("principal", LiveTotal)  # step 7
        terms = self._order
        counted = self._decrypted(reply.total) + terms.budget * (REWARD_ONE // 2)
        if not 0 <= counted <= terms.budget * REWARD_ONE:
            raise ProtocolError(
                f"the total is not one that {terms.budget} rewards can have, so it is worthless: "
                "messages were swapped or replaced on their way"
            )
        return terms.scale.total(counted, terms.budget)
