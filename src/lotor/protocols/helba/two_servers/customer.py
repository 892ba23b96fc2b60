"""The customer: orders a run, and alone learns the total of all users' rewards."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Steps
from lotor.protocols.helba.two_servers.messages import WIRE, TotalShare
from lotor.protocols.helba.two_servers.setting import SERVERS
from lotor.protocols.helba.two_servers.terms import HelbaTwoServersTerms
from lotor.protocols.helba.two_servers.totals import opened_total, received_total
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party


class HelbaTwoServersCustomerMemory(Memory, tag=WIRE + "customer"):
    """It has no secrets."""


class HelbaTwoServersCustomer(Party):
    """Step 14."""

    def __init__(self, terms: HelbaTwoServersTerms, *, snapshot: bytes | None = None) -> None:
        self._terms = terms
        self._memory = (
            HelbaTwoServersCustomerMemory(party="customer", run=terms.run)
            if snapshot is None
            else restored(HelbaTwoServersCustomerMemory, snapshot, "customer", terms.run)
        )

    def operations(self) -> Mapping[str, int]:
        return {}

    def steps(self) -> Steps[float]:
        yield Checkpoint(self._memory.dump)
        shares = []
        for server in SERVERS:
            message: TotalShare = yield Receive(server, TotalShare)  # step 14
            shares.append(received_total(message, self._terms, server))
        return opened_total(shares, self._terms)
