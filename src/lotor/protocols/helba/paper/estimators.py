"""How a server comes by its estimates: alone, with helper processes, or with the user's help."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import CryptoError
from lotor.crypto.ckks import Encrypted, Mask, add_mask, take_mask_off
from lotor.protocols.helba.paper.helper_processes import HelperProcesses, check_workers
from lotor.protocols.helba.paper.index_circuit import Numbers
from lotor.protocols.helba.paper.messages import (
    BatchDecision,
    CoveredSign,
    MaskedEntry,
    RefreshedEntry,
    SignBit,
)
from lotor.protocols.helba.paper.root import MASK_WIDTH, RootCircuit, new_coin
from lotor.protocols.helba.paper.server_state import ServerState
from lotor.protocols.helba.paper.wire import check_part, check_place, place_of, refreshed_shape


class Estimator(ABC):
    """Line 15 of Algorithm 4 at the server, which calls these methods in the order given here."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    def start(self, evaluation: bytes) -> None:  # noqa: B027
        """The server has loaded its keys; these are the evaluation keys, as they came."""

    def begin_round(self, t: int) -> None:
        """Begin a new batch, where the public schedule has one before round t."""
        state = self._state
        state.memory.start = state.setting.bounds.start(t, state.memory.start)
        if state.memory.start == t and not state.begun:
            state.sums.begin_batch()

    @property
    def asked(self) -> bool:
        """Whether the user was asked in this round, before the snapshot that it goes on from."""
        return False

    @abstractmethod
    def renew(self, t: int) -> Steps[None]:
        """Have the estimate of round t's batch ready."""

    @abstractmethod
    def differences(self, t: int) -> Encrypted:
        """What is compared in round t (lines 6 and 7), from the contexts that came."""

    def learn(self, t: int) -> None:
        """Add the update of round t that came to the sums (lines 13 and 14)."""
        self._state.learn(t)

    def operations(self) -> Mapping[str, int]:
        """What other processes have computed."""
        return {}

    @property
    def cpu_seconds(self) -> float:
        """The CPU time of other processes."""
        return 0.0

    def close(self) -> None:  # noqa: B027
        """End other processes."""


def estimator_of(state: ServerState, workers: int) -> Estimator:
    """With helper processes if there are to be more workers than one."""
    circuit = state.setting.circuit
    if workers > 1:
        return DividedEstimator(state, workers)
    if isinstance(circuit, RootCircuit):
        return RefreshedEstimator(state, circuit)
    return LocalEstimator(state)


class LocalEstimator(Estimator):
    """The server computes each estimate alone, when it is first needed."""

    def __init__(self, state: ServerState) -> None:
        super().__init__(state)
        self._estimate: Numbers[Encrypted] | None = None

    def renew(self, t: int) -> Steps[None]:  # noqa: ARG002
        yield from ()
        state = self._state
        if state.sums.before is not None:
            circuit = state.setting.circuit
            self._estimate = circuit.estimate(state.sums.before, state.memory.start)
            state.sums.before = None

    def differences(self, t: int) -> Encrypted:
        state = self._state
        if self._estimate is None:
            raise CryptoError("this server has no estimate yet: let it run from its first step")
        circuit, start = state.setting.circuit, state.memory.start
        return circuit.differences(self._estimate, state.contexts(t), t, start)


class DividedEstimator(Estimator):
    """Several processes compute parts of each estimate: `workers`, the server included."""

    def __init__(self, state: ServerState, workers: int) -> None:
        super().__init__(state)
        check_workers(state.setting, workers)
        self._workers = workers
        self._processes: HelperProcesses | None = None
        # Whether the helpers have the sums that the server has.
        self._in_step = False

    def start(self, evaluation: bytes) -> None:
        state = self._state
        self._processes = HelperProcesses(
            state.setting, state.keys.evaluator, evaluation, self._workers
        )

    def renew(self, t: int) -> Steps[None]:  # noqa: ARG002
        yield from ()
        sums, helpers = self._state.sums, self._helpers
        if sums.before is None:
            return
        # After a restart within a batch the estimate comes from older sums.
        if not self._in_step or sums.before is not sums.sums:
            helpers.take(sums.before)
        helpers.renew(sums.before, self._state.memory.start)
        if sums.before is not sums.sums:
            helpers.take(sums.sums)
        sums.before, self._in_step = None, True

    def differences(self, t: int) -> Encrypted:
        state = self._state
        return self._helpers.differences(state.parts, lambda: state.contexts(t))

    def learn(self, t: int) -> None:
        state = self._state
        if self._in_step:
            self._helpers.learn(state.parts, lambda: state.learn(t))
        else:
            state.learn(t)

    def operations(self) -> Mapping[str, int]:
        if self._processes is None:
            return {}
        return {f"ckks_{name}": count for name, count in self._processes.operations().items()}

    @property
    def cpu_seconds(self) -> float:
        return 0.0 if self._processes is None else self._processes.cpu_seconds

    def close(self) -> None:
        if self._processes is not None:
            self._processes.close()

    @property
    def _helpers(self) -> HelperProcesses:
        if self._processes is None:
            raise CryptoError("this server has no helpers yet: let it run from its first step")
        return self._processes


