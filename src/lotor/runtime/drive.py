"""Drives all parties of a run in one process, by one loop."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Final

from lotor.core.effects import (
    HIDDEN,
    Act,
    Collect,
    Decided,
    Decision,
    Effect,
    Issue,
    Message,
    Observe,
    Pull,
    Receive,
    Send,
)
from lotor.core.errors import InputError, LotorError, ProtocolError, StalledError
from lotor.core.views import Exchange
from lotor.protocols.party import Party
from lotor.runtime.late_outcomes import LateOutcomes
from lotor.runtime.recorder import Recorder
from lotor.runtime.wire import decode, encode
from lotor.transport.base import Transport

_NOT_YET: Final = object()


@dataclass(slots=True)
class Seat:
    """A party with what it asked for last, what it returned, and what it has cost.

    `idle` while what it waits for is not there: a message, or the reward of a decision that
    another party is to carry out.
    """

    name: str
    party: Party
    effect: Effect | None = None
    idle: bool = False
    output: object = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    messages_sent: int = 0
    bytes_sent: int = 0


def no_features(asked: Observe) -> tuple[float, ...]:
    raise InputError(f"nothing here has features of round {asked.decision.round}")


def drive(
    parties: Mapping[str, Party],
    transport: Transport,
    pull: Callable[[Decision], float],
    recorder: Recorder | None = None,
    watch: Callable[[Decision], None] = lambda _: None,
    observe: Callable[[Observe], tuple[float, ...]] = no_features,
    late: LateOutcomes | None = None,
) -> dict[str, Seat]:
    """Run every party to its end and say what each returned and cost."""
    return drive_until((), parties, transport, pull, recorder, watch, observe, late)[0]


def drive_until(
    ends: tuple[type[BaseException], ...],
    parties: Mapping[str, Party],
    transport: Transport,
    pull: Callable[[Decision], float],
    recorder: Recorder | None = None,
    watch: Callable[[Decision], None] = lambda _: None,
    observe: Callable[[Observe], tuple[float, ...]] = no_features,
    late: LateOutcomes | None = None,
) -> tuple[dict[str, Seat], BaseException | None]:
    """The same, but an exception of `ends` ends the run where it is; which one it was comes back.

    Parties then have no output.
    """
    loop = _Loop(parties, transport, pull, recorder, watch, observe, late or LateOutcomes())
    return loop.run(ends)


class _Loop:
    def __init__(
        self,
        parties: Mapping[str, Party],
        transport: Transport,
        pull: Callable[[Decision], float],
        recorder: Recorder | None,
        watch: Callable[[Decision], None],
        observe: Callable[[Observe], tuple[float, ...]],
        late: LateOutcomes,
    ) -> None:
        self._late = late
        self._watch = watch
        self._observe = observe
        self._rewards: dict[str, float] = {}
        self._seats = {name: Seat(name, party) for name, party in parties.items()}
        self._steps = {name: party.steps() for name, party in parties.items()}
        self._ready = deque(self._seats.values())
        self._transport = transport
        self._pull = pull
        self._recorder = recorder

    def run(
        self, ends: tuple[type[BaseException], ...]
    ) -> tuple[dict[str, Seat], BaseException | None]:
        ended_by = None
        cpu, now = thread_time(), perf_counter()
        try:
            while self._ready:
                seat = self._ready.popleft()
                self._advance(seat)
                before, now = now, perf_counter()
                seat.seconds += now - before
        except ends as end:
            ended_by = end
        finally:
            for steps in self._steps.values():
                steps.close()
        if ended_by is None:
            self._refuse_stall()
        self._share_out(thread_time() - cpu)
        return self._seats, ended_by

    def _share_out(self, cpu: float) -> None:
        """Turn the parties' seconds into CPU seconds.

        Reading the CPU clock takes a system call, too much for every turn. The loop's CPU time is
        read once instead and shared out; a pull's time, which may be spent waiting, is not theirs.
        """
        busy = sum(seat.seconds for seat in self._seats.values())
        for seat in self._seats.values():
            seat.cpu_seconds = seat.seconds * min(1.0, cpu / busy) if busy else 0.0
            seat.cpu_seconds += seat.party.cpu_elsewhere

    def _advance(self, seat: Seat) -> None:
        """Let one party run until it waits for a message that is not there, or ends."""
        name, step = seat.name, self._steps[seat.name].send
        receive = self._transport.receive
        effect = seat.effect
        try:
            while True:
                if type(effect) is Receive:
                    payload = receive(name, effect.sender)
                    if payload is None:
                        seat.effect, seat.idle = effect, True
                        return
                    effect = step(decode(payload, effect, name))
                elif type(effect) is Send:
                    self._send(seat, effect.to, effect.message)
                    effect = step(None)
                else:
                    answer = self._perform(seat, effect)
                    if answer is _NOT_YET:
                        seat.effect, seat.idle = effect, True
                        return
                    effect = step(answer)
        except StopIteration as end:
            seat.effect, seat.output = None, end.value
        except LotorError as error:
            error.add_note(f"(raised at {name})")
            raise

    def _perform(self, seat: Seat, effect: Effect | None) -> object:
        """What the world is asked for, and nothing for the rest; _NOT_YET when it must wait."""
        if type(effect) is Pull and effect.decision is not None:
            return self._reward(seat, effect.decision)
        if type(effect) is Issue:
            self._issue(seat, effect.decision)
        elif type(effect) is Collect:
            return self._late.collect(seat.name, effect)
        elif type(effect) is Observe:
            return self._features(seat, effect)
        elif type(effect) is Act:
            self._act(seat, effect.decision)
        elif type(effect) is Decided:
            self._watch(effect.decision)
        return None

    def _reward(self, seat: Seat, decision: Decision) -> object:
        """A decision's reward; a hidden one has it once another party has carried it out."""
        if decision.arm != HIDDEN:
            reward = self._ask(seat, decision)
        elif decision.id in self._rewards:
            reward = self._rewards.pop(decision.id)
        else:
            return _NOT_YET
        if self._recorder is not None:
            self._recorder.pulls.append((seat.name, decision, reward))
        return reward

    def _ask(self, seat: Seat, decision: Decision) -> float:
        asked = perf_counter()
        reward = self._pull(decision)
        seat.seconds -= perf_counter() - asked
        return reward

    def _issue(self, seat: Seat, decision: Decision | None) -> None:
        """Its reward is drawn now, and handed out when it is due."""
        if decision is None:
            return
        reward = self._ask(seat, decision)
        self._late.issued(seat.name, decision, reward)
        if self._recorder is not None:
            self._recorder.pulls.append((seat.name, decision, reward))

    def _act(self, seat: Seat, decision: Decision) -> None:
        """Keep the reward for the party that pulls the decision as hidden, once."""
        if decision.id in self._rewards:
            raise ProtocolError(f"{seat.name} carries out decision {decision.id} a second time")
        self._rewards[decision.id] = self._ask(seat, decision)
        if self._recorder is not None:
            self._recorder.acts.append((seat.name, decision))
        for other in self._seats.values():
            if other.idle and type(other.effect) is Pull and _pulled(other.effect) == decision.id:
                other.idle = False
                self._ready.append(other)

    def _features(self, seat: Seat, asked: Observe) -> tuple[float, ...]:
        began = perf_counter()
        features = self._observe(asked)
        seat.seconds -= perf_counter() - began
        if self._recorder is not None:
            self._recorder.features.append((seat.name, asked.decision, features))
        return features

    def _send(self, seat: Seat, to: str, message: Message) -> None:
        target = self._seats.get(to)
        if target is None:
            raise ProtocolError(f"{seat.name} sends to {to}, who takes no part in this run")
        payload = encode(message)
        seat.messages_sent += 1
        seat.bytes_sent += len(payload)
        if self._recorder is not None:
            at = perf_counter() - self._recorder.began
            self._recorder.exchanges.append(Exchange(seat.name, to, message, payload, at))
        self._transport.send(seat.name, to, payload)
        if target.idle and type(target.effect) is Receive and target.effect.sender == seat.name:
            target.idle = False
            self._ready.append(target)

    def _refuse_stall(self) -> None:
        for seat in self._seats.values():
            if type(seat.effect) is Pull:
                raise ProtocolError(
                    f"{seat.name} pulls decision {_pulled(seat.effect)}, which nobody has carried "
                    "out, or whose reward was fetched before: the parties are out of step"
                )
        waits = [
            f"{seat.name} waits for {seat.effect.awaited} from {seat.effect.sender}"
            for seat in self._seats.values()
            if type(seat.effect) is Receive
        ]
        if waits:
            raise StalledError(f"nobody can go on: {'; '.join(waits)}")


def _pulled(effect: Pull) -> str | None:
    return effect.decision.id if effect.decision else None
