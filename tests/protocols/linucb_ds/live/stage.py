"""What the tests of live rewards share: small runs, and worlds that pay."""

from collections.abc import Callable

import lotor
from helpers import Outcome
from lotor.core.effects import Decision
from lotor.core.views import View
from lotor.crypto.paillier import Ciphertext
from lotor.policies.linear import LinearPolicy
from lotor.protocols.linucb_ds.live.messages import LiveTotal
from protocols.linucb_ds import stage
from protocols.linucb_ds.stage import BITS, small_key

VECTORS = [[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [0.5, -0.5]]
RING = [[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]]


def live(policy: LinearPolicy | None = None) -> lotor.LinUCBDS:
    """The protocol for a policy, with keys that protect nothing."""
    kind = lotor.SpectralUCBDS if isinstance(policy, lotor.SpectralUCB) else lotor.LinUCBDS
    default = kind.policy_kind()()
    return kind(policy or default, insecure_key_bits=BITS, form="paper", rewards="live")


def paid(decision: Decision) -> float:
    """A reward that depends on the decision alone, and not linearly."""
    return (decision.arm * 7919 + decision.round * 104729) % 1000 / 1000


SHOP = lotor.VectorArms(VECTORS, paid)
NODES = lotor.VectorArms.on_graph(RING, paid)


def shop(pull: Callable[[Decision], float], low: float, high: float) -> lotor.VectorArms:
    return lotor.VectorArms(VECTORS, pull, reward_range=(low, high))


def view(outcome: Outcome, *seats: str) -> View:
    return stage.view(outcome, *seats)


def decrypted_total(outcome: Outcome) -> int:
    """What the customer reads."""
    (message,) = stage.messages_of(outcome, LiveTotal)
    assert isinstance(message, LiveTotal)
    key = small_key("customer")
    return key.decrypt(Ciphertext.from_bytes(message.total, key.public))
