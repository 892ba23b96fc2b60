"""Drives one party of one run so that being dropped at any moment costs nothing.

A host always begins from a journaled snapshot and repeats what came after it: peers send again the
messages that were not acknowledged, and the journal has the world's answers. docs/resume.md has
the rules, and says what breaks without each.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import cast

from lotor.core.effects import (
    Act,
    BeginRound,
    Checkpoint,
    Collect,
    Decided,
    Decision,
    Effect,
    Exclusion,
    Expect,
    Issue,
    KnownOutcome,
    Message,
    Observe,
    Once,
    Pull,
    Receive,
    Send,
)
from lotor.core.errors import LotorError, ProtocolError
from lotor.protocols.party import Party
from lotor.runtime.durable.background_step import BackgroundStep
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.gate import Gate, OpenGate
from lotor.runtime.durable.link import Link, Links
from lotor.runtime.durable.losses import LossLog
from lotor.runtime.durable.questions import Answered, Question, QuestionLog
from lotor.runtime.durable.record import Answer, RunRecord
from lotor.runtime.durable.run_output import RunOutput
from lotor.runtime.wire import decode, encode

CHECKPOINT_ROUNDS = 32
CHECKPOINT_BYTES = 1 << 20
_QUESTIONS = (Pull, Act, Observe)
# So many messages are acknowledged by a frame of its own; fewer wait for the next message.
ACKNOWLEDGED_TOGETHER = 8


def first_snapshot(party: Party) -> bytes:
    """The snapshot that a new party writes down before it does anything."""
    steps = party.steps()
    effect = next(steps)
    steps.close()
    if not isinstance(effect, Checkpoint):
        raise ProtocolError(f"{type(party).__name__} does not begin with a checkpoint")
    return effect.snapshot()


class Host:
    """One party with its links and its journal.

    Call `advance` after anything has changed. It returns when the party waits for a message
    (`awaits` names the peer), when the world must be asked (`asked`), or when it is `finished`.
    A slow party also has a `background_step` now and then, which may run in another thread; call
    `advance` when it is done.
    """

    def __init__(
        self,
        name: str,
        rebuild: Callable[[bytes], Party],
        record: RunRecord,
        peers: Iterable[str],
        send: Callable[[str, RunFrame], None],
        *,
        admits: Callable[[str], bool] = lambda _peer: True,
        alike: bool = True,
        inbox: bool = False,
        gate: Gate | None = None,
        seal: Callable[[bytes], bytes] | None = None,
    ) -> None:
        """`admits`: whether a peer's connection takes more; call `catch_up` when it does again.

        `alike`: write as much to the disk in rounds in which this party is not asked. `inbox`:
        people or programs find decisions in the journal, and tell their outcomes there. `seal`:
        seals what the party keeps after the run; without it, it keeps nothing.
        """
        self._gate = OpenGate() if gate is None else gate
        self._seal = seal
        self._name = name
        self._record = record
        self._run = record.run
        self._send = send
        self._admits = admits
        saved = record.begin()
        self.round = self._saved_round = saved.round
        self.messages_sent, self.bytes_sent = saved.messages_sent, saved.bytes_sent
        self.links = Links(name, {peer: saved.links.get(peer) or Link(peer) for peer in peers})
        self.finished = saved.finished
        self._unsettled = self._undelivered()
        self.result = saved.output
        self.awaits: str | None = None
        self._losses = LossLog(record.losses, self.links)
        self._questions = QuestionLog(name, record, saved, alike=alike)
        self._inbox = inbox
        self._boundaries = self._consumed_bytes = 0
        self._owes_acks = False
        self.background_step: BackgroundStep | None = None
        self._slow = False
        self._failure: Exception | None = None
        if not self.finished:
            self.party = rebuild(saved.snapshot)
            self._steps = self.party.steps()
            self._slow = self.party.slow
            # A party's first effect is the checkpoint that it was restored from.
            self._effect: Effect | Answered | None = None if self._slow else next(self._steps)
            if self._slow:
                self._step(None)

    @property
    def asked(self) -> Question | None:
        """What the world must answer before the party can go on."""
        return self._questions.pending

    @property
    def output(self) -> object:
        """The party's own output, once it has finished."""
        return self.result.output

    @property
    def lacks_outcomes(self) -> bool:
        """Whether the party waits for outcomes of earlier decisions; `advance` looks for them."""
        return not self.finished and type(self._effect) is Collect

    @property
    def awaited(self) -> tuple[Decision, ...]:
        """The decisions whose outcomes the party cannot go on without."""
        effect, asked = self._effect, self._questions.pending
        if not self.finished and type(effect) is Collect:
            return effect.awaited
        decision = None if asked is None or type(asked.effect) is Observe else asked.decision
        return () if decision is None else (decision,)

    @property
    def missed(self) -> str | None:
        """The peer for whom the party waits, if it can go on without it."""
        effect = self._effect
        waits = not self.finished and type(effect) is Receive and effect.may_leave
        return self.awaits if waits else None

    def exclude(self, exclusion: Exclusion) -> None:
        """Let peers leave the run for good, while one of them is `missed`; then call `advance`.

        Nothing that they say from now on is taken, and what was not taken yet never counts.
        """
        if self.missed not in exclusion.away:
            raise ProtocolError(
                f"{self._name} does not wait for {', '.join(exclusion.away)}: the daemon is out of "
                "step; report this"
            )
        excluded = self._losses.about(exclusion)
        self._record.exclude(excluded, self._losses.unwritten)
        self._losses.excluded(excluded)

    @property
    def repeatable(self) -> bool:
        """Whether the world recognises a decision that it has answered before."""
        return self._questions.repeatable

    @property
    def restored(self) -> bool:
        """Whether the party is as its snapshot says; a slow one needs time for it."""
        return self.finished or self._effect is not None

    @property
    def drained(self) -> bool:
        """Whether a finished party may go: all that it sent is durable elsewhere (rule 7)."""
        return self.finished and not self._undelivered()

    def join_to(self, peer: str) -> Join:
        """The first frame to a peer on a new connection."""
        link, record = self.links[peer], self._record
        link.told = link.ack
        return Join(
            self._run, record.incarnation, record.commits, link.known, link.received, link.ack
        )

    def joined(self, peer: str, join: Join) -> None:
        """A peer's first frame on a new connection: send it all that it does not have durably."""
        if self.links[peer].gone:
            return
        self.links[peer].join(join, self._record.commits)
        self.catch_up(peer)

    def catch_up(self, peer: str) -> None:
        """Send what waits for a peer, in order, for as long as its connection admits it."""
        link = self.links[peer]
        unsent = link.unsent
        while unsent and self._admits(peer):
            seq, payload = unsent.popleft()
            ack = link.told = link.durable
            self._send(peer, Data(self._run, seq, ack, self._record.commits, payload))

    def parted(self, peer: str) -> None:
        """The connection is gone."""
        self.links[peer].part()

    def received(self, peer: str, frame: Data | Ack) -> bool:
        """Take a frame; False if `advance` would do nothing, since another peer is waited for."""
        link = self.links[peer]
        if link.gone:
            return False
        link.acknowledge(frame.ack, frame.commits)
        if type(frame) is Data and not link.accept(frame.seq, frame.payload):
            link.told = 0  # acknowledge a duplicate again
            self._owes_acks = True
        return self._owes_acks or self.awaits is None or self.awaits == peer

    def advance(self) -> None:
        """Let the party run until it must wait; once it has failed, it fails again each time."""
        if self._failure is not None:
            # A generator that has raised returns when it is resumed: as if the party had finished.
            raise self._failure
        try:
            step = self.background_step
            if step is not None and not self._take_up(step):
                return
            if not self.finished and self._questions.pending is None:
                while self._perform():
                    pass
        except Exception as error:
            self._failure = error
            if isinstance(error, LotorError):
                error.add_note(f"(raised at {self._name})")
            raise
        if self._owes_acks:
            self._acknowledge()

    def _perform(self) -> bool:
        """Do what the party asked for last and let it go on; False when it must wait."""
        effect = self._effect
        value: object = None
        if type(effect) is Receive:
            value = self._received(effect)
            if value is None:
                self.awaits = effect.sender
                return False
            self.awaits = None
        elif type(effect) is Send:
            self._post(effect.to, effect.message)
        elif type(effect) is Checkpoint or type(effect) is BeginRound:
            if not self._passes(effect):
                return False
        elif type(effect) is Answered:
            value = effect.answer
        elif type(effect) is Pull and self._questions.pass_over(effect):
            pass  # most rounds of most owners
        else:
            return self._consult(effect)
        if self._slow:
            self._step(value)
            return False
        try:
            self._effect = self._steps.send(value)
        except StopIteration as end:
            self._finish(end.value)
            return False
        return True

    def _received(self, effect: Receive) -> object:
        """The message that the party waits for, or what stands in its place, if there is one."""
        payload = self.links[effect.sender].take()
        if payload is None:
            return self._losses.instead_of(effect.sender) if effect.may_leave else None
        self._consumed_bytes += len(payload)
        if effect.may_leave:
            self._losses.took(effect.sender, payload)
        return decode(payload, effect, self._name)

    def _consult(self, effect: Effect | Answered | None) -> bool:
        """Look for an answer in the journal; False when the party must wait for it."""
        answer: object = None
        if type(effect) is Collect:
            answer = self._questions.collect(effect)
            if answer is None:
                return False
        elif isinstance(effect, _QUESTIONS):
            recorded = self._questions.ask(effect)
            if recorded is None:
                return False
            answer = recorded.answer
        else:
            self._write_down(effect)
        self._effect = Answered(answer)
        return self._questions.pending is None

    def _write_down(self, effect: Effect | Answered | None) -> None:
        """What a party only wants to have in its journal before it goes on."""
        if type(effect) is Decided:
            self._questions.decided(effect.decision)
        elif type(effect) is Issue:
            self._questions.issue(effect.decision)
        elif type(effect) is Once:
            if self._losses.unwritten:
                self._record.keep_taken(self._losses.unwritten)
                self._losses.written()
            self._questions.once(effect.value)
        elif type(effect) is Expect:
            if self._inbox:
                self._record.show(effect.decision)
        else:
            raise ProtocolError(
                f"{self._name} yielded {type(effect).__name__}, which is not an effect: its "
                "protocol was written for another version of lotor"
            )

    def _step(self, value: object) -> None:
        """Let a slow party take its next step in the background."""
        self.background_step = BackgroundStep(partial(self._steps.send, value))

    def _take_up(self, step: BackgroundStep) -> bool:
        """Use what a slow party's step returned; False while it, or the next one, still runs."""
        if not step.done:
            return False
        self.background_step = None
        result = step.result()
        if step.party_ended:
            self._finish(result)
        elif isinstance(result, bytes):
            self._save(result)
            self._acknowledge()
            self._step(None)
            return False
        else:
            self._effect = cast("Effect", result)
        return True

    def _post(self, to: str, message: Message) -> None:
        payload = encode(message)
        self.messages_sent += 1
        self.bytes_sent += len(payload)
        self.links[to].post(payload)
        self.catch_up(to)

    def _acknowledge(self) -> None:
        """Acknowledge to peers what has become durable, where no message has done so."""
        self._owes_acks = False
        for link in self.links.values():
            owed = link.ack - link.told
            # A peer may wait for this where it has repeated itself, or where no message will come.
            waits = self.finished or link.told == 0
            if link.joined and owed >= (1 if waits else ACKNOWLEDGED_TOGETHER):
                link.told = link.ack
                self._send(link.peer, Ack(self._run, link.ack, self._record.commits))

    def _passes(self, boundary: Checkpoint | BeginRound) -> bool:
        """Whether the party may go on from where it is; if not, `advance` asks again."""
        if isinstance(boundary, BeginRound):
            self.round = boundary.t
            return self._gate.may_begin(boundary.t)
        if boundary.round and not self._gate.may_go_on(boundary.round):
            return False
        return self._boundary(boundary)

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
                self.background_step = BackgroundStep(checkpoint.snapshot)
                return False
            self._save(checkpoint.snapshot())
        return True

    def _save(self, snapshot: bytes | None, kept: bytes | None = None) -> None:
        self._record.checkpoint(
            snapshot,
            round=self.round,
            pulls=self._questions.count,
            messages_sent=self.messages_sent,
            bytes_sent=self.bytes_sent,
            links=self.links.values(),
            output=self.result,
            kept=kept,
        )
        self._boundaries = self._consumed_bytes = 0
        self._losses.written()
        self._saved_round = self.round
        self._owes_acks = True
        for link in self.links.values():
            link.checkpointed()

    def _finish(self, output: object) -> None:
        party = self.party
        self.result = RunOutput(output, party.outcomes, party.revealed, dict(party.left))
        self.finished = True
        self._unsettled = self._undelivered()
        kept = party.kept
        self._save(None, None if kept is None or self._seal is None else self._seal(kept))

    def answered(self, answer: Answer) -> None:
        """Hand in the world's answer to what was `asked`; it is written down at once."""
        self._questions.answer(answer)
        self._effect = Answered(answer)

    def issued(self) -> bool:
        """Whether the party has made decisions that come to be paid later, since the last call."""
        issued, self._questions.issued = self._questions.issued, False
        return issued

    def show(self, decision: Decision, *, paid_here: bool) -> None:
        """Let people or programs find a decision in the journal."""
        self._record.show(decision, paid_here=paid_here)

    def told(self, decision: Decision) -> KnownOutcome | None:
        """The outcome of a decision that they have been shown, if they have told it."""
        return self._record.outcomes.told(decision.id)

    def settle(self) -> bool:
        """Drop from the disk what more peers of a finished party have; False if none has more."""
        left = self._undelivered()
        if left >= self._unsettled:
            return False
        self._unsettled = left
        self._save(None)
        return True

    def release(self, peer: str) -> None:
        """A peer of a finished party has ended the run: it needs no message any more."""
        link = self.links.get(peer)
        if link is not None:
            link.acknowledge(link.sent, link.known)

    def _undelivered(self) -> int:
        """To how many peers there are messages that they may not have durably."""
        return sum(bool(link.outbox) for link in self.links.values())

    def close(self) -> None:
        """Let go of the party; nothing is written."""
        if not self.finished:
            # A generator that another thread is in cannot be closed: it ends with its step.
            with suppress(ValueError):
                self._steps.close()
