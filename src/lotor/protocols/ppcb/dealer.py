"""The dealer: a third operator, who provides correlated randomness and is told nothing."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import Pads
from lotor.protocols.memory import Memory, restored
from lotor.protocols.ppcb.messages import Corrections, More, PadKey
from lotor.protocols.ppcb.recipes import Recipes
from lotor.protocols.ppcb.terms import FIRST, SECOND, Terms
from lotor.protocols.ppcb.wire import ATTEMPT, DECIDE, LEARN, check_place, place_of

# So many bytes of corrections may be under way, and at least this many steps.
BYTES_AHEAD = 4 << 20
MOST_AHEAD = 16


def ahead(recipes: Recipes) -> int:
    """How many steps are dealt before they are needed."""
    size = sum(recipe.correction_bytes for recipe in recipes.by_circuit.values())
    return max(2, min(MOST_AHEAD, BYTES_AHEAD // max(size, 1)))


class DealerMemory(Memory, tag="ppcb/1/dealer"):
    """Both servers' pad keys. Nobody else has both."""

    pad_keys: tuple[bytes, bytes]


class Dealer:
    """Lines 8 and 12's store of triples; the samples themselves the servers draw.

    It learns when a step begins, and nothing else.
    """

    def __init__(self, terms: Terms, *, snapshot: bytes | None = None) -> None:
        self._terms = terms
        self._dealt = 0
        self._memory = (
            DealerMemory(party="dealer", run=terms.run, pad_keys=(new_key(), new_key()))
            if snapshot is None
            else restored(DealerMemory, snapshot, "dealer", terms.run)
        )

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
        window = ahead(recipes)
        for t in range(memory.t, terms.steps + 1):
            memory.t = t
            yield Checkpoint(memory.dump, t)
            if t > window:
                wanted: More = yield Receive(SECOND, More)
                check_place(wanted, place_of(t), SECOND)
            for circuit in (DECIDE, LEARN):
                if not recipes.needed(t, circuit):
                    continue
                shares = self._deal(recipes, t, circuit)
                self._dealt += len(shares)
                yield Send(SECOND, Corrections(place_of(t, circuit), shares))

    def _deal(self, recipes: Recipes, t: int, circuit: int) -> bytes:
        recipe = recipes.by_circuit[circuit]
        first, second = (
            Pads(key, recipe.pad_bytes(first=p == 0), t=t, attempt=ATTEMPT, circuit=circuit)
            for p, key in enumerate(self._memory.pad_keys)
        )
        return recipe.deal(first, second)
