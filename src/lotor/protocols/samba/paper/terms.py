"""What the terms of the paper's form say besides: how arms are selected, the customer's key."""

from lotor.core.errors import ProtocolError
from lotor.crypto.aead import MESSAGE_LIMIT
from lotor.policies import Policy
from lotor.protocols.revealing import NOTHING
from lotor.protocols.samba.paper import complexity
from lotor.protocols.samba.protocol import REVEALS_NOTHING, SELECTIONS
from lotor.protocols.samba.terms import SambaTerms


class SambaPaperTerms(SambaTerms, frozen=True):
    """`customer_key` is the customer's Paillier key."""

    selection: str
    customer_key: bytes

    def check(self, run: str, policy: Policy) -> None:
        super().check(run, policy)
        if self.selection not in SELECTIONS:
            raise ProtocolError(
                f"customer ordered selection {self.selection!r}, which no run can do: order it "
                f"with {' or '.join(SELECTIONS)}"
            )
        if self.reveal != NOTHING:
            raise ProtocolError(f"customer ordered reveal {self.reveal!r}: {REVEALS_NOTHING}")
        counts = complexity.operations(
            self.k,
            self.k + len(self.rounds),
            self.iterations,
            owners=len(self.owners),
            selection=self.selection,
        )
        if counts["aes_gcm_encryptions"] > MESSAGE_LIMIT:
            raise ProtocolError(
                f"{self.budget} pulls of {self.k} arms need {counts['aes_gcm_encryptions']} "
                "AES-GCM messages, and one key may seal 2^32: split the budget into several "
                "runs, since each run has its own key"
            )
