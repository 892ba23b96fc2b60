"""P with live rewards: knows the arms and which are pulled, and rewards encrypted only."""

from lotor.crypto.paillier import Ciphertext, PublicKey
from lotor.protocols.linucb_ds.live.game import LiveGame, LivePrincipalMemory
from lotor.protocols.linucb_ds.live.messages import LiveCatalogue, LiveTotal
from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.linucb_ds.paper.principal import KeyedPrincipal


class LivePrincipal(KeyedPrincipal[LivePrincipalMemory, LiveGame, LiveCatalogue]):
    """Figure 4 (a), with the b* that the paper has."""

    memory_kind = LivePrincipalMemory
    terms_kind = LiveTerms
    model_kind = LiveCatalogue
    game_kind = LiveGame

    def _check_model(self, model: LiveCatalogue, comp: PublicKey) -> None:  # noqa: ARG002
        model.check(model.d)

    def _total(self, game: LiveGame, total: Ciphertext) -> LiveTotal:  # noqa: ARG002
        return LiveTotal(total.to_bytes())
