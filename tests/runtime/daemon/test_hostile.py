"""Members of a run that do not keep to the rules: named, refused, no harm to anybody else."""

from pathlib import Path

import msgspec
import pytest

from lotor.runtime.daemon.frames import Ask, Open, Status, encode
from lotor.runtime.durable import host as host_module
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.journal import FAILED, STOPPED
from lotor.runtime.durable.link import MESSAGES_AHEAD
from runtime.daemon.hostile import Sent, Twist, data, flipped, honest, message, once
from runtime.daemon.stage import EVERYONE, Stage, integrity, play, rows
from runtime.daemon.waiting import until

# What a member may send without any harm: it is acknowledged again, or ignored, or the connection
# is closed, and on the next one it says what is due.


def twice(name: str, frame: RunFrame) -> Sent:
    return [frame, frame] if isinstance(frame, Data | Ack | Join | Status | Open) else [frame]


def before_join(name: str, frame: RunFrame) -> Sent:
    if isinstance(frame, Join):
        return [Data(frame.run, 1, 0, 0, b"early"), Ack(frame.run, 0, 0), frame]
    return [frame]


def forged_status(frame: RunFrame) -> Sent:
    said = Status(frame.run, "porto", 9e9, STOPPED, "porto has had enough", 1, bytes(64))
    return [said, frame]


