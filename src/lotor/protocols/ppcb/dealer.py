"""The dealer: a third operator, who provides correlated randomness and is told nothing."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import PadCipher, Pads
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.ppcb.messages import Corrections, More, PadKey
from lotor.protocols.ppcb.recipes import Recipes
from lotor.protocols.ppcb.terms import FIRST, SECOND, Terms
from lotor.protocols.ppcb.wire import ATTEMPT, check_place, place_of

# So many bytes of corrections may be under way, and so many steps.
BYTES_AHEAD = 4 << 20
MOST_AHEAD = 16


def batch_of(recipes: Recipes) -> int:
    """How many messages are sent in one go: while one batch is used the next is under way."""
    size = sum(recipe.correction_bytes for recipe in recipes.by_circuit.values())
    return max(1, min(MOST_AHEAD, BYTES_AHEAD // max(size, 1)) // 2)


class DealerMemory(Memory, tag="ppcb/1/dealer"):
    """Both servers' pad keys. Nobody else has both."""

    pad_keys: tuple[bytes, bytes]


class Dealer(Party):
    """Lines 8 and 12's store of triples; the samples themselves the servers draw.

    It learns when some steps begin, and nothing else.
    """

    def __init__(self, terms: Terms, *, snapshot: bytes | None = None) -> None:
        self._terms = terms
        self._dealt = 0
        self._memory = (
            DealerMemory(party="dealer", run=terms.run, pad_keys=(new_key(), new_key()))
            if snapshot is None
            else restored(DealerMemory, snapshot, "dealer", terms.run)
        )
        self._ciphers = [PadCipher(key) for key in self._memory.pad_keys]

    def operations(self) -> Mapping[str, int]:
        return {"correction_bytes": self._dealt}

    def steps(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            for server, key in zip((FIRST, SECOND), memory.pad_keys, strict=True):
                yield Send(server, PadKey(terms.digest, key))
            memory.t = 1
        recipes = Recipes(terms)
        batch = batch_of(recipes)
        for t in range(memory.t, recipes.messages + 1):
            if (t - 1) % batch == 0:
                memory.t = t
                yield Checkpoint(memory.dump, t)
                if t > 1:
                    wanted: More = yield Receive(SECOND, More)
                    check_place(wanted, place_of(t), SECOND)
            shares = b"".join(self._deal(recipes, *part) for part in recipes.dealt_together(t))
            self._dealt += len(shares)
            yield Send(SECOND, Corrections(place_of(t), shares))

    def _deal(self, recipes: Recipes, t: int, circuit: int) -> bytes:
        recipe = recipes.by_circuit[circuit]
        first, second = (
            Pads(cipher, recipe.pad_bytes(first=p == 0), t=t, attempt=ATTEMPT, circuit=circuit)
            for p, cipher in enumerate(self._ciphers)
        )
        return recipe.deal(first, second)
