"""One of two servers that compute on shares: its circuits, the inputs it takes, what it tells.

All that a circuit opens is a function of its inputs, of keys and of the dealer's pads. A protocol
must write inputs down before it computes on them: after a crash the same values are opened again
then, and no pad ever covers two different ones.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar, TypeVarTuple

import msgspec

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import CryptoError, InputError
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import (
    Bits,
    PadCiphers,
    Pads,
    ServerEngine,
    Shared,
    Words,
    due,
    joined,
    to_message,
)
from lotor.protocols.two_server.checks import (
    ATTEMPT,
    check_agreed,
    check_place,
    check_size,
    key_from,
    place_of,
    words_from,
)
from lotor.protocols.two_server.masks import (
    MaskOrder,
    input_mask,
    number_blind,
    reshared,
    result_blind,
)
from lotor.protocols.two_server.messages import (
    Agreed,
    BlindKey,
    Corrections,
    InputKey,
    More,
    Opened,
    PadKey,
    PlacedShares,
)
from lotor.protocols.two_server.schedule import AnyCircuit, DealerSchedule, ServerSeats, StepCircuit

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class SharingKeys(msgspec.Struct):
    """The keys of one server, as its memory holds them.

    Both servers know `blind`, the dealer knows `pads`, and whoever brings inputs knows their key.
    The second server has no input keys.
    """

    blind: bytes = b""
    pads: bytes = b""
    inputs: dict[str, bytes] = msgspec.field(default_factory=dict)

    def __repr__(self) -> str:
        return "<SharingKeys>"

    @classmethod
    def fresh(cls, number: int) -> "SharingKeys":
        """What a server has before the run begins; the first one draws the blind key."""
        return cls(new_key() if number == 0 else b"")


class SharingServer:
    """Server `number` (0 or 1) of a run: a protocol's server role has one.

    `keys` belong to the role's memory, which is written down by the role; `set_up` fills them in.
    """

    def __init__(
        self, number: int, seats: ServerSeats, schedule: DealerSchedule, keys: SharingKeys
    ) -> None:
        self.first = number == 0
        self._seats = seats
        self._other = seats[1 - number]
        self._schedule = schedule
        # Traced here, so that the first step takes no longer than the others.
        self._recipes = {circuit.number: circuit.recipe for circuit in schedule.circuits}
        self._keys = keys
        self._ciphers = PadCiphers()
        self._corrections: dict[tuple[int, int], memoryview] = {}
        self._computed, self._told = MaskOrder("circuit"), MaskOrder("result")
        self._rounds = self._opened_bytes = 0

    def __repr__(self) -> str:
        return f"<SharingServer {'first' if self.first else 'second'}>"

    def operations(self) -> Mapping[str, int]:
        # Rounds are the same at both servers, and are counted once.
        rounds = {"rounds": self._rounds} if self.first else {}
        return {**rounds, "opened_bytes": self._opened_bytes}

    def set_up(
        self, digest: bytes, *, readers: Iterable[str], sources: Iterable[str]
    ) -> Steps[None]:
        """Make sure that everybody keeps the same terms, and take the keys of the run.

        `readers` bring no inputs, and `sources` do.
        """
        keys, other, dealer = self._keys, self._other, self._seats.dealer
        yield Send(other, Agreed(digest))
        yield from self._hear_agreed(other, digest)
        if self.first:
            yield Send(other, BlindKey(digest, keys.blind))
        else:
            blinding: BlindKey = yield Receive(other, BlindKey)
            keys.blind = key_from(blinding, digest, other)
        dealt: PadKey = yield Receive(dealer, PadKey)
        keys.pads = key_from(dealt, digest, dealer)
        for name in readers:
            yield from self._hear_agreed(name, digest)
        for name in sources:
            if self.first:
                given: InputKey = yield Receive(name, InputKey)
                keys.inputs[name] = key_from(given, digest, name)
            else:
                yield from self._hear_agreed(name, digest)

    @staticmethod
    def _hear_agreed(name: str, digest: bytes) -> Steps[None]:
        agreed: Agreed = yield Receive(name, Agreed)
        check_agreed(agreed, digest, name)

    def take_input(
        self, name: str, kind: type[PlacedShares], t: int, count: int, number: int = 0
    ) -> Steps[Words]:
        """This server's share of so many words that a party brings in step t."""
        if self.first:
            return input_mask(self._ciphers.of(self._keys.inputs[name]), t, count, number)
        message: PlacedShares = yield Receive(name, kind)
        check_place(message, place_of(t, number), name)
        return words_from(message.shares, count, name, t)

    def tell_bits(
        self, name: str, kind: type[PlacedShares], t: int, bits: Bits, number: int = 0
    ) -> Steps[None]:
        """Send this server's share of bits, a byte each, to a party that alone may know them.

        Where a step tells several results, each has a `number` of its own.
        """
        self._told.take(t, number)
        blind = result_blind(self._ciphers.of(self._keys.blind), t, len(bits), number)
        yield Send(name, kind(place_of(t, number), (bits ^ blind).tobytes()))

    def blind_number(self, t: int, share: int, size: int, number: int = 0) -> int:
        """This server's share of a large number, modulo 256^size, for the party that may know it.

        Both servers put the same mask on it, which cancels out: see `BlindKey`.
        """
        self._told.take(t, number)
        blind = number_blind(self._ciphers.of(self._keys.blind), t, size, number)
        return (share + blind if self.first else share - blind) % (1 << 8 * size)

    def reshared(self, kept: Shared) -> Shared:
        """The same value in shares that are fresh."""
        return reshared(self._ciphers.of(self._keys.blind), kept)

    def compute(self, t: int, circuit: StepCircuit[T, *Ts], *inputs: *Ts) -> Steps[T]:
        """Run a circuit with the other server, round by round; a result is this server's share."""
        engine = yield from self._engine(t, circuit)
        steps = circuit.compute(engine, *inputs)
        round_number = 0
        try:
            asked = next(steps)
            while True:
                place = place_of(t, circuit.number, round_number)
                message = to_message(asked)
                yield Send(self._other, Opened(place, message))
                reply: Opened = yield Receive(self._other, Opened)
                check_place(reply, place, self._other)
                check_size(reply.shares, due(asked), self._other, t)
                self._rounds += 1
                self._opened_bytes += len(message)
                asked = steps.send(joined(asked, reply.shares, self._other))
                round_number += 1
        except StopIteration as end:
            result: T = end.value
            return result
        except InputError as error:
            raise type(error)(f"step {t}: {error}") from None

    def _engine(self, t: int, circuit: AnyCircuit) -> Steps[ServerEngine]:
        """The correlated randomness of this circuit in this step, which nothing else uses."""
        self._use_once(t, circuit)
        pads = Pads(
            self._ciphers.of(self._keys.pads),
            self._recipes[circuit.number].pad_bytes(first=self.first),
            t=t,
            attempt=ATTEMPT,
            circuit=circuit.number,
        )
        if self.first:
            return ServerEngine(pads)
        if (t, circuit.number) not in self._corrections:
            yield from self._take_corrections(t + circuit.later)
        return ServerEngine(pads, self._corrections.pop((t, circuit.number)))

    def _use_once(self, t: int, circuit: AnyCircuit) -> None:
        """Refuse what would use pads twice, or pads that nobody deals."""
        if not circuit.first <= t <= circuit.last:
            raise CryptoError(
                f"circuit {circuit.number} is not due in step {t}, and nothing is dealt for it: it "
                f"is computed in steps {circuit.first} to {circuit.last}"
            )
        self._computed.take(t, circuit.number, circuit.later)

    def _take_corrections(self, number: int) -> Steps[None]:
        """The dealer's next message; where it begins a batch the one after that is asked for."""
        schedule, dealer = self._schedule, self._seats.dealer
        following = number + schedule.batch
        if schedule.begins_batch(number) and following <= schedule.messages:
            yield Send(dealer, More(place_of(following)))
        message: Corrections = yield Receive(dealer, Corrections)
        check_place(message, place_of(number), dealer)
        uses = schedule.uses(number)
        sizes = [self._recipes[use.circuit.number].correction_bytes for use in uses]
        check_size(message.shares, sum(sizes), dealer, number)
        rest = memoryview(message.shares)
        for use, size in zip(uses, sizes, strict=True):
            self._corrections[use.t, use.circuit.number], rest = rest[:size], rest[size:]
