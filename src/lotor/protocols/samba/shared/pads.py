"""What an owner and Comp draw from the key that only these two have, each draw for one use."""

from collections.abc import Mapping

import numpy as np

from lotor.core.draws import Words
from lotor.crypto.prf import ROUNDS_AHEAD, Prf

_SHARES, _TAGS, _COLOURS = range(3)


class OwnerPads:
    """The draws for one owner's arms."""

    def __init__(self, key: bytes, held: int) -> None:
        self._prf = Prf(key, range(held), ahead=ROUNDS_AHEAD)

    def __repr__(self) -> str:
        return "<OwnerPads>"

    def shares(self, t: int, l: int) -> tuple[int, ...]:
        """b_i of each arm: Comp's share of its score, 63 bits."""
        return tuple(word >> 1 for word in self._prf.integers(_SHARES, t, l))

    def tags(self, t: int, l: int) -> tuple[int, ...]:
        """What covers the tag of each arm's result."""
        return self._prf.integers(_TAGS, t, l)

    def colours(self, t: int, l: int) -> tuple[int, ...]:
        """What covers the colour of each arm's result, a bit."""
        return tuple(word & 1 for word in self._prf.integers(_COLOURS, t, l))


class AllPads:
    """The same for the arms of all owners, as Comp needs them."""

    def __init__(self, keys: Mapping[str, bytes], owners: Mapping[str, int]) -> None:
        self._prfs = [
            Prf(keys[owner], range(held), ahead=ROUNDS_AHEAD) for owner, held in owners.items()
        ]

    def __repr__(self) -> str:
        return "<AllPads>"

    def shares(self, t: int, l: int) -> Words:
        return self._words(_SHARES, t, l) >> np.uint64(1)

    def tags(self, t: int, l: int) -> Words:
        return self._words(_TAGS, t, l)

    def colours(self, t: int, l: int) -> Words:
        return self._words(_COLOURS, t, l) & np.uint64(1)

    def _words(self, label: int, t: int, l: int) -> Words:
        return np.concatenate([prf.words(label, t, l) for prf in self._prfs])
