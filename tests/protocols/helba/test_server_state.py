"""What the server has written down adds up to what it knew, whenever batches end."""

from copy import deepcopy
from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.crypto.ckks import Encrypted
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper import server_state
from lotor.protocols.helba.paper.bounds import RootBounds
from lotor.protocols.helba.paper.index_circuit import Numbers
from lotor.protocols.helba.paper.server_state import ServerSums, StoredSums
from lotor.protocols.store import MemoryStore

ROUNDS, EVERY = 60, 4
D, NUMBERS = 2, 5


@dataclass(frozen=True)
class Number:
    """Stands for a ciphertext: its bytes are what it is."""

    value: int

    def __add__(self, other: "Number") -> "Number":
        return Number(self.value + other.value)

    @property
    def ciphertext(self) -> "Number":
        return self

    def to_bytes(self) -> bytes:
        return self.value.to_bytes(8, "big")


def load(listed: object) -> list[Encrypted]:
    numbers = [Number(int.from_bytes(data, "big")) for data in cast("list[bytes]", listed)]
    return cast("list[Encrypted]", numbers)


def update(t: int) -> list[bytes]:
    """Of round t: one bit of its own, so that sums say which rounds are in them."""
    return [(1 << t).to_bytes(8, "big")] * NUMBERS


def rounds_before(t: int) -> int:
    return sum(1 << s for s in range(1, t))


def value(sums: Numbers[Encrypted]) -> int:
    (number,) = set(cast("tuple[Number, ...]", sums))
    return number.value


@pytest.mark.parametrize("asked_within", [False, True])
@given(ends=st.sets(st.integers(2, ROUNDS)), eta=st.sampled_from([0.0, 0.1, 1.0, 50.0]))
def test_what_is_restored_is_what_was_known(asked_within: bool, ends: set[int], eta: float) -> None:
    """A batch begins before its round's first checkpoint, or is asked for after that."""
    bounds = RootBounds(BatchedOFUL(eta=eta), D, ROUNDS, 1.0, 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server_state, "REWRITE_ROUNDS", EVERY)
        store, written, start = MemoryStore(), StoredSums(), 1
        known = ServerSums(load([bytes(8)] * NUMBERS))

        def write(t: int) -> None:
            known.write(written, store, bounds, t=t, start=start)
            again = ServerSums.restored(deepcopy(written), start, store, load)
            assert value(again.sums) == value(known.sums) == rounds_before(t)
            assert value(again.batch_start) == rounds_before(start)
            known.written_down()
            store.retain(set(written.names()))

        for t in range(1, ROUNDS):
            begins = t in ends or bounds.start(t, start) == t
            if asked_within:
                write(t)
            if begins:
                start = t
                known.begin_batch()
            write(t)
            known.add(update(t), load(update(t)))
