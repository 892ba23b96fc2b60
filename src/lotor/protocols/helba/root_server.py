"""The server with the paper's index: the user says when a batch ends, and refreshes estimates."""

from lotor.core.effects import Receive, Send, Steps
from lotor.crypto.ckks import Encrypted, Mask, add_mask, flood, take_mask_off
from lotor.protocols.helba.index_circuit import Numbers
from lotor.protocols.helba.messages import Bit, Doubt, Masked, Refreshed, Verdict
from lotor.protocols.helba.root import MASK_WIDTH, RootCircuit, new_coin
from lotor.protocols.helba.server import Server
from lotor.protocols.helba.setting import HelbaSetting
from lotor.protocols.helba.uploads import checked
from lotor.protocols.helba.wire import check_place, place_of, refreshed_shape
from lotor.protocols.store import Store


class HelpedServer(Server):
    """Line 15 with the user's help; it learns one bit in each round that asks condition (8)."""

    def __init__(
        self, setting: HelbaSetting, store: Store, *, snapshot: bytes | None = None
    ) -> None:
        super().__init__(setting, store, snapshot=snapshot)
        self._circuit = RootCircuit.of(setting.circuit)

    def _restore(self) -> None:
        super()._restore()
        # What cannot be used is to be known now, while the run can still wait for its operator.
        for name in self._memory.help.names():
            self._store.fetch(name)

    def _begin(self, t: int) -> None:
        """Nothing: whether a batch begins with round t is asked within the round."""

    @property
    def _begun(self) -> bool:
        help_ = self._memory.help
        asked = bool(help_.doubt) or (self._memory.t > 1 and help_.decided == self._memory.t)
        return super()._begun or asked

    def _renew(self, t: int) -> Steps[None]:
        help_ = self._memory.help
        if help_.decided < t:
            ends = yield from self._ends(t)
            help_.decided, help_.doubt, help_.coin = t, b"", 0
            if ends:
                yield from self._mask(t)
        if help_.masked:
            yield from self._refresh(t)

    def _ends(self, t: int) -> Steps[bool]:
        """Whether a new batch starts with round t."""
        memory, bounds, help_ = self._memory, self._setting.bounds, self._memory.help
        if bounds.start(t, memory.start) == t:
            return True
        if bounds.policy.C is None:
            return False
        if not help_.doubt:
            help_.coin, help_.doubt = self._doubt()
            # The coin is undone after a crash, too, and nobody sees two noises on one answer.
            yield self._written()
            self._let_go()
        yield Send("user", Doubt(place_of(t), help_.doubt))
        bit: Bit = yield Receive("user", Bit)
        check_place(bit, t, "user")
        ends = self._circuit.uncovered(bit.above, help_.coin)
        yield Send("user", Verdict(place_of(t), ends))
        return ends

    def _doubt(self) -> tuple[int, bytes]:
        """A fresh coin, and condition (8) multiplied by it."""
        circuit, sums, before = self._circuit, self._known.sums, self._known.batch_start
        coin = new_coin()
        value = circuit.covered_sign(self._current(), before, sums, coin)
        self._floods += 1
        return coin, flood(value.ciphertext, self._known_keys.public, circuit.noise).to_bytes()

    def _mask(self, t: int) -> Steps[None]:
        """A new estimate of all rounds so far, under masks that are written down."""
        memory, help_, public = self._memory, self._memory.help, self._known_keys.public
        memory.start = t
        self._estimate = None
        self._known.begin_batch()
        help_.begin_batch()
        kept = []
        for entry in self._circuit.estimate(self._known.sums, t):
            masked, mask = add_mask(entry.ciphertext, public, 1.0)
            kept.append((mask.key, self._store.keep(masked.to_bytes())))
        help_.masks, help_.masked = (tuple(column) for column in zip(*kept, strict=True))
        yield self._written()
        self._let_go()

    def _refresh(self, t: int) -> Steps[None]:
        """Every ciphertext goes to the user and comes back, one after the other."""
        parts, help_, store = self._parts, self._memory.help, self._store
        shape = refreshed_shape(self._circuit, t)
        while len(parts) < shape.count:
            index = len(parts)
            yield Send("user", Masked(shape.place, index, store.fetch(help_.masked[index])))
            part: Refreshed = yield Receive("user", Refreshed)
            parts.append(checked(part, shape, index, "user").data)
            if shape.pauses(len(parts)):
                yield self._written()
        self._estimate = self._unmasked(parts)
        help_.refreshed, help_.masked = tuple(store.keep(data) for data in parts), ()
        self._clear()

    def _current(self) -> Numbers[Encrypted]:
        """The estimate of the batch, from what the user has refreshed."""
        if self._estimate is None:
            names = self._memory.help.refreshed
            if names:
                self._estimate = self._unmasked([self._store.fetch(name) for name in names])
            else:
                self._estimate = self._first()
        return self._estimate

    def _unmasked(self, parts: list[bytes]) -> Numbers[Encrypted]:
        spots, t = self._circuit.spots, self._memory.t
        slots = self._setting.parameters.slots
        numbers = []
        for entry, key in zip(self._loaded(parts, spots, t), self._memory.help.masks, strict=True):
            mask = Mask(key, MASK_WIDTH, entry.ciphertext.scale, slots)
            numbers.append(Encrypted(entry.evaluator, take_mask_off(entry.ciphertext, mask)))
        return tuple(numbers)

    def _first(self) -> Numbers[Encrypted]:
        """That of the first round, which is public."""
        keys, circuit = self._known_keys, self._circuit
        return tuple(
            Encrypted(keys.evaluator, keys.public.encrypt(value, spot.level))
            for value, spot in zip(circuit.packing.first_estimate(), circuit.spots, strict=True)
        )
