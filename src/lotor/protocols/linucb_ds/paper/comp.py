"""Comp: alone can decrypt the scores, and compares them without knowing whose they are."""

from collections.abc import Mapping
from typing import ClassVar

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import CryptoError, InputError, ProtocolError
from lotor.crypto.paillier import SECURE_BITS, PackedLayout, PrivateKey, generate_keypair
from lotor.crypto.signing import Identity
from lotor.crypto.workers import Workers
from lotor.protocols.linucb_ds.messages import MOST_ARMS, LinUCBSetup
from lotor.protocols.linucb_ds.paper.messages import (
    CompKey,
    LinUCBShape,
    MaskedSum,
    PackedScores,
    SwitchedSum,
    Winner,
)
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms
from lotor.protocols.linucb_ds.paper.wire import COMP_KEY, place_of, position_of
from lotor.protocols.linucb_ds.terms import accept
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.received import ciphertext_from, public_key_from


class LinUCBCompMemory(Memory, tag="linucb-ds/2/comp"):
    """The private key is Comp's own; nobody else ever has it."""

    private_key: bytes
    terms: LinUCBPaperTerms | None = None
    k: int = 0


class LinUCBComp(Party):
    """Figure 4 (b)."""

    memory_kind: ClassVar[type[LinUCBCompMemory]] = LinUCBCompMemory
    terms_kind: ClassVar[type[LinUCBPaperTerms]] = LinUCBPaperTerms

    def __init__(
        self,
        identity: Identity,
        run: str,
        *,
        key_bits: int = 3072,
        insecure_key_bits: int | None = None,
        order: bytes | None = None,
        workers: int = 1,
        snapshot: bytes | None = None,
    ) -> None:
        self._identity = identity
        self._order = order
        self._workers = workers
        self._minimum_bits = min(insecure_key_bits or SECURE_BITS, SECURE_BITS)
        self._decryptions = self._encryptions = 0
        if snapshot is None:
            self._key = generate_keypair(key_bits, insecure_bits=insecure_key_bits)
            self._memory = self.memory_kind(
                party=identity.name, run=run, private_key=self._key.to_bytes()
            )
        else:
            self._memory = restored(self.memory_kind, snapshot, identity.name, run)
            self._key = PrivateKey.from_bytes(
                self._memory.private_key, minimum_bits=self._minimum_bits
            )

    def operations(self) -> Mapping[str, int]:
        return {
            "paillier_decryptions": self._decryptions,
            "paillier_encryptions": self._encryptions,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None:
            yield Checkpoint(memory.dump)
            memory.terms = yield from self._setup()
        with Workers(self._workers) as workers:
            try:
                yield from self._compare(memory.terms, workers)
            finally:
                self.cpu_elsewhere = workers.cpu_seconds
        yield from self._switch_keys(memory.terms)

    def _setup(self) -> Steps[LinUCBPaperTerms]:
        setup: LinUCBSetup = yield Receive("principal", LinUCBSetup)  # step 1
        memory = self._memory
        terms = accept(self.terms_kind, setup, self._identity, memory.run, self._order)
        public_key_from(terms.customer_key, self._minimum_bits, "customer")
        public = self._key.public.to_bytes()
        signature = self._identity.sign(public, run=memory.run, purpose=COMP_KEY, recipient="owner")
        yield Send("principal", CompKey(public, signature))
        shape: LinUCBShape = yield Receive("principal", LinUCBShape)
        if not 2 <= shape.k < MOST_ARMS:
            raise ProtocolError(f"principal sent an impossible number of arms: {shape.k}")
        memory.k, memory.t = shape.k, 1
        return terms

    def _compare(self, terms: LinUCBPaperTerms, workers: Workers) -> Steps[None]:
        memory, key = self._memory, self._key
        layout = PackedLayout(key.public.bits, memory.k, terms.slot_bits)
        for t in range(memory.t, terms.places):
            memory.t = t
            yield Checkpoint(memory.dump, t)
            message: PackedScores = yield Receive("principal", PackedScores)  # step 3
            if message.t != place_of(t):
                raise ProtocolError(f"principal sent scores of a round other than {t}")
            try:
                ciphertexts = layout.read(message.packed, key.public)
                plaintexts = key.decrypt_batch(ciphertexts, workers, layout.plaintext_bits)
                winner = _first_maximum(layout, plaintexts)
            except CryptoError as error:
                raise ProtocolError(
                    f"principal sent unusable scores in round {t}: {error}"
                ) from None
            self._decryptions += layout.ciphertexts
            yield Send("principal", Winner(message.t, position_of(winner)))  # step 4
        memory.t = terms.places

    def _switch_keys(self, terms: LinUCBPaperTerms) -> Steps[None]:
        memory = self._memory
        yield Checkpoint(memory.dump, memory.t)
        message: MaskedSum = yield Receive("principal", MaskedSum)  # step 5
        masked = self._key.decrypt(ciphertext_from(message.masked, self._key.public, "principal"))
        self._decryptions += 1
        customer = public_key_from(terms.customer_key, self._minimum_bits, "customer")
        try:
            switched = customer.encrypt(masked)
        except InputError:
            raise ProtocolError(
                "principal sent a sum that is too large for the customer's key: it was altered on "
                "its way; start a new run"
            ) from None
        self._encryptions += 1
        yield Send("principal", SwitchedSum(switched.to_bytes()))  # step 6


def _first_maximum(layout: PackedLayout, plaintexts: list[int]) -> int:
    """The position of the largest score; of equal ones the first, in the order that P permuted."""
    if layout.slot_bits == 64:
        return int(layout.unpack_uint64(plaintexts).argmax())
    scores = layout.unpack(plaintexts)
    return scores.index(max(scores))
