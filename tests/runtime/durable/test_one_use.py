"""No mask covers two values, whatever crashes, loses power or answers otherwise the second time."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from struct import pack

import pytest

from crashing import Fate, Site
from lotor.core.effects import Checkpoint, Decision, Message, Once, Pull, Receive, Send, Steps
from lotor.core.errors import JournalError
from lotor.protocols.party import Party
from lotor.runtime.wire import encode
from one_use import Departure, Place, used_twice
from power import Fickle, PowerCuts

BUDGET = 4
PAD = 0x5AD0


class Padded(Message, frozen=True, tag="test/1/padded"):
    place: bytes
    padded: bytes


class Heard(Message, frozen=True, tag="test/1/heard"):
    place: bytes


@dataclass
class Owner(Party):
    """Sends its total so far under a pad, is pulled in every other round, and adds the reward.

    `drawn` adds what no replay repeats.
    """

    once: bool = False
    masked: bool = False
    drawn: Callable[[], int] = int
    t: int = 1
    total: int = 0

    def steps(self) -> Steps[int]:
        while self.t <= BUDGET:
            yield Checkpoint(lambda: pack("<2q", self.t, self.total), self.t)
            decision = Decision.named("aa", self.t, 0) if self.t % 2 else None
            reward = yield Pull(decision, self.masked)
            self.total += int(1024 * (reward or 0))
            score = pack("<q", self.total + self.drawn())
            if self.once:
                yield Once(score)
            yield Send("server", Padded(pack("<q", self.t), bytes(x ^ PAD & 255 for x in score)))
            yield Receive("server", Heard)
            self.t += 1
        return self.t


@dataclass
class Server(Party):
    """Hears, and says so."""

    t: int = 1

    def steps(self) -> Steps[int]:
        while self.t <= BUDGET:
            yield Checkpoint(lambda: pack("<q", self.t), self.t)
            padded: Padded = yield Receive("owner", Padded)
            yield Send("owner", Heard(padded.place))
            self.t += 1
        return self.t


def restored_owner(snapshot: bytes, **kind: object) -> Owner:
    t, total = (int.from_bytes(snapshot[at : at + 8], "little") for at in (0, 8))
    return Owner(t=t, total=total, **kind)  # type: ignore[arg-type]


def restored_server(snapshot: bytes) -> Server:
    return Server(int.from_bytes(snapshot, "little"))


def departures(fate: Fate, seed: int, **kind: object) -> tuple[list[Departure], bool]:
    """All that left the parties of a run with power cuts, and whether the run was stopped."""
    owner = Owner(**kind)  # type: ignore[arg-type]
    sites = {
        "owner": Site("owner", owner, lambda seen: restored_owner(seen, **kind), ["server"]),
        "server": Site("server", Server(), restored_server, ["owner"]),
    }
    simulation = PowerCuts(sites, Fickle(), fate, seed=seed)
    try:
        simulation.run()
    except JournalError:
        return simulation.sent, True
    finally:
        for site in sites.values():
            site.disk.close()
    return simulation.sent, False


def twice(seeds: int, **kind: object) -> tuple[list[Place], int]:
    """The places that were used twice in many runs, and how many of the runs were stopped."""
    found: list[Place] = []
    stopped = 0
    for seed in range(seeds):
        sent, ended = departures(Fate(seed, probability=0.03), seed, **kind)
        stopped += ended
        if sent:
            found += used_twice(sent, Padded)
    return found, stopped


@pytest.mark.parametrize("kind", [{"once": True}, {"masked": True}, {"once": True, "masked": True}])
def test_a_world_that_answers_otherwise_cannot_put_two_values_under_one_pad(
    kind: dict[str, object],
) -> None:
    assert twice(40, **kind) == ([], 0)
    fate = Fate()
    departures(fate, 0, **kind)
    for at in range(1, fate.steps + 1):
        sent, stopped = departures(Fate(at=at), 0, **kind)
        assert used_twice(sent, Padded) == []
        assert not stopped


def test_without_either_it_can_and_is_caught() -> None:
    found, stopped = twice(40)
    assert found
    assert stopped == 0
    assert {(place.sender, place.to, place.kind) for place in found} == {
        ("owner", "server", "Padded")
    }


def test_a_party_that_comes_to_another_value_is_stopped() -> None:
    found, stopped = twice(40, once=True, masked=True, drawn=count().__next__)
    assert found == []
    assert stopped > 5


def test_a_masked_pull_alone_does_not_stop_it_but_it_is_caught() -> None:
    found, stopped = twice(40, masked=True, drawn=count().__next__)
    assert found
    assert stopped == 0


def departed(sender: str, to: str, place: bytes, padded: bytes) -> Departure:
    return Departure(sender, to, 1, encode(Padded(place, padded)))


class TestTheChecker:
    SAID = (departed("a", "b", b"x", b"p"), departed("a", "b", b"y", b"q"))

    def test_a_repetition_is_one_use(self) -> None:
        assert used_twice(self.SAID * 2, Padded) == []

    def test_another_content_at_a_place_is_found_under_any_number(self) -> None:
        other = departed("a", "b", b"x", b"r")._replace(seq=3)
        assert used_twice([*self.SAID, other], Padded) == [Place("a", "b", "Padded", b"x")]

    def test_another_direction_is_another_place(self) -> None:
        other = departed("b", "a", b"x", b"r")
        assert used_twice([*self.SAID, other], Padded) == []

    def test_it_says_when_it_has_seen_nothing(self) -> None:
        with pytest.raises(AssertionError, match="Heard"):
            used_twice(self.SAID, Padded, Heard)
