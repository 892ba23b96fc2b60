"""The dealer: a third operator, who provides correlated randomness and is told nothing."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import Bits, PadCipher, Pads
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.two_server.checks import ATTEMPT, check_place, place_of
from lotor.protocols.two_server.messages import WIRE, Corrections, More, PadKey
from lotor.protocols.two_server.schedule import CircuitUse, DealerSchedule, ServerSeats


class DealerMemory(Memory, tag=WIRE + "dealer"):
    """Both servers' pad keys, which nobody else has together; `t` counts its messages."""

    pad_keys: tuple[bytes, bytes]


class Dealer(Party):
    """Deals for every circuit of a run, a batch of messages whenever the second server asks.

    It learns when batches begin, and nothing else. What it deals is a function of its keys, so that
    it deals the same again after a crash. A subclass may be given values that circuits ask for
    (`_given`, by the number of the circuit) and learn its schedule in its own set-up.
    """

    memory_kind: ClassVar[type[DealerMemory]] = DealerMemory
    _memory: DealerMemory

    def __init__(
        self,
        run: str,
        digest: bytes,
        seats: ServerSeats,
        schedule: DealerSchedule,
        *,
        snapshot: bytes | None = None,
    ) -> None:
        self._run = run
        self._digest = digest
        self._seats = seats
        self._schedule = schedule
        self._dealt = 0
        self._memory = (
            self.memory_kind(party=seats.dealer, run=run, pad_keys=(new_key(), new_key()))
            if snapshot is None
            else restored(self.memory_kind, snapshot, seats.dealer, run)
        )
        self._given: Mapping[int, Sequence[Bits]] = {}
        self._ciphers = [PadCipher(key) for key in self._memory.pad_keys]

    def operations(self) -> Mapping[str, int]:
        return {"correction_bytes": self._dealt}

    def steps(self) -> Steps[None]:
        memory, second = self._memory, self._seats.second
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            yield from self._agree()
            for server, key in zip(self._seats[:2], memory.pad_keys, strict=True):
                yield Send(server, PadKey(self._digest, key))
            memory.t = 1
        schedule = self._schedule
        for number in range(memory.t, schedule.messages + 1):
            if schedule.begins_batch(number):
                memory.t = number
                yield Checkpoint(memory.dump, number)
                if number > 1:
                    wanted: More = yield Receive(second, More)
                    check_place(wanted, place_of(number), second)
            shares = b"".join(self._deal(use) for use in schedule.uses(number))
            self._dealt += len(shares)
            yield Send(second, Corrections(place_of(number), shares))

    def _agree(self) -> Steps[None]:
        """What comes before the servers are given their keys."""
        yield from ()

    def _deal(self, use: CircuitUse) -> bytes:
        recipe, number = use.circuit.recipe, use.circuit.number
        first, second = (
            Pads(cipher, recipe.pad_bytes(first=p == 0), t=use.t, attempt=ATTEMPT, circuit=number)
            for p, cipher in enumerate(self._ciphers)
        )
        return recipe.deal(first, second, given=self._given.get(number, ()))
