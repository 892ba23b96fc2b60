"""A user: sends its contexts and rewards under pads of its own, and alone reads its arms."""

from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from lotor.core.effects import BeginRound, Checkpoint, Decision, Once, Pull, Send, Steps
from lotor.crypto.prf import new_key
from lotor.protocols.garbled.showing import OutputReader
from lotor.protocols.helba.shared.asking import observed_contexts
from lotor.protocols.helba.shared.pads import update_numbers
from lotor.protocols.helba.shared.wire import round_place, send_parts, to_words
from lotor.protocols.helba.two_servers.messages import (
    WIRE,
    PaddedContexts,
    PaddedTotal,
    PaddedUpdate,
    UserPadKey,
)
from lotor.protocols.helba.two_servers.pads import OwnPads, padded_contexts
from lotor.protocols.helba.two_servers.setting import PAD_SERVER, SERVER, HelbaTwoServersSetting
from lotor.protocols.helba.two_servers.totals import TOTAL_MODULUS
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.plain.optimistic import TieDraws


class HelbaTwoServersUserMemory(Memory, tag=WIRE + "user"):
    """This user's keys, the sum of its rewards before round t, and where the batch of its last
    round began."""

    pad_key: bytes
    tie_key: bytes
    total: int = 0
    start: int = 1


class HelbaTwoServersUser(Party):
    """Steps 1, 8, 11, 12 and 13."""

    def __init__(
        self,
        name: str,
        setting: HelbaTwoServersSetting,
        *,
        tie_key: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        """`tie_key` decides between equal scores: from a seed in a simulation, fresh elsewhere."""
        self._name = name
        self._setting = setting
        run = setting.terms.run
        self._memory = (
            HelbaTwoServersUserMemory(
                party=name, run=run, pad_key=new_key(), tie_key=tie_key or new_key()
            )
            if snapshot is None
            else restored(HelbaTwoServersUserMemory, snapshot, name, run)
        )

    def operations(self) -> Mapping[str, int]:
        return {}

    def steps(self) -> Steps[None]:
        memory, terms = self._memory, self._setting.terms
        rounds = terms.rounds_of(self._name)
        self._pads = OwnPads(memory.pad_key, self._setting)
        self._ties = TieDraws(memory.tie_key, terms.arms)
        self._reader = OutputReader(PAD_SERVER, SERVER, terms.arms)
        if not memory.t:
            yield Checkpoint(memory.dump)
            yield Send(PAD_SERVER, UserPadKey(terms.digest, memory.pad_key))  # step 1
        for t in rounds[rounds.index(memory.t) if memory.t else 0 :]:
            for passed in range(memory.t + 1, t + 1):
                if self._setting.starts(passed, memory.start):
                    memory.start = passed
            memory.t = t
            yield Checkpoint(memory.dump, t)
            yield from self._round(t)
        total = TOTAL_MODULUS.residues(self._pads.total() + np.array([memory.total, len(rounds)]))
        yield Send(SERVER, PaddedTotal(round_place(terms.budget), to_words(total)))  # step 13

    def _round(self, t: int) -> Steps[None]:
        memory, setting, terms = self._memory, self._setting, self._setting.terms
        yield BeginRound(t)
        contexts = terms.grid.contexts((yield from observed_contexts(setting, t)))
        order = self._ties.order(t)
        features = [setting.features(contexts[arm], t, memory.start) for arm in order]
        padded = padded_contexts(setting, features, self._pads.contexts(t))
        words = b"".join(map(to_words, padded))
        # Two contexts under one pad would show the server their difference.
        yield Once(round_place(t) + sha256(words).digest())
        yield from send_parts(SERVER, PaddedContexts, t, words)  # step 8
        position = yield from self._reader.receive_position(t - 1, round_place(t))  # step 11
        arm = order[position]
        reward = terms.scale.to_fixed(
            (yield Pull(Decision.of_step(terms.run, t, arm), masked=True))
        )
        memory.total += reward
        if t < terms.budget:
            # In the user's unit: a shifted reward would not be linear in the context.
            paid = terms.grid.reward(terms.scale.total(reward, 1))
            numbers = update_numbers(setting, contexts[arm], paid) + self._pads.update(t)
            update = setting.modulus.residues(numbers)
            yield Send(SERVER, PaddedUpdate(round_place(t), to_words(update)))  # step 12
