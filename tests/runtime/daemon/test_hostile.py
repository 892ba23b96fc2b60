"""Certified parties that do not keep to the rules: named, refused, and no harm to anybody else."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lotor.core.errors import LotorError
from lotor.core.version import VERSION
from lotor.crypto.certificates import Authority, Certificate, PartyKey, Subject
from lotor.crypto.signing import Identity
from lotor.protocols.catalogue import DEPLOYMENTS
from lotor.protocols.deployment import Offer
from lotor.protocols.samba.deployment import SambaDeployment
from lotor.runtime.daemon import docket
from lotor.runtime.daemon import status as statuses
from lotor.runtime.daemon.announcement import EVERYBODY, PURPOSE, Announcement
from lotor.runtime.daemon.frames import Ask, Card, Open, Roster, Status, decode, encode
from lotor.runtime.daemon.kit import CERTIFICATE, KEY
from lotor.runtime.daemon.node import Node
from lotor.runtime.durable.frames import Ack, Data, Frame, Join
from lotor.runtime.durable.journal import FAILED, REFUSED, RUNNING, STOPPED
from lotor.runtime.durable.link import MESSAGES_AHEAD
from runtime.daemon.hostile import (
    Stage,
    Stranger,
    Twist,
    honest,
    integrity,
    message,
    once,
    rows,
    stage,
    unchanged,
    until,
)

# A parser's words about a number that no certificate has, before it is refused.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Parsed a serial number:cryptography.utils.CryptographyDeprecationWarning"
)

EVERYONE = ("controller", "comp", "customer", "lyon", "porto")
NOBODY = ("-",)
Sent = Iterable[Frame | bytes]


def data(frame: Frame) -> Data:
    assert isinstance(frame, Data)
    return frame


def flipped(payload: bytes, place: int = -1) -> bytes:
    altered = bytearray(payload)
    altered[place] ^= 1
    return bytes(altered)


def play(scene: Callable[[Stage], Awaitable[None]], folder: Path, *names: str) -> None:
    async def whole() -> None:
        async with stage(folder, *names) as made:
            await scene(made)

    asyncio.run(whole())


# What a member may send without any harm: it is acknowledged again, or ignored, or the connection
# is closed, and on the next one it says what is due.


def twice(name: str, frame: Frame) -> Sent:
    return [frame, frame] if isinstance(frame, Data | Ack | Join | Status | Open) else [frame]


def before_join(name: str, frame: Frame) -> Sent:
    if isinstance(frame, Join):
        return [Data(frame.run, 1, 0, 0, b"early"), Ack(frame.run, 0, 0), frame]
    return [frame]


def forged_status(frame: Frame) -> Sent:
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
        "bytes that are no frame",
    ),
    "noise": (once(message(5), lambda f: [b"\xff" * 100, f]), "bytes that are no frame"),
    "another run": (
        once(message(5), lambda f: [msgspec.structs.replace(f, run="00" * 16)]),
        "in which controller has nothing to do with it",
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


def test_a_replayed_message_changes_nothing_and_is_acknowledged_again(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        kept: list[Data] = []

        def keep(name: str, frame: Frame) -> Sent:
            kept.extend([frame] if isinstance(frame, Data) else [])
            return [frame]

        acknowledged: list[int] = []

        def watch(name: str, frame: Frame) -> Sent:
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
            made.nodes["lyon"].send("controller", frame)
        made.nodes["lyon"].send("controller", Ask(""))
        await until(lambda: "porto" in made.nodes["lyon"].cards)  # all before it was handled
        assert (host.links["lyon"].received, list(host.links["lyon"].inbox), host.round) == state
        assert rows(made.controller) == before
        assert not acknowledged or set(acknowledged) == {host.links["lyon"].ack}
        made.release()
        await made.finishes(run)

    play(scene, tmp_path, "comp", "customer", "porto")


# What a member may send to make a run fail: it fails for everybody, with who and when.

TAMPERED: dict[str, tuple[str, Twist, str, str]] = {
    "an owner's score": (
        "lyon",
        once(message(5), lambda f: [msgspec.structs.replace(f, payload=flipped(data(f).payload))]),
        "comp",
        "controller",
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
        second = await made.order()
        matches = message(6)
        made.meddle(
            "lyon",
            once(
                lambda name, frame: frame.run == second and matches(name, frame),
                lambda f: [msgspec.structs.replace(f, payload=b"")],
            ),
        )
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
            made.nodes["lyon"].send("controller", flood)
        await until(lambda: made.logged("lyon is 4096 messages ahead"))
        assert len(link.inbox) <= MESSAGES_AHEAD
        made.release()
        states = await made.ended(run)  # what it sent instead of its score is no score
        assert {state for state, _ in states.values()} == {FAILED}
        await made.works()

    play(scene, tmp_path, "controller", "comp", "customer", "porto")


# What a certified party may say about runs in which it has no seat.


def announced(made: Stage, run: str) -> Announcement:
    return msgspec.msgpack.decode(made.live("controller", run).table.signed, type=Announcement)


def resigned(made: Stage, told: Announcement, signer: str = "customer") -> Open:
    """An announcement, altered and signed by somebody who has a key."""
    key = PartyKey.from_pem((made.kit(signer) / KEY).read_bytes())
    signature = Identity("customer", key.private, {}).sign(
        told.to_bytes(), run=told.run, purpose=PURPOSE, recipient=EVERYBODY
    )
    return Open(told.run, told.to_bytes(), signature)


def seat(told: Announcement, **certificates: Certificate) -> Announcement:
    ders = {seat: certificate.to_der() for seat, certificate in certificates.items()}
    return msgspec.structs.replace(told, run="bb" * 16, certificates={**told.certificates, **ders})


def foreign(name: str, role: str) -> Certificate:
    return Authority.create("elsewhere").sign(PartyKey.new().request(Subject(name, role)), 30)


def strange_words(made: Stage, run: str, graz: Stranger) -> dict[str, tuple[Frame | bytes, str]]:
    live = made.live("controller", run)
    told, signed, signature = announced(made, run), live.table.signed, live.table.signature
    identity = Identity("graz", graz.kit.key.private, {})
    as_porto = Identity("porto", graz.kit.key.private, {})
    other = msgspec.structs.replace(told, run="bb" * 16)
    not_mine = "in which controller has nothing to do with it"
    form = "somebody announced a run in a form"
    return {
        "data": (Data(run, 1, 0, 0, b"hello"), not_mine),
        "ack": (Ack(run, 1, 1), not_mine),
        "join": (Join(run, 1, 0, 0, 0, 0), not_mine),
        "stop": (statuses.make(identity, run, STOPPED, "enough", 1, 0.0), not_mine),
        "stop as porto": (statuses.make(as_porto, run, STOPPED, "enough", 1, 0.0), not_mine),
        "unknown run": (Data("00" * 16, 1, 0, 0, b""), not_mine),
        "unknown run's join": (Join("00" * 16, 1, 0, 0, 0, 0), not_mine),
        "no frame": (b"", "0 bytes that are no frame"),
        "deep": (b"\x91" * 100_000 + b"\x01", "no frame"),
        "negative": (encode(Ack(run, -1, 0)), "no frame"),
        "too large": (encode(Join(run, 1, 2**63, 0, 0, 0)), "no frame"),
        "other contents": (
            Open(run, msgspec.structs.replace(told, created=2.0).to_bytes(), signature),
            "again, with other contents: the first counts",
        ),
        "other contents, signed": (
            resigned(made, msgspec.structs.replace(told, created=2.0)),
            "again, with other contents: the first counts",
        ),
        "altered": (Open("bb" * 16, flipped(signed), signature), "was not announced by"),
        "cut": (Open("bb" * 16, signed[:-1], signature), form),
        "another name": (Open("bb" * 16, signed, signature), "under the name of another"),
        "name that forges a line": (
            resigned(made, msgspec.structs.replace(told, run="aa\nall is well")),
            form,
        ),
        "not by the opener": (resigned(made, other, "graz"), "was not announced by its customer"),
        "not by its key": (Open("bb" * 16, other.to_bytes(), bytes(64)), "was not announced by"),
        "one key twice": (
            resigned(made, seat(told, porto=made.certify("porto", "owner", lyon_key(made)))),
            "one party in two seats",
        ),
        "other order": (resigned(made, msgspec.structs.replace(other, order=b"?")), "no terms"),
        "foreign roster": (
            Roster("", [Card(foreign("lyon", "owner").to_der(), Offer(1))]),
            "belongs to another federation",
        ),
        "no roster": (Roster("", [Card(b"no certificate", Offer(1))]), "certificate"),
    }


def lyon_key(made: Stage) -> PartyKey:
    return PartyKey.from_pem((made.kit("lyon") / KEY).read_bytes())


def test_a_stranger_is_refused_by_name_and_changes_nothing(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        graz = await made.stranger("graz")
        for what, (frame, words) in strange_words(made, run, graz).items():
            with unchanged(made.controller):
                told = await graz.refused(frame)
            assert words in told, what
            assert list(made.controller.runs) == [run], what
        assert made.live("controller", run).state == RUNNING
        made.release()
        await made.finishes(run)
        await made.works()

    play(scene, tmp_path)


def test_members_who_cannot_be_trusted_are_declined_by_name(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        graz = await made.stranger("graz")
        told = announced(made, run)
        porto, revoked = told.certificates["porto"], made.certify("porto", "owner")
        made.revoke(revoked)
        cases = {
            "owner porto is revoked since": seat(told, porto=revoked),
            "owner porto expired": seat(told, porto=made.certify("porto", "owner", days_ago=40)),
            "belongs to another federation": seat(told, comp=foreign("comp", "comp")),
            "in the seat comp": seat(told, comp=Certificate.from_der(porto)),
            "in the seat lyon": seat(told, lyon=Certificate.from_der(porto)),
        }
        with unchanged(made.controller):
            for number, (words, bad) in enumerate(cases.items(), 1):
                alone = msgspec.structs.replace(bad, run=f"{number:032x}")
                await graz.say(resigned(made, alone))
                await until(lambda: len(graz.frames) == number)  # noqa: B023
                said = graz.frames[-1]
                assert isinstance(said, Status)
                assert (said.seat, said.state) == ("controller", REFUSED)
                assert words in said.text
        assert list(made.controller.runs) == [run]
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)


def test_nobody_learns_of_a_run_by_repeating_its_announcement(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        run = await made.order()
        await made.finishes(run)
        await made.stop(*EVERYONE)
        await made.start("controller")
        graz = await made.stranger("graz")
        table = made.live("controller", run).table
        with unchanged(made.controller):
            await graz.say(Open(run, table.signed, table.signature), Ask(""))
            await until(lambda: graz.frames)
        assert [type(frame) for frame in graz.frames] == [Roster]

    play(scene, tmp_path)


def test_what_a_peer_says_of_others_does_not_replace_what_they_say(tmp_path: Path) -> None:
    """Else any certified party could keep all others from starting runs."""

    async def scene(made: Stage) -> None:
        graz = await made.stranger("graz")
        lyon = made.nodes["lyon"].kit.certificate.to_der()
        card = Card(lyon, Offer(500, -1.0, 9.0))
        await until(lambda: "lyon" in made.controller.cards)
        await graz.say(Roster("", [card]), Ask(""))
        await until(lambda: graz.frames)
        await made.works()

    play(scene, tmp_path)


def test_what_followed_a_refused_frame_is_forgotten(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        graz = await made.stranger("graz")
        await graz.refused(*[b"noise"] * 50)
        await until(lambda: graz.net.sessions("controller") == 2)
        await graz.say(Ask(""))
        await until(lambda: graz.frames)
        assert graz.net.sessions("controller") == 2
        assert sum("no frame" in line for line in made.log if "gone" not in line) == 1

    play(scene, tmp_path, "controller")


def test_a_member_with_another_key_is_another_party(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        await made.stop("lyon")
        folder = made.kit("lyon")
        old = {name: (folder / name).read_bytes() for name in (KEY, CERTIFICATE)}
        made.reissue("lyon")
        with unchanged(made.controller):
            await made.start("lyon")
            await until(lambda: made.logged("lyon has another key than when the run began"))
            assert made.logged("this party has no seat in the run")
            await made.stop("lyon")
            thief = await made.stranger("lyon")
            join = Join(run, 9, 10**6, 0, 0, 10**6)
            for frame in (Data(run, 1, 0, 0, b""), join, Ack(run, 1, 1)):
                assert "has nothing to do with it" in await thief.refused(frame)
            await thief.net.close()
        for name, content in old.items():
            (folder / name).write_bytes(content)
        await made.start("lyon")
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)


# Anything at all, through the same code as what comes from the network.


def handled(node: Node, name: str, payload: bytes) -> None:
    try:
        node._handle(name, decode(payload, name))
    except LotorError as error:
        assert str(error)  # noqa: PT017


def test_random_bytes_and_random_changes_do_no_harm(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        table = made.live("controller", run).table
        seeds = [
            encode(frame)
            for frame in (
                Data(run, 3, 1, 1, b"payload"),
                Ack(run, 3, 1),
                Join(run, 1, 2, 3, 4, 5),
                Open(run, table.signed, table.signature),
                *made.live("controller", run).bulletin.known.values(),
                Roster("", [Card(made.controller.kit.certificate.to_der(), Offer(1))]),
                Ask(""),
            )
        ]
        dice = random.Random(5)
        with unchanged(made.controller):
            for _ in range(12_000):
                handled(made.controller, "graz", dice.randbytes(dice.randrange(60)))
            for _ in range(6_000):
                payload = bytearray(dice.choice(seeds))
                for _ in range(dice.randrange(1, 4)):
                    payload[dice.randrange(len(payload))] = dice.randrange(256)
                handled(made.controller, "graz", bytes(payload))
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)


RUNS = st.sampled_from(["this", "", "00" * 16]) | st.text(max_size=5)
COUNTS = st.integers(0, 2**63 - 1) | st.integers(0, 9)
TEXT = st.text(max_size=20)
FRAMES = st.one_of(
    st.builds(Data, RUNS, COUNTS, COUNTS, COUNTS, st.binary(max_size=40)),
    st.builds(Ack, RUNS, COUNTS, COUNTS),
    st.builds(Join, RUNS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS),
    st.builds(Open, RUNS, st.binary(max_size=40), st.binary(max_size=64)),
    st.builds(
        Status,
        RUNS,
        st.sampled_from(EVERYONE) | TEXT,
        st.floats(),
        TEXT,
        TEXT,
        COUNTS,
        st.binary(max_size=64),
    ),
    st.builds(Ask, RUNS),
    st.builds(
        Roster,
        RUNS,
        st.lists(st.builds(Card, st.binary(max_size=40), st.builds(Offer)), max_size=3),
    ),
)


@pytest.mark.parametrize("name", ["graz", "lyon", "customer"])
def test_any_frames_of_anybody_are_taken_or_refused(name: str, tmp_path: Path) -> None:
    """Those of members may well end the run, which others then can do again."""

    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)

        @settings(max_examples=300, database=None, suppress_health_check=list(HealthCheck))
        @given(FRAMES)
        def any_frame(frame: Frame) -> None:
            this = msgspec.structs.replace(frame, run=run) if frame.run == "this" else frame
            handled(made.controller, name, encode(this))

        any_frame()
        if name == "graz":
            made.release()
            await made.finishes(run)
            return
        for party in (*EVERYONE,):
            made.live(party, run).end(STOPPED, "over")
        made.release()
        await made.works()

    play(scene, tmp_path)


# Other versions, and other opinions about who can be trusted.


class OtherSamba(SambaDeployment):
    """SAMBA as it might be one day."""

    name = "other"
    wire = "other/1"


async def start_with_other(made: Stage, *names: str) -> None:
    for name in names:
        await made.start(name, deployments={**DEPLOYMENTS, "other": OtherSamba()})


def test_a_run_of_another_version_waits_for_it_and_others_go_on(tmp_path: Path) -> None:
    """In the journals of all who know it, while one of them was put back to an old version."""

    async def scene(made: Stage) -> None:
        await start_with_other(made, *EVERYONE)
        made.hold()
        run = await made.order(protocol="other")
        await made.held(run)
        await made.stop("lyon")
        await made.start("lyon")
        assert made.logged("is one of other (other/1)")
        assert made.logged(f"install lotor {VERSION} here")
        with unchanged(made.nodes["lyon"]):
            await until(lambda: "controller" in made.nodes["lyon"].neighbours())
        made.release()
        await made.works()
        assert made.live("controller", run).state == RUNNING
        await made.stop("lyon")
        await start_with_other(made, "lyon")
        await made.finishes(run)

    play(scene, tmp_path, *NOBODY)


def test_who_cannot_do_a_run_says_so_and_stays_connected(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await start_with_other(made, "controller", "comp", "customer", "porto")
        await made.start("lyon")
        run = await made.order(protocol="other")
        others = ("controller", "comp", "customer", "porto")
        states = await made.ended(run, *others)
        assert {state for state, _ in states.values()} == {REFUSED}
        (note,) = {note for _, note in states.values()}
        assert note.startswith("lyon: run ")
        assert "which this lotor" in note
        assert run not in made.nodes["lyon"].runs
        sessions = made.controller.transport.sessions("lyon")
        await made.works()
        assert made.controller.transport.sessions("lyon") == sessions

    play(scene, tmp_path, *NOBODY)


def test_a_member_whom_one_party_does_not_trust(tmp_path: Path) -> None:
    """Revoked, but only lyon has the newest list: the run ends, and others can go on."""

    async def scene(made: Stage) -> None:
        made.revoke(made.nodes["porto"].kit.certificate, at=["lyon"])
        run = await made.order()
        states = await made.ended(run, "controller", "comp", "customer", "porto")
        assert {state for state, _ in states.values()} == {REFUSED}
        (note,) = {note for _, note in states.values()}
        assert note.startswith("lyon: ")
        assert "owner porto is revoked since" in note
        assert made.controller.transport.sessions("lyon") == 1

    play(scene, tmp_path)


def test_declined_runs_are_remembered_up_to_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docket, "MOST_ASIDE", 3)

    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        graz = await made.stranger("graz")
        strange = seat(announced(made, run), comp=foreign("comp", "comp"))
        with unchanged(made.controller):
            for number in range(3):
                bad = msgspec.structs.replace(strange, run=f"{number:032x}")
                await graz.say(resigned(made, bad), Join(bad.run, 1, 0, 0, 0, 0))
                await until(lambda: len(graz.frames) == number + 1)  # noqa: B023
            bad = msgspec.structs.replace(strange, run="ff" * 16)
            assert "who cannot be trusted" in await graz.refused(resigned(made, bad))
        assert {frame.state for frame in graz.frames if isinstance(frame, Status)} == {REFUSED}
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)
