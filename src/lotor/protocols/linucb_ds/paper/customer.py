"""The data client DC: orders a run and alone learns the sum of rewards."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Generic, Self, TypeVar, cast

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import FormatError
from lotor.crypto.paillier import PrivateKey
from lotor.crypto.signing import Identity
from lotor.protocols.linucb_ds.messages import LinUCBOrder
from lotor.protocols.linucb_ds.paper.messages import LinUCBTotal
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms
from lotor.protocols.linucb_ds.terms import PURPOSE
from lotor.protocols.linucb_ds.totals import in_units
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.received import ciphertext_from


class LinUCBCustomerMemory(Memory, tag="linucb-ds/2/customer"):
    """The terms that it orders, and the key that opens the answer."""

    private_key: bytes
    terms: LinUCBPaperTerms | None = None


T = TypeVar("T", bound=LinUCBPaperTerms)


class KeyedCustomer(Party, Generic[T]):
    """Steps 1 and 7 of Figure 3, whatever the sum is made of."""

    memory_kind: ClassVar[type[LinUCBCustomerMemory]]

    def __init__(self, identity: Identity, order: T, key: PrivateKey) -> None:
        self._identity = identity
        self._order = order
        self._key = key
        self._decryptions = 0

    @classmethod
    def restored(
        cls, identity: Identity, run: str, snapshot: bytes, *, minimum_key_bits: int
    ) -> Self:
        memory = restored(cls.memory_kind, snapshot, identity.name, run)
        if memory.terms is None:
            raise FormatError(
                "this snapshot has no order, so it is not the customer's: restore its own"
            )
        key = PrivateKey.from_bytes(memory.private_key, minimum_bits=minimum_key_bits)
        return cls(identity, cast("T", memory.terms), key)

    def operations(self) -> Mapping[str, int]:
        return {
            "paillier_decryptions": self._decryptions,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def _snapshot(self) -> bytes:
        return self.memory_kind(
            party=self._identity.name,
            run=self._order.run,
            private_key=self._key.to_bytes(),
            terms=self._order,
        ).dump()

    def steps(self) -> Steps[float]:
        yield Checkpoint(self._snapshot)
        order = self._order
        terms = order.to_bytes()
        signatures = {
            name: self._identity.sign(terms, run=order.run, purpose=PURPOSE, recipient=name)
            for name in ("owner", "comp")
        }
        yield Send("principal", LinUCBOrder(terms, signatures))  # step 1
        return (yield from self._total())

    @abstractmethod
    def _total(self) -> Steps[float]:
        """Receive the sum, in the customer's unit."""

    def _decrypted(self, data: bytes) -> int:
        total = self._key.decrypt(ciphertext_from(data, self._key.public, "principal"))
        self._decryptions += 1
        return total


class LinUCBCustomer(KeyedCustomer[LinUCBPaperTerms]):
    """Told the unit of the sum with it."""

    memory_kind = LinUCBCustomerMemory

    def _total(self) -> Steps[float]:
        reply: LinUCBTotal = yield Receive("principal", LinUCBTotal)  # step 7
        return in_units(self._order, self._decrypted(reply.total), reply.longest, reply.k, reply.d)
