"""What the two computing servers have in common, with a dealer or without."""

from collections.abc import Iterable, Mapping
from math import prod
from typing import Protocol

import numpy as np

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import JournalError
from lotor.crypto.sharing import Shared, Words
from lotor.protocols.contextual_draws import ServerDraws
from lotor.protocols.memory import Memory
from lotor.protocols.party import Party
from lotor.protocols.ppcb.chosen_arm import LearntModel
from lotor.protocols.ppcb.kept_model import KeptModel
from lotor.protocols.ppcb.messages import Acted, AllPulled, Due, Features, Next
from lotor.protocols.ppcb.owner import AHEAD, TOGETHER
from lotor.protocols.ppcb.shape import Chance, Weights, words_in
from lotor.protocols.ppcb.terms import SEATS, PPCBTerms
from lotor.protocols.two_server.checks import check_place, place_of
from lotor.protocols.two_server.messages import PlacedShares


class Sharing(Protocol):
    """One of two servers that compute on shares: what a role needs of it besides circuits."""

    def operations(self) -> Mapping[str, int]: ...

    def set_up(
        self, digest: bytes, *, readers: Iterable[str], sources: Iterable[str]
    ) -> Steps[None]: ...

    def take_input(
        self, name: str, kind: type[PlacedShares], t: int, count: int
    ) -> Steps[Words]: ...

    def reshared(self, kept: Shared) -> Shared: ...


class PPCBComputingMemory(Memory, kw_only=True):
    """The key of its draws, and its shares of what was learnt."""

    draw_key: bytes
    table: bytes = b""
    vectors: bytes = b""


class PPCBComputing(Party):
    """A server: all that it does around its circuits."""

    _memory: PPCBComputingMemory
    _sharing: Sharing

    def __init__(self, number: int, terms: PPCBTerms) -> None:
        self._name, self._first = SEATS[number], number == 0
        self._terms, self._shape = terms, terms.shape
        self._model: LearntModel

    def operations(self) -> Mapping[str, int]:
        return self._sharing.operations()

    def _begin(self, kept: KeptModel | None, vectors: tuple[int, ...]) -> None:
        """With the model of its memory, or a kept one, or that of lines 1 to 3."""
        memory, shape, first = self._memory, self._shape, self._first
        self._draws = ServerDraws(memory.draw_key, shape.arms)
        if not memory.table:
            ridge = self._terms.learner.ridge
            begin = (
                Weights.initial(shape, ridge, first=first)
                if kept is None
                else kept.weights(shape, first=first)
            )
            nothing = Shared(np.zeros(vectors, np.uint64), first=first)
            self._model = LearntModel(begin.table, nothing)
            return
        columns = shape.entries + shape.features
        sizes = len(memory.table), len(memory.vectors)
        if sizes != (8 * shape.arms * columns, 8 * prod(vectors)):
            raise JournalError(
                f"a snapshot does not belong to a run of {shape.arms} arms and {shape.features} "
                "features: the journal is damaged or of another run; restore its last copy"
            )
        self._model = LearntModel(
            words_in(memory.table, shape.arms, columns, first=first),
            words_in(memory.vectors, *vectors, first=first),
        )

    def _snapshot(self) -> bytes:
        memory = self._memory
        memory.table = self._model.table.share.tobytes()
        memory.vectors = self._model.vectors.share.tobytes()
        return memory.dump()

    def _set_up(self) -> Steps[None]:
        terms = self._terms
        readers, sources = ["actor"], list(terms.owners)
        # Of a prediction there are no rewards: p'' brings nothing.
        (readers if terms.predicts else sources).append("receiver")
        yield from self._sharing.set_up(terms.digest, readers=readers, sources=sources)
        if terms.continued is not None:
            table = self._sharing.reshared(self._model.table)
            self._model = LearntModel(table, self._model.vectors)

    def _take_features(self, t: int) -> Steps[Words]:
        """Lines 5 to 7: the context is the parties' features, one after the other."""
        parts = []
        for name, count in self._terms.owners.items():
            parts.append((yield from self._sharing.take_input(name, Features, t, count)))
            asks = not self._first and t % TOGETHER == 0
            if asks and t + AHEAD - TOGETHER < self._terms.steps:
                yield Send(name, Next(place_of(t + AHEAD - TOGETHER + 1)))
        return np.concatenate(parts)

    def _chance(self, t: int) -> Chance:
        """Lines 8 and 12: this server's part of them."""
        return Chance.drawn(self._draws, self._terms.before + t)

    def _hear_acted(self, t: int) -> Steps[None]:
        """The first server hears that p' has pulled the arm, and tells p'' of the reward."""
        if self._first:
            acted: Acted = yield Receive("actor", Acted)
            check_place(acted, place_of(t), "actor")
            if not self._terms.predicts:
                yield Send("receiver", Due(place_of(t)))

    def _end(self) -> Steps[None]:
        terms = self._terms
        if terms.predicts and self._first:
            yield Send("receiver", AllPulled(place_of(terms.steps)))
        if terms.keep:
            self.kept = KeptModel.of(self._name, terms, self._model.table).to_bytes()