class RefreshedEstimator(Estimator):
    """The user says when a batch ends, and encrypts each new estimate again: the paper's index.

    The server learns one bit in each round in which it asks for condition (8).
    """

    def __init__(self, state: ServerState, circuit: RootCircuit) -> None:
        super().__init__(state)
        self._circuit = circuit
        self._estimate: Numbers[Encrypted] | None = None

    def begin_round(self, t: int) -> None:
        """Nothing: whether a batch begins with round t is asked within the round."""

    @property
    def asked(self) -> bool:
        memory = self._state.memory
        return bool(memory.help.doubt) or (memory.t > 1 and memory.help.decided == memory.t)

    def renew(self, t: int) -> Steps[None]:
        help_ = self._state.memory.help
        if help_.decided < t:
            ends = yield from self._ends(t)
            help_.decided, help_.doubt, help_.coin = t, b"", 0
            if ends:
                yield from self._mask(t)
        if help_.masked:
            yield from self._refresh(t)

    def differences(self, t: int) -> Encrypted:
        contexts, start = self._state.contexts(t), self._state.memory.start
        return self._circuit.differences(self._current(), contexts, t, start)

    def _ends(self, t: int) -> Steps[bool]:
        """Whether a new batch starts with round t."""
        state, bounds, help_ = self._state, self._circuit.bounds, self._state.memory.help
        if bounds.start(t, state.memory.start) == t:
            return True
        if bounds.policy.C is None:
            return False
        if not help_.doubt:
            help_.coin, help_.doubt = self._covered_sign()
            # The coin is undone after a crash, too, and nobody sees two noises on one answer.
            yield state.written()
            state.let_go()
        yield Send("user", CoveredSign(place_of(t), help_.doubt))
        bit: SignBit = yield Receive("user", SignBit)
        check_place(bit, t, "user")
        ends = self._circuit.uncovered(bit.above, help_.coin)
        yield Send("user", BatchDecision(place_of(t), ends))
        return ends

    def _covered_sign(self) -> tuple[int, bytes]:
        """A fresh coin, and the sign of condition (8) multiplied by it."""
        sums, coin = self._state.sums, new_coin()
        sign = self._circuit.covered_sign(self._current(), sums.batch_start, sums.sums, coin)
        return coin, self._state.flooded(sign)

    def _mask(self, t: int) -> Steps[None]:
        """A new estimate from all rounds so far, under masks that are written down."""
        state, help_, public = self._state, self._state.memory.help, self._state.keys.public
        state.memory.start = t
        self._estimate = None
        state.sums.begin_batch()
        help_.begin_batch()
        kept = []
        for entry in self._circuit.estimate(state.sums.sums, t):
            masked, mask = add_mask(entry.ciphertext, public, 1.0)
            kept.append((mask.key, state.store.keep(masked.to_bytes())))
        help_.masks, help_.masked = (tuple(column) for column in zip(*kept, strict=True))
        yield state.written()
        state.let_go()

    def _refresh(self, t: int) -> Steps[None]:
        """Every ciphertext goes to the user and comes back, one after the other."""
        state, parts, help_ = self._state, self._state.parts, self._state.memory.help
        shape = refreshed_shape(self._circuit, t)
        while len(parts) < shape.count:
            index = len(parts)
            masked = state.store.fetch(help_.masked[index])
            yield Send("user", MaskedEntry(shape.place, index, masked))
            part: RefreshedEntry = yield Receive("user", RefreshedEntry)
            check_part(part, shape, index, "user")
            parts.append(part.data)
            if shape.pauses(len(parts)):
                yield state.written()
        self._estimate = self._unmasked(parts)
        help_.refreshed, help_.masked = tuple(state.store.keep(data) for data in parts), ()
        state.clear()

    def _current(self) -> Numbers[Encrypted]:
        """The estimate of the batch: the first is public, the user has refreshed all others."""
        if self._estimate is None:
            names, store = self._state.memory.help.refreshed, self._state.store
            parts = [store.fetch(name) for name in names]
            self._estimate = self._unmasked(parts) if parts else self._first()
        return self._estimate

    def _unmasked(self, parts: list[bytes]) -> Numbers[Encrypted]:
        state, slots = self._state, self._circuit.parameters.slots
        loaded = state.loaded(parts, self._circuit.spots, state.memory.t)
        numbers = []
        for entry, key in zip(loaded, state.memory.help.masks, strict=True):
            mask = Mask(key, MASK_WIDTH, entry.ciphertext.scale, slots)
            numbers.append(Encrypted(entry.evaluator, take_mask_off(entry.ciphertext, mask)))
        return tuple(numbers)

    def _first(self) -> Numbers[Encrypted]:
        values = self._circuit.packing.first_estimate()
        return tuple(
            self._state.keys.encrypted(value, spot.level)
            for value, spot in zip(values, self._circuit.spots, strict=True)
        )
