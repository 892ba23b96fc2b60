"""Drives all parties of a run in one process, by one loop."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter, thread_time

from lotor.core.effects import Decided, Decision, Effect, Message, Pull, Receive, Send
from lotor.core.errors import LotorError, ProtocolError, StalledError
from lotor.protocols.party import Party
from lotor.runtime.recorder import Exchange, Recorder
from lotor.runtime.wire import decode, encode
from lotor.transport import Transport


@dataclass(slots=True)
class Seat:
    """A party with what it asked for last, what it returned, and what it has cost.

    `idle` while the message that it waits for is not there.
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


def drive(
    parties: Mapping[str, Party],
    transport: Transport,
    pull: Callable[[Decision], float],
    recorder: Recorder | None = None,
    watch: Callable[[Decision], None] = lambda _: None,
) -> dict[str, Seat]:
    """Run every party to its end and say what each returned and cost."""
    return _Loop(parties, transport, pull, recorder, watch).run()


class _Loop:
    def __init__(
        self,
        parties: Mapping[str, Party],
        transport: Transport,
        pull: Callable[[Decision], float],
        recorder: Recorder | None,
        watch: Callable[[Decision], None],
    ) -> None:
        self._watch = watch
        self._seats = {name: Seat(name, party) for name, party in parties.items()}
        self._steps = {name: party.steps() for name, party in parties.items()}
        self._ready = deque(self._seats.values())
        self._transport = transport
        self._pull = pull
        self._recorder = recorder

    def run(self) -> dict[str, Seat]:
        try:
            cpu, now = thread_time(), perf_counter()
            while self._ready:
                seat = self._ready.popleft()
                self._advance(seat)
                before, now = now, perf_counter()
                seat.seconds += now - before
        finally:
            for steps in self._steps.values():
                steps.close()
        self._refuse_stall()
        self._share_out(thread_time() - cpu)
        return self._seats

    def _share_out(self, cpu: float) -> None:
        """Turn the parties' seconds into CPU seconds.

        Reading the CPU clock takes a system call, too much for every turn. The loop's CPU time is
        read once instead and shared out; a pull's time, which may be spent waiting, is not theirs.
        """
        busy = sum(seat.seconds for seat in self._seats.values())
        for seat in self._seats.values():
            seat.cpu_seconds = seat.seconds * min(1.0, cpu / busy) if busy else 0.0
            # What a party's own threads and processes used, where it has some.
            seat.cpu_seconds += getattr(seat.party, "cpu_elsewhere", 0.0)

    def _advance(self, seat: Seat) -> None:
        """Let one party run until it waits for a message that is not there, or ends."""
        name, step = seat.name, self._steps[seat.name].send
        receive, pull = self._transport.receive, self._pull
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
                elif type(effect) is Pull and effect.decision is not None:
                    asked = perf_counter()
                    reward = pull(effect.decision)
                    seat.seconds -= perf_counter() - asked
                    if self._recorder is not None:
                        self._recorder.pulls.append((name, effect.decision, reward))
                    effect = step(reward)
                else:
                    if type(effect) is Decided:
                        self._watch(effect.decision)
                    effect = step(None)
        except StopIteration as end:
            seat.effect, seat.output = None, end.value
        except LotorError as error:
            error.add_note(f"(raised at {name})")
            raise

    def _send(self, seat: Seat, to: str, message: Message) -> None:
        target = self._seats.get(to)
        if target is None:
            raise ProtocolError(f"{seat.name} sends to {to}, who takes no part in this run")
        payload = encode(message)
        seat.messages_sent += 1
        seat.bytes_sent += len(payload)
        if self._recorder is not None:
            self._recorder.exchanges.append(Exchange(seat.name, to, message, payload))
        self._transport.send(seat.name, to, payload)
        if target.idle and type(target.effect) is Receive and target.effect.sender == seat.name:
            target.idle = False
            self._ready.append(target)

    def _refuse_stall(self) -> None:
        waits = [
            f"{seat.name} waits for {seat.effect.kind.__name__} from {seat.effect.sender}"
            for seat in self._seats.values()
            if type(seat.effect) is Receive
        ]
        if waits:
            raise StalledError(f"nobody can go on: {'; '.join(waits)}")