HARMLESS: dict[str, tuple[Twist, str]] = {
    "everything twice": (twice, ""),
    "data before join": (before_join, ""),
    "a gap": (
        once(message(5), lambda f: [msgspec.structs.replace(f, seq=data(f).seq + 1)]),
        "lyon sent message 6, but 5 is due",
    ),
    "swapped": (
        once(message(5), lambda f: [msgspec.structs.replace(f, seq=6), f]),
        "lyon sent message 6, but 5 is due",
    ),
    "two messages for one number": (
        once(message(5), lambda f: [f, msgspec.structs.replace(f, payload=b"other")]),
        "lyon sent two different messages as number 5",
    ),
    "acknowledges what was never sent": (
        once(message(5), lambda f: [msgspec.structs.replace(f, ack=10**6)]),
        "lyon acknowledges message 1000000",
    ),
    "a count beyond all journals": (
        once(message(5), lambda f: [msgspec.structs.replace(f, commits=2**63)]),
        "lyon sent",
    ),
    "half a frame": (
        once(message(5), lambda f: [encode(f)[: len(encode(f)) // 2]]),
        "bytes that are not a frame",
    ),
    "noise": (once(message(5), lambda f: [b"\xff" * 100, f]), "bytes that are not a frame"),
    "another run": (
        once(message(5), lambda f: [msgspec.structs.replace(f, run="00" * 16)]),
        "in which it is not a peer of controller",
    ),
    "speaks for another": (
        once(message(5), forged_status),
        "the signature on the status of porto is not valid",
    ),
}


@pytest.mark.parametrize("what", HARMLESS)
def test_a_member_that_breaks_the_rules_can_still_come_back(what: str, tmp_path: Path) -> None:
    twist, words = HARMLESS[what]

    async def scene(made: Stage) -> None:
        await made.meddler("lyon", twist)
        run = await made.order()
        await made.finishes(run)
        assert made.logged(words)
        if words:
            assert sum(words in line for line in made.log if "is gone" not in line) == 1

    play(scene, tmp_path, "controller", "comp", "customer", "porto")


def test_a_replayed_message_changes_nothing_and_is_acknowledged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", 2)

    async def scene(made: Stage) -> None:
        kept: list[Data] = []

        def keep(name: str, frame: RunFrame) -> Sent:
            kept.extend([frame] if isinstance(frame, Data) else [])
            return [frame]

        acknowledged: list[int] = []

        def watch(name: str, frame: RunFrame) -> Sent:
            acknowledged.extend([frame.ack] if name == "lyon" and isinstance(frame, Ack) else [])
            return [frame]

        await made.meddler("controller", watch)
        await made.meddler("lyon", keep)
        made.hold()
        run = await made.order()
        await made.held(run)
        before, host = rows(made.controller), made.host("controller", run)
        state = (host.links["lyon"].received, list(host.links["lyon"].inbox), host.round)
        acknowledged.clear()
        for frame in list(kept):
            made.nodes["lyon"].connections.send("controller", frame)
        made.nodes["lyon"].connections.send("controller", Ask(""))
        await until(
            lambda: "porto" in made.nodes["lyon"].connections.cards
        )  # all before it was handled
        assert (host.links["lyon"].received, list(host.links["lyon"].inbox), host.round) == state
        assert rows(made.controller) == before
        assert host.links["lyon"].ack > 0
        assert set(acknowledged) == {host.links["lyon"].ack}
        made.release()
        await made.finishes(run)

    play(scene, tmp_path, "comp", "customer", "porto")


# What a member may send to make a run fail: it fails for everybody, with who and when.

TAMPERED: dict[str, tuple[str, Twist, str, str]] = {
    "an owner's score of another round": (
        "lyon",
        # Its last ten bytes are the score; before them is its place.
        once(
            message(5),
            lambda f: [msgspec.structs.replace(f, payload=flipped(data(f).payload, -11))],
        ),
        "controller",
        "lyon",
    ),
    "an owner's score, cut": (
        "lyon",
        once(message(5), lambda f: [msgspec.structs.replace(f, payload=data(f).payload[:-1])]),
        "controller",
        "lyon",
    ),
    "an owner's empty message": (
        "lyon",
        once(message(5), lambda f: [msgspec.structs.replace(f, payload=b"")]),
        "controller",
        "lyon",
    ),
    "bits on their way": (
        "controller",
        once(
            message(7, to="porto"),
            lambda f: [msgspec.structs.replace(f, payload=flipped(data(f).payload))],
        ),
        "porto",
        "controller",
    ),
    "bits by comp": (
        "comp",
        once(message(5), lambda f: [msgspec.structs.replace(f, payload=flipped(data(f).payload))]),
        "",
        "controller",
    ),
    "comp's bits of another round": (
        "comp",
        once(message(5), lambda f: [msgspec.structs.replace(f, payload=old_bits(data(f)))]),
        "controller",
        "comp",
    ),
}


def old_bits(frame: Data) -> bytes:
    """Comp's answer with the place of the round before."""
    tag, place, sealed = msgspec.msgpack.decode(frame.payload)
    return msgspec.msgpack.encode([tag, place[:7] + bytes([place[7] - 1]) + place[8:], sealed])


@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_message_ends_the_run_for_all_with_its_sender_and_round(
    what: str, tmp_path: Path
) -> None:
    who, twist, finder, named = TAMPERED[what]

    async def scene(made: Stage) -> None:
        await made.meddler(who, twist)
        run = await made.order()
        states = await made.ended(run)
        assert {state for state, _ in states.values()} == {FAILED}, states
        (note,) = {note for _, note in states.values()}
        assert note.startswith(finder or ("lyon", "porto"))
        assert named in note.partition(":")[2]
        assert "round" in note
        made.meddle(who, honest)
        await made.works()
        for node in made.nodes.values():
            assert integrity(node.journal) == "ok"

    play(scene, tmp_path, *[name for name in EVERYONE if name != who])


def test_another_run_goes_on_while_one_fails(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await made.meddler("lyon", honest)
        made.hold()
        first = await made.order()
        await made.held(first)
        matches = message(6)
        made.meddle(
            "lyon",
            once(
                lambda name, frame: frame.run != first and matches(name, frame),
                lambda f: [msgspec.structs.replace(f, payload=b"")],
            ),
        )
        second = await made.order()
        states = await made.ended(second)
        assert {state for state, _ in states.values()} == {FAILED}
        made.release()
        await made.finishes(first)

    play(scene, tmp_path, "controller", "comp", "customer", "porto")


def test_a_flood_is_stopped(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await made.meddler("lyon", honest)
        made.hold()
        run = await made.order()
        await made.held(run)
        link = made.host("controller", run).links["lyon"]
        for number in range(1, MESSAGES_AHEAD + 2):
            flood = Data(run, link.received + number, 0, 0, b"flood")
            made.nodes["lyon"].connections.send("controller", flood)
        await until(lambda: made.logged("lyon is 4096 messages ahead"))
        assert len(link.inbox) <= MESSAGES_AHEAD
        made.release()
        states = await made.ended(run)  # what it sent instead of its score is no score
        assert {state for state, _ in states.values()} == {FAILED}
        await made.works()

    play(scene, tmp_path, "controller", "comp", "customer", "porto")
