"""Drives one party of one run so that being dropped at any moment costs nothing.

A host always begins from a journaled snapshot and re-creates what came after it: peers send again
what was not acknowledged, and the journal has what the world has answered. docs/resume.md has the
rules and what breaks without each.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import cast

from lotor.core.effects import (
    HIDDEN,
    Act,
    Checkpoint,
    Decided,
    Decision,
    Effect,
    Message,
    Observe,
    Pull,
    Receive,
    Send,
)
from lotor.core.errors import JournalError, LotorError, ProtocolError
from lotor.protocols.party import Party, is_slow
from lotor.runtime.durable.frames import Ack, Data, Frame, Join
from lotor.runtime.durable.link import Link
from lotor.runtime.durable.record import Answer, PullRecord, RunRecord
from lotor.runtime.durable.thought import Thought
from lotor.runtime.wire import decode, encode

CHECKPOINT_ROUNDS = 32
CHECKPOINT_BYTES = 1 << 20
# So many messages are acknowledged by a frame of its own; fewer wait for the next message.
ACKNOWLEDGED_TOGETHER = 8


def first_snapshot(party: Party) -> bytes:
    """What a new party writes down before it does anything."""
    steps = party.steps()
    effect = next(steps)
    steps.close()
    if not isinstance(effect, Checkpoint):
        raise ProtocolError(f"{type(party).__name__} does not begin with a checkpoint")
    return effect.snapshot()


@dataclass(slots=True)
class Asked:
    """What the world is to answer; `again` when it may have been asked before a restart."""

    number: int
    effect: Pull | Act | Observe
    again: bool

    @property
    def decision(self) -> Decision | None:
        """What it is about; None where nothing is to be done, and that must not show."""
        return self.effect.decision

    @property
    def masked(self) -> bool:
        """Whether the answer goes out under a mask that must never cover another one, too."""
        if type(self.effect) is Pull:
            return self.decision is not None and self.decision.arm == HIDDEN
        return type(self.effect) is Observe


class Host:
    """One party with its links and its journal.

    Call `advance` after anything has changed. It returns when the party waits for a message
    (`awaits` names the peer), when the world must be asked (`asked`), or when it is `finished`.
    A slow party also has a `thought` now and then, which may be thought in another thread; call
    `advance` when it is over.

    `repeatable`, which is fixed when the run begins, says that the world recognises a decision
    that it has answered before. Then no intent is written down, since all it could lead to is to
    ask again, and nothing waits for the disk to have the answer, unless a mask covers it.
    """

    def __init__(
        self,
        name: str,
        rebuild: Callable[[bytes], Party],
        record: RunRecord,
        peers: Iterable[str],
        send: Callable[[str, Frame], None],
    ) -> None:
        self._name = name
        self._record = record
        self._run = record.run
        self._send = send
        saved = record.begin()
        self.round = self._saved_round = saved.round
        self.repeatable = saved.repeatable
        self.messages_sent, self.bytes_sent = saved.messages_sent, saved.bytes_sent
        self.links = {peer: saved.links.get(peer) or Link(peer) for peer in peers}
        self.finished = saved.finished
        self._unsettled = any(link.outbox for link in self.links.values())
        self.output = saved.output
        self.awaits: str | None = None
        self.asked: Asked | None = None
        self._pulls = saved.pulls
        self._recorded = {pull.number: pull for pull in record.pulls_after(saved.pulls)}
        self._boundaries = self._consumed_bytes = 0
        self._owes_acks = False
        self.thought: Thought | None = None
        self._slow = False
        if not self.finished:
            self.party = rebuild(saved.snapshot)
            self._steps = self.party.steps()
            self._slow = is_slow(self.party)
            # The first is the checkpoint that it was restored from.
            self._effect: Effect | None = None if self._slow else next(self._steps)
            if self._slow:
                self._step(None)

    @property
    def restored(self) -> bool:
        """Whether the party is as its snapshot says; a slow one needs time for it."""
        return self.finished or self._effect is not None

    @property
    def drained(self) -> bool:
        """Whether a finished party may go: all that it sent is durable elsewhere (rule 7)."""
        return self.finished and not any(link.outbox for link in self.links.values())

    def join_to(self, peer: str) -> Join:
        """What this side says first on a new connection."""
        link, record = self.links[peer], self._record
        link.told = link.ack
        return Join(
            self._run, record.incarnation, record.commits, link.known, link.received, link.ack
        )

    def joined(self, peer: str, join: Join) -> None:
        """A peer's first word on a new connection: send it all that it does not have durably."""
        for seq, payload in self.links[peer].join(join, self._record.commits):
            self._send_data(self.links[peer], seq, payload)

    def parted(self, peer: str) -> None:
        """The connection is gone."""
        self.links[peer].joined = False

    def received(self, peer: str, frame: Data | Ack) -> None:
        link = self.links[peer]
        link.acknowledge(frame.ack, frame.commits)
        if type(frame) is Data and not link.accept(frame.seq, frame.payload):
            link.told = 0  # acknowledge a duplicate again
            self._owes_acks = True

    def advance(self) -> None:
        """Let the party run until it must wait."""
        try:
            if self.thought is not None and not self._take_up(self.thought):
                return
            while not self.finished and self.asked is None:
                if not self._perform():
                    break
        except LotorError as error:
            error.add_note(f"(raised at {self._name})")
            raise
        self._acknowledge()

    def _perform(self) -> bool:
        """Do what the party asked for last and let it go on; False when it must wait."""
        effect = self._effect
        value: object = None
        if type(effect) is Receive:
            link = self._link(effect.sender)
            payload = link.take()
            if payload is None:
                self.awaits = effect.sender
                return False
            self.awaits = None
            self._consumed_bytes += len(payload)
            value = decode(payload, effect, self._name)
        elif type(effect) is Send:
            self._post(effect.to, effect.message)
        elif isinstance(effect, Pull | Act | Observe):
            recorded = self._answer(effect)
            if recorded is None:
                return False
            value = recorded.answer
        elif type(effect) is Decided:
            self._decided(effect.decision)
        elif type(effect) is Checkpoint and not self._boundary(effect):
            return False
        if self._slow:
            self._step(value)
            return False
        try:
            self._effect = self._steps.send(value)
        except StopIteration as end:
            self._finish(end.value)
        return True

    def _step(self, value: object) -> None:
        """Let a slow party go on, whenever somebody has the time."""
        self.thought = Thought(partial(self._steps.send, value))

    def _take_up(self, thought: Thought) -> bool:
        """Go on with what a slow party came to; False when it must think (on)."""
        if not thought.over:
            return False
        self.thought = None
        outcome = thought.outcome()
        if thought.ended:
            self._finish(outcome)
        elif isinstance(outcome, bytes):
            self._save(outcome)
            self._acknowledge()
            self._step(None)
            return False
        else:
            self._effect = cast("Effect", outcome)
        return True

    def _link(self, peer: str) -> Link:
        link = self.links.get(peer)
        if link is None:
            raise ProtocolError(f"{self._name} talks to {peer}, whom it has no link to in this run")
        return link

    def _post(self, to: str, message: Message) -> None:
        payload = encode(message)
        link = self._link(to)
        self.messages_sent += 1
        self.bytes_sent += len(payload)
        seq = link.post(payload)
        if seq is not None and link.joined:
            self._send_data(link, seq, payload)

    def _send_data(self, link: Link, seq: int, payload: bytes) -> None:
        link.told = link.ack
        self._send(link.peer, Data(self._run, seq, link.ack, self._record.commits, payload))

    def _acknowledge(self) -> None:
        """Tell peers what has become durable, where no message did."""
        if not self._owes_acks:
            return
        self._owes_acks = False
        for link in self.links.values():
            owed = link.ack - link.told
            # It may wait to hear it where it has repeated itself, or where no message will come.
            waits = self.finished or link.told == 0
            if link.joined and owed >= (1 if waits else ACKNOWLEDGED_TOGETHER):
                link.told = link.ack
                self._send(link.peer, Ack(self._run, link.ack, self._record.commits))

    def _boundary(self, checkpoint: Checkpoint) -> bool:
        """Save, where it is time to; False where a slow party must write its snapshot first."""
        self.round = checkpoint.round
        self._boundaries += 1
        set_up = self._saved_round == 0 < checkpoint.round
        if (
            checkpoint.durable
            or set_up
            or self._boundaries >= CHECKPOINT_ROUNDS
            or self._consumed_bytes >= CHECKPOINT_BYTES
        ):
            if self._slow:
                self.thought = Thought(checkpoint.snapshot)
                return False
            self._save(checkpoint.snapshot())
        return True

    def _save(self, snapshot: bytes | None) -> None:
        self._record.checkpoint(
            snapshot,
            round=self.round,
            pulls=self._pulls,
            messages_sent=self.messages_sent,
            bytes_sent=self.bytes_sent,
            links=self.links.values(),
            output=self.output,
        )
        self._boundaries = self._consumed_bytes = 0
        self._saved_round = self.round
        self._owes_acks = True
        for link in self.links.values():
            link.checkpointed()

    def _finish(self, output: object) -> None:
        self.output = output
        self.finished = True
        self._unsettled = any(link.outbox for link in self.links.values())
        self._save(None)

    def _answer(self, effect: Pull | Act | Observe) -> PullRecord | None:
        """The recorded answer; without one, the world is to be asked, and the intent recorded."""
        decision, number = effect.decision, self._pulls + 1
        recorded = self._recorded.get(number)
        if recorded is None:
            if not self.repeatable:
                self._record.intend(number, decision)
        else:
            self._check(recorded, decision)
            if recorded.answered:
                self._pulls = number
                return self._recorded.pop(number)
        again = self.repeatable or recorded is not None
        self.asked = Asked(number, effect, again=again)
        return None

    def _decided(self, decision: Decision) -> None:
        """Write down what was chosen: in replay it must be the same again."""
        self._pulls += 1
        recorded = self._recorded.pop(self._pulls, None)
        if recorded is None:
            self._record.note(self._pulls, decision, None)
        else:
            self._check(recorded, decision)

    def _check(self, recorded: PullRecord, decision: Decision | None) -> None:
        if recorded.decision != (decision.id if decision else None):
            raise JournalError(
                f"the journal has pull {recorded.number} as that of another decision than "
                f"{self._name} comes to now: it was altered, or this machine computes otherwise "
                "than the one that wrote it; go on there, or stop the run"
            )

    def answered(self, answer: Answer) -> None:
        """The world's answer, written down before anything else happens."""
        asked = self.asked
        if asked is None:
            raise ProtocolError(f"{self._name} has no pull that waits for an answer")
        decision = asked.decision
        if not self.repeatable:
            self._record.answer(asked.number, answer)
        elif asked.masked:
            self._record.keep(asked.number, decision, answer)
        else:
            self._record.note(asked.number, decision, answer)
        self._recorded[asked.number] = PullRecord(
            asked.number, decision.id if decision else None, answer, answered=True
        )
        self.asked = None

    def settle(self) -> None:
        """Write down that nothing is left to be acknowledged."""
        if self._unsettled:
            self._unsettled = False
            self._save(None)

    def close(self) -> None:
        """Let go of the party; nothing is written."""
        if not self.finished:
            # A slow party that thinks in another thread is let go of when it is done.
            with suppress(ValueError):
                self._steps.close()
