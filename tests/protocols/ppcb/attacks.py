"""What somebody on the way of PPCB's messages can do to them."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from traceback import format_exception

import msgspec
import pytest

import lotor
from helpers import Outcome
from lotor.core.effects import Act, Message, Send
from lotor.core.errors import InputError, LotorError, ProtocolError
from lotor.protocols.party import Party
from lotor.protocols.ppcb import messages
from lotor.protocols.ppcb.dealt.server import PPCBServer
from mallory import Change, Mallory
from protocols.ppcb.stage import SERVERS, Watched, play, rebuild, some_arms
from scanning import Secret, forms_of, forms_of_number, leaks

ARMS, BUDGET = some_arms(1, rounds=20, k=3, d=3), 20
PROTOCOL = lotor.PPCB(epsilon=0.3, form="dealt")


@dataclass
class Left:
    """What a run leaves behind, also one that ended in an error."""

    parties: dict[str, Watched] = field(default_factory=dict)

    @property
    def acts(self) -> int:
        """How many arms were pulled."""
        return sum(isinstance(done.effect, Act) for done in self.parties["actor"].done)

    def server(self, name: str) -> PPCBServer:
        party = self.parties[name].party
        assert isinstance(party, PPCBServer)
        return party

    def untouched(self, name: str) -> bool:
        """Whether a server holds what it would hold had the last message never come."""
        watch = self.parties[name]
        (*_, begin) = (number for number, done in enumerate(watch.done) if done.snapshot)
        again = rebuild(watch.party, watch.done[begin].snapshot)
        assert isinstance(again, PPCBServer)
        steps = again.steps()
        next(steps)
        before = _held(again)
        with suppress(LotorError):
            for done in watch.done[begin:]:
                before = _held(again)
                steps.send(done.handed)
            before = _held(again)
        return before == _held(self.server(name))

    def secrets(self) -> Iterator[Secret]:
        """All keys, shares of what was learnt, and shares that were sent."""
        for name in SERVERS:
            memory = self.server(name)._memory
            held = memory.keys
            keys = [memory.draw_key, held.pads, held.blind, *held.inputs.values()]
            shares = self.server(name)._model.table.share.ravel()[-2:].tolist()
            for key in filter(None, keys):
                yield Secret(f"a key of {name}", forms_of(key))
            for share in shares:
                if share > 2**40:
                    yield Secret(f"weights of {name}", forms_of_number(share))
        for watch in self.parties.values():
            for done in watch.done:
                sent = done.effect.message if isinstance(done.effect, Send) else None
                data = getattr(sent, "shares", b"")[:16]
                if len(data) >= 8:
                    yield Secret(f"shares in {type(sent).__name__}", forms_of(data))


def _held(party: PPCBServer) -> tuple[object, ...]:
    """All that a server has learnt and waits for."""
    model, waiting = party._model, party._memory.waiting
    learnt = model.table.share.tobytes(), model.vectors.share.tobytes()
    return learnt, *(msgspec.structs.astuple(choice) for choice in waiting)


def attack(
    kind: type[Message],
    change: Change,
    *,
    after: int = 0,
    left: Left | None = None,
    budget: int = BUDGET,
) -> Outcome:
    """A run whose n-th message of a kind is changed on its way."""
    kept = left or Left()

    def wrap(name: str, party: Party) -> Party:
        return kept.parties.setdefault(name, Watched(party))

    transport = Mallory(kind, change, after)
    return play(PROTOCOL, ARMS, budget=budget, transport=transport, wrap=wrap)


def refused(complaint: str, reader: str, run: Callable[[Left], object]) -> Left:
    """A run must end in an error at one party, which shows no secret and changes no server."""
    left = Left()
    with pytest.raises(LotorError, match=complaint) as error:
        run(left)
    assert isinstance(error.value, ProtocolError | InputError)
    assert error.value.__notes__ == [f"(raised at {reader})"]
    text = "".join(format_exception(error.value))
    assert leaks({"the error": text.encode()}, left.secrets()) == []
    assert reader not in SERVERS or left.untouched(reader)
    return left


def refuses(
    complaint: str, reader: str, kind: type[Message], change: Change, *, after: int
) -> Left:
    """The same of a run whose n-th message of a kind is changed."""
    return refused(complaint, reader, lambda left: attack(kind, change, after=after, left=left))


def another_kind(message: Message, _: object) -> Message:
    if type(message) is not messages.Due:
        return messages.Due(bytes(14))
    return messages.Acted(bytes(14))
