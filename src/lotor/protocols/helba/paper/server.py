"""The server: learns and chooses on ciphertexts, and never has the key that reads them."""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.protocols.helba.paper.estimators import Estimator, estimator_of
from lotor.protocols.helba.paper.messages import (
    EncryptedChoice,
    SealedSecretKey,
    SealingKeyOffer,
    ServerKeys,
    Taken,
)
from lotor.protocols.helba.paper.server_state import ServerState
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.paper.wire import (
    UploadShape,
    check_digest,
    contexts_shape,
    download,
    keys_shape,
    pass_on,
    place_of,
    sealed_shape,
    update_shape,
)
from lotor.protocols.helba.terms import KEY_AUTHORITY
from lotor.protocols.party import Party
from lotor.protocols.store import Store


class HelbaServer(Party):
    """Lines 6 to 10 and 13 to 15 of Algorithm 4; its estimator sees to line 15.

    With more than one of `workers` the estimator takes helper processes; with the paper's index it
    takes the user's help. `tries_keys` is for keys that come from elsewhere: see `EvaluationKeys`.
    """

    slow: ClassVar[bool] = True

    def __init__(
        self,
        setting: HelbaSetting,
        store: Store,
        *,
        workers: int = 1,
        tries_keys: bool = False,
        snapshot: bytes | None = None,
    ) -> None:
        self._setting = setting
        self._tries_keys = tries_keys
        self._state = ServerState(setting, store, snapshot)
        self._estimator: Estimator = estimator_of(self._state, workers)

    def operations(self) -> Mapping[str, int]:
        counted: Counter[str] = Counter(self._state.operations())
        counted.update(self._estimator.operations())
        return dict(counted)

    def steps(self) -> Steps[None]:
        try:
            yield from self._steps()
        finally:
            self.cpu_elsewhere = self._estimator.cpu_seconds
            self._estimator.close()

    def _steps(self) -> Steps[None]:
        state, memory = self._state, self._state.memory
        self._restore()
        if memory.t == 0:
            yield Checkpoint(state.snapshot)
            yield from self._set_up()
            memory.t = 1
        while memory.t <= self._setting.terms.budget:
            self._estimator.begin_round(memory.t)
            yield state.written()
            state.let_go()
            yield from self._round(memory.t)
            memory.choice = b""
            memory.t += 1

    def _restore(self) -> None:
        state, memory = self._state, self._state.memory
        state.parts = [state.store.fetch(name) for name in memory.received]
        if memory.t == 0 or memory.announced is None:
            return
        keys = [state.store.fetch(name) for name in memory.keys]
        self._estimator.start(state.load_keys(memory.announced, keys))
        state.restore_sums()
        # A damaged file must show now, while the run can still wait for its operator.
        for name in memory.help.names():
            state.store.fetch(name)

    def _set_up(self) -> Steps[None]:
        """Pass the user's offer on, and the sealed key back; keep the keys that compute."""
        state, memory, digest = self._state, self._state.memory, self._setting.terms.digest
        if memory.announced is None:
            offer: SealingKeyOffer = yield Receive("user", SealingKeyOffer)
            check_digest(offer, digest, "user")
            yield Send(KEY_AUTHORITY, offer)
            keys: ServerKeys = yield Receive(KEY_AUTHORITY, ServerKeys)
            check_digest(keys, digest, KEY_AUTHORITY)
            memory.announced = keys
        shape = keys_shape(self._setting, memory.announced)
        if len(state.parts) < shape.count:
            yield from download(KEY_AUTHORITY, shape, state.parts, state.written())
            yield state.written()
        memory.keys, memory.received = memory.received, ()
        loaded = state.load_keys(memory.announced, state.parts, trial=self._tries_keys)
        self._estimator.start(loaded)
        sealed: SealedSecretKey = yield Receive(KEY_AUTHORITY, SealedSecretKey)
        shape = sealed_shape(sealed, KEY_AUTHORITY)
        yield Send("user", sealed)
        yield from pass_on(KEY_AUTHORITY, "user", shape)
        state.first_sums()

    def _round(self, t: int) -> Steps[None]:
        state, memory, setting = self._state, self._state.memory, self._setting
        if t > 1 and not (state.begun or self._estimator.asked):
            yield Send("user", Taken(place_of(t - 1), update_shape(setting, t - 1).count))
        if not memory.choice:
            yield from self._estimator.renew(t)
            yield from self._download(contexts_shape(setting, t))
            memory.choice = self._answer(t)
            state.clear()
            # The same answer with other noise would let the user average the noise away.
            yield state.written()
            state.let_go()
        if not state.parts:
            yield Send("user", EncryptedChoice(place_of(t), memory.choice))  # line 10
        if t < setting.terms.budget:
            yield from self._download(update_shape(setting, t))
            self._estimator.learn(t)
            state.clear()

    def _download(self, shape: UploadShape) -> Steps[None]:
        yield from download("user", shape, self._state.parts, self._state.written())

    def _answer(self, t: int) -> bytes:
        """Lines 6 to 10, with noise."""
        winners = self._setting.circuit.winners(self._estimator.differences(t))
        return self._state.flooded(winners)
