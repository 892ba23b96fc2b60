"""The questions of a party to the world, numbered; each answer is written down before its use.

docs/resume.md has the rules. A pull is the most frequent question, hence the journal's names.
"""

from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest

from lotor.core.effects import HIDDEN, Act, Collect, Decision, KnownOutcome, Observe, Pull
from lotor.core.errors import JournalError, ProtocolError
from lotor.runtime.durable.record import Answer, PullRecord, RunRecord, SavedRun


@dataclass(slots=True)
class Question:
    """A question to the world; `again` when it may have been asked before a restart.

    `written`: all of it is in the journal, and going on is only a matter of time.
    """

    number: int
    effect: Pull | Act | Observe
    again: bool
    written: bool = False

    @property
    def decision(self) -> Decision | None:
        """What it is about; None where nothing is to be done, and that must not show."""
        return self.effect.decision

    @property
    def masked(self) -> bool:
        """Whether the answer goes out under a mask that must never cover another answer."""
        if type(self.effect) is Pull:
            return self.decision is not None and (self.effect.masked or self.every_round)
        return type(self.effect) is Observe

    @property
    def every_round(self) -> bool:
        """Whether it is asked in every round: it then does not tell who was pulled."""
        return self.decision is not None and self.decision.arm == HIDDEN


@dataclass(slots=True)
class Answered:
    """A question whose answer is written down and can be used: one of the world, or outcomes."""

    answer: object = field(repr=False)


class QuestionLog:
    """The questions of one run. `count` have been answered, and `pending` waits for its answer.

    With `repeatable`, which is fixed when the run begins, the world recognises a decision that it
    has answered before. Then no intent is written down, since it could only lead to asking again,
    and nothing waits for the disk to have the answer, unless a mask covers it. A round in which
    nothing is asked then needs no record, either; `alike` has one written all the same, so that
    the disk's work does not tell who was pulled.
    """

    def __init__(self, party: str, record: RunRecord, saved: SavedRun, *, alike: bool) -> None:
        self.count = saved.pulls
        self.repeatable = saved.repeatable
        self.pending: Question | None = None
        self.issued = False
        self._alike = alike
        self._party = party
        self._record = record
        self._recorded = {pull.number: pull for pull in record.pulls_after(saved.pulls)}

    def pass_over(self, effect: Pull) -> bool:
        """Count a question that needs neither an answer nor a record; False if it is not one."""
        number = self.count + 1
        if effect.decision is not None or self._alike or not self.repeatable:
            return False
        if number in self._recorded:  # before a restart, when rounds were still written alike
            return False
        self.count = number
        return True

    def ask(self, effect: Pull | Act | Observe) -> PullRecord | None:
        """The recorded answer; without one, record the intent and let the question be pending."""
        decision, number = effect.decision, self.count + 1
        recorded = self._recorded.get(number)
        if recorded is None:
            if not self.repeatable:
                self._record.intend(number, decision)
        else:
            self._check(recorded, decision)
            if recorded.answered:
                self.count = number
                return self._recorded.pop(number)
        again = self.repeatable or recorded is not None
        self.pending = Question(number, effect, again=again)
        return None

    def answer(self, answer: Answer) -> None:
        """Write the world's answer down, before anything else happens."""
        asked = self.pending
        if asked is None:
            raise ProtocolError(
                f"{self._party} was given an answer, but has no question that waits for one: "
                "the daemon is out of step; report this"
            )
        decision = asked.decision
        if asked.written:
            pass
        elif not self.repeatable:
            self._record.answer(asked.number, answer)
        elif asked.masked:
            self._record.keep(asked.number, decision, answer, counted=asked.every_round)
        else:
            self._record.note(asked.number, decision, answer)
        self.count = asked.number
        self.pending = None

    def issue(self, decision: Decision | None) -> None:
        """A decision appears, or none does; its outcome comes later, by way of `collect`.

        Where rounds must look alike, going on is a question, too, whose answer is nothing.
        """
        self.count += 1
        self.issued = self.issued or decision is not None
        recorded = self._recorded.pop(self.count, None)
        if recorded is None:
            self._record.issue(self.count, decision)
        else:
            self._check(recorded, decision)
        if self._alike and recorded is None:
            self.pending = Question(self.count, Pull(None), again=False, written=True)

    def collect(self, asked: Collect) -> tuple[KnownOutcome, ...] | None:
        """The outcomes that have come; None while one that is waited for is missing."""
        number, outcomes = self.count + 1, self._record.outcomes
        recorded = self._recorded.pop(number, None)
        if recorded is not None:
            self._check(recorded, None)
            self.count = number
            return outcomes.counted(asked.t)
        if asked.awaited:
            known = {one.round for one in outcomes.arrived()}
            over = asked.within is not None and outcomes.waited(asked.within)
            if not over and any(one.round not in known for one in asked.awaited):
                return None
        self.count = number
        return self._record.collect(number, asked)

    def decided(self, decision: Decision) -> None:
        """Write down what was chosen: a replay must choose the same again."""
        self.count += 1
        recorded = self._recorded.pop(self.count, None)
        if recorded is None:
            self._record.note(self.count, decision, None)
        else:
            self._check(recorded, decision)

    def once(self, value: bytes) -> None:
        """Write down which value may leave, on the disk: a replay must come to the same one."""
        self.count += 1
        digest = sha256(value).digest()
        recorded = self._recorded.pop(self.count, None)
        if recorded is None:
            self._record.keep_once(self.count, digest)
        elif not compare_digest(recorded.once or b"", digest):
            raise JournalError(
                f"{self._party} has come to another value than the one in its journal (entry "
                f"{self.count}), which may have been sent under a mask that is used once: both "
                "under one mask would tell what it hides, so this run cannot go on. The journal "
                "was altered, or this machine computes differently from the one that wrote it; "
                "start a new run"
            )

    def _check(self, recorded: PullRecord, decision: Decision | None) -> None:
        if recorded.once is not None or recorded.decision != (decision.id if decision else None):
            raise JournalError(
                f"pull {recorded.number} in the journal belongs to another decision than the one "
                f"that {self._party} now comes to: the journal was altered, or this machine "
                "computes differently from the one that wrote it; continue on that machine, or "
                "stop the run"
            )
