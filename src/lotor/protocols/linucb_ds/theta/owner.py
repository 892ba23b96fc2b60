"""The data owner DO where theta is shared: P gets one share, and the holders the other's key."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.prf import new_key
from lotor.crypto.signing import Identity
from lotor.environments import LinearArms
from lotor.protocols.kept_linear import described
from lotor.protocols.linucb_ds.messages import WIRE, LinUCBSetup
from lotor.protocols.linucb_ds.terms import accept
from lotor.protocols.linucb_ds.theta.handing_out import ThetaHolding, seal_share_key
from lotor.protocols.linucb_ds.theta.messages import HolderKey, ModelShare
from lotor.protocols.linucb_ds.theta.shares import other_share, to_bytes
from lotor.protocols.linucb_ds.theta.terms import SharingTerms
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.plain.linear import linear_layout


class ThetaOwnerMemory(Memory, tag=WIRE + "theta-owner"):
    """Theta stays where the owner keeps it; one share of it follows from this key.

    It is the same after a crash: with another one, the shares sent before and after would differ.
    """

    share_key: bytes


class ThetaOwner(Party):
    """Step 1 of Figure 3, with shares in the place of ciphertexts."""

    def __init__(
        self,
        identity: Identity,
        run: str,
        arms: LinearArms,
        terms_kind: type[SharingTerms],
        *,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._identity = identity
        self._arms = arms
        self._terms_kind = terms_kind
        self._order = order
        self._sealed = 0
        self._memory = (
            ThetaOwnerMemory(party=identity.name, run=run, share_key=new_key())
            if snapshot is None
            else restored(ThetaOwnerMemory, snapshot, identity.name, run)
        )

    def operations(self) -> Mapping[str, int]:
        return {
            "hpke_seals": self._sealed,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        yield Checkpoint(memory.dump)
        setup: LinUCBSetup = yield Receive("principal", LinUCBSetup)
        terms = accept(self._terms_kind, setup, self._identity, memory.run, self._order)
        offers = []
        for holder in terms.holders:
            offer: HolderKey = yield Receive("principal", HolderKey)
            if offer.holder != holder:
                raise ProtocolError(f"principal passed on a key of {offer.holder}, not of {holder}")
            offers.append(offer)
        yield Send("principal", self._model(terms, offers))  # step 1

    def _model(self, terms: SharingTerms, offers: list[HolderKey]) -> ModelShare:
        arms, policy = self._arms, terms.check(self._memory.run)
        policy.check_theta(arms.theta, arms.eigenvalues)
        theta = linear_layout(arms.vectors, policy, terms.slot_bits).theta(arms.theta)
        holding = ThetaHolding(arms.k, arms.d, self._memory.share_key)
        keys = [seal_share_key(terms, self._identity, offer, holding) for offer in offers]
        self._sealed += len(keys)
        scores, total = terms.score_modulus, terms.total_modulus
        return ModelShare(
            **described(arms),
            theta=to_bytes(other_share(theta, holding.in_scores(terms), scores), scores),
            total=to_bytes(other_share(theta, holding.in_total(terms), total), total),
            keys=keys,
        )
