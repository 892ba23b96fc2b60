"""P, the principal node, as it is built in every form."""

from collections.abc import Mapping
from typing import Generic, TypeVar

from lotor.core.fixed_point import Floats
from lotor.crypto.prf import new_key
from lotor.protocols.kept_linear import KeptLinear
from lotor.protocols.linear_draws import PURPOSES
from lotor.protocols.linucb_ds.game import LinearPrincipalMemory, PrincipalGame
from lotor.protocols.memory import restored
from lotor.protocols.party import Party

M = TypeVar("M", bound=LinearPrincipalMemory)


class LinearPrincipal(Party, Generic[M]):
    """Knows the arms and which are pulled, and nothing of theta.

    A simulation gives `keys` (the first arm, ties, noise and samples), `noise` and `first`;
    elsewhere P draws them itself. `kept` is what it kept of the run that is continued.
    """

    memory_kind: type[M]
    own_keys: tuple[str, ...] = ()
    """What a form draws keys for, besides."""

    game: PrincipalGame | None = None
    """What it plays, once it is set up."""

    def __init__(
        self,
        run: str,
        *,
        keys: Mapping[str, bytes] | None = None,
        noise: Floats | None = None,
        first: int | None = None,
        order: bytes | None = None,
        kept: KeptLinear | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._noise = noise
        self._first = first
        self._order = order
        drawn = {purpose: new_key() for purpose in (*PURPOSES, *self.own_keys)}
        self._memory: M = (
            self.memory_kind(party="principal", run=run, keys={**drawn, **(keys or {})}, kept=kept)
            if snapshot is None
            else restored(self.memory_kind, snapshot, "principal", run)
        )

    def _keep(self, game: PrincipalGame) -> None:
        """At the very end."""
        if game.terms.keep:
            self.kept = game.to_keep()
