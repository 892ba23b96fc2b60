"""The data customer DC: orders a run and alone learns the total."""

from collections.abc import Mapping, Sequence

from lotor.core.effects import Receive, Send, Steps
from lotor.core.fixed_point import RewardScale
from lotor.crypto.paillier import PrivateKey
from lotor.crypto.signing import Identity
from lotor.protocols.samba.keys import TERMS, KeyRing, received_ciphertext, terms_bytes
from lotor.protocols.samba.messages import Order, Terms, Total


class Customer:
    """Figure 6 (d)."""

    def __init__(
        self, identity: Identity, terms: Terms, key: PrivateKey, recipients: Sequence[str]
    ) -> None:
        self._ring = KeyRing(identity, terms.run)
        self._terms = terms
        self._key = key
        self._recipients = recipients
        self._decryptions = 0

    def operations(self) -> Mapping[str, int]:
        return {"paillier_decryptions": self._decryptions, **self._ring.operations()}

    def steps(self) -> Steps[float]:
        terms = self._terms
        data = terms_bytes(terms)
        signatures = {name: self._ring.sign(data, TERMS, name) for name in self._recipients}
        yield Send("controller", Order(terms, signatures))  # step 0

        reply: Total = yield Receive("controller", Total)  # step 7
        total = self._key.decrypt(received_ciphertext(reply.total, self._key.public, "controller"))
        self._decryptions += 1
        return RewardScale(terms.low, terms.high).total(total, terms.budget)
