"""The loop, on a toy protocol that has nothing to do with bandits."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from lotor.core.effects import Checkpoint, Decision, Message, Once, Pull, Receive, Send, Steps
from lotor.core.errors import ProtocolError, StalledError
from lotor.protocols.party import Party
from lotor.runtime.drive import drive
from lotor.runtime.recorder import Recorder
from lotor.transport import MemoryTransport


class Number(Message, frozen=True, tag="toy/1/number"):
    value: int


class Word(Message, frozen=True, tag="toy/1/word"):
    value: str


@dataclass
class Scripted(Party):
    """A party that follows a generator given to it."""

    script: Steps[object]

    def steps(self) -> Steps[object]:
        return self.script


def asker() -> Steps[object]:
    yield Checkpoint(bytes)
    yield Send("doubler", Number(4))
    answer: Number = yield Receive("doubler", Number)
    return answer.value


def doubler() -> Steps[object]:
    question: Number = yield Receive("asker", Number)
    reward: float = yield Pull(Decision("run", 1, question.value, "id"))
    yield Send("asker", Number(question.value * int(reward)))
    return None


def run(parties: Mapping[str, Steps[object]], recorder: Recorder | None = None) -> object:
    seated: dict[str, Party] = {name: Scripted(script) for name, script in parties.items()}
    return drive(seated, MemoryTransport(), lambda _: 2.0, recorder)


@pytest.mark.parametrize("order", [("asker", "doubler"), ("doubler", "asker")])
def test_parties_talk_in_any_order(order: tuple[str, ...]) -> None:
    scripts = {"asker": asker(), "doubler": doubler()}
    recorder = Recorder()
    seated: dict[str, Party] = {name: Scripted(scripts[name]) for name in order}
    seats = drive(seated, MemoryTransport(), lambda _: 2.0, recorder)
    assert seats["asker"].output == 8
    assert seats["asker"].messages_sent == seats["doubler"].messages_sent == 1
    sizes = {seen.sender: len(seen.payload) for seen in recorder.exchanges}
    assert sizes == {name: seat.bytes_sent for name, seat in seats.items()}
    assert [(name, decision.arm, reward) for name, decision, reward in recorder.pulls] == [
        ("doubler", 4, 2.0)
    ]
    assert len(recorder.view("asker")) == 2
    assert [seen.message for seen in recorder.received("asker")] == [Number(8)]


@pytest.mark.parametrize("order", [("sender", "reader"), ("reader", "sender")])
def test_more_messages_than_are_read_lose_no_output(order: tuple[str, ...]) -> None:
    def sender() -> Steps[object]:
        yield Send("reader", Number(1))
        yield Send("reader", Number(2))
        yield Send("reader", Number(3))
        return None

    def reader() -> Steps[object]:
        message: Number = yield Receive("sender", Number)
        return message.value

    scripts = {"sender": sender(), "reader": reader()}
    seated: dict[str, Party] = {name: Scripted(scripts[name]) for name in order}
    assert drive(seated, MemoryTransport(), lambda _: 0.0)["reader"].output == 1


def test_a_simulation_has_no_second_value_to_fear() -> None:
    def sender() -> Steps[object]:
        for value in (b"one", b"another"):
            assert (yield Once(value)) is None
        reward: float = yield Pull(Decision("run", 1, 0, "id"), masked=True)
        assert (yield Pull(None, masked=True)) is None
        return reward

    recorder = Recorder()
    seats = drive({"sender": Scripted(sender())}, MemoryTransport(), lambda _: 2.0, recorder)
    assert seats["sender"].output == 2.0
    assert len(recorder.pulls) == 1


def leaves() -> Steps[object]:
    yield Checkpoint(bytes)
    return None


def test_a_stall_says_who_waits_for_whom() -> None:
    with pytest.raises(StalledError, match="asker waits for Number from doubler"):
        run({"asker": asker(), "doubler": leaves()})


def test_a_message_to_nobody() -> None:
    with pytest.raises(ProtocolError, match="asker sends to doubler, who takes no part"):
        run({"asker": asker()})


def test_a_message_of_another_kind_names_both() -> None:
    def liar() -> Steps[object]:
        yield Send("asker", Word("eight"))
        return None

    with pytest.raises(ProtocolError, match="asker waits for Number from doubler") as error:
        run({"asker": asker(), "doubler": liar()})
    assert "(raised at asker)" in error.value.__notes__


def test_generators_are_closed_when_one_fails() -> None:
    closed = []

    def waits() -> Steps[object]:
        try:
            yield Receive("fails", Number)
        finally:
            closed.append(True)
        return None

    def fails() -> Steps[object]:
        yield Checkpoint(bytes)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run({"waits": waits(), "fails": fails()})
    assert closed == [True]
