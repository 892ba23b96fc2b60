"""Certified parties that meddle with runs in which they have no seat."""

from pathlib import Path

import msgspec

from lotor.crypto.certificates import Certificate, PartyKey
from lotor.crypto.signing import Identity
from lotor.protocols.form import Contribution
from lotor.runtime.daemon import status as statuses
from lotor.runtime.daemon.frames import Ask, Card, Open, Roster, Status, encode
from lotor.runtime.daemon.kit import CERTIFICATE, KEY
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.journal import REFUSED, RUNNING, STOPPED
from runtime.daemon.forgery import announced, foreign, resigned, seat
from runtime.daemon.hostile import Stranger, flipped
from runtime.daemon.stage import EVERYONE, Stage, play, unchanged
from runtime.daemon.waiting import until


def strange_words(made: Stage, run: str, graz: Stranger) -> dict[str, tuple[RunFrame | bytes, str]]:
    live = made.live("controller", run)
    told, signed, signature = announced(made, run), live.agreement.signed, live.agreement.signature
    identity = Identity("graz", graz.kit.key.private, {})
    as_porto = Identity("porto", graz.kit.key.private, {})
    other = msgspec.structs.replace(told, run="bb" * 16)
    not_mine = "in which it is not a peer of controller"
    form = "a run was announced in a form"
    return {
        "data": (Data(run, 1, 0, 0, b"hello"), not_mine),
        "ack": (Ack(run, 1, 1), not_mine),
        "join": (Join(run, 1, 0, 0, 0, 0), not_mine),
        "stop": (statuses.make(identity, run, STOPPED, "enough", 1, 0.0), not_mine),
        "stop as porto": (statuses.make(as_porto, run, STOPPED, "enough", 1, 0.0), not_mine),
        "unknown run": (Data("00" * 16, 1, 0, 0, b""), not_mine),
        "unknown run's join": (Join("00" * 16, 1, 0, 0, 0, 0), not_mine),
        "no frame": (b"", "0 bytes that are not a frame"),
        "deep": (b"\x91" * 100_000 + b"\x01", "not a frame"),
        "negative": (encode(Ack(run, -1, 0)), "not a frame"),
        "too large": (encode(Join(run, 1, 2**63, 0, 0, 0)), "not a frame"),
        "other contents": (
            Open(run, msgspec.structs.replace(told, created=2.0).to_bytes(), signature),
            "again, with other contents: the first counts",
        ),
        "other contents, signed": (
            resigned(made, msgspec.structs.replace(told, created=2.0)),
            "again, with other contents: the first counts",
        ),
        "another form, signed": (
            resigned(made, msgspec.structs.replace(told, form="another")),
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
        "other order": (
            resigned(made, msgspec.structs.replace(other, order=b"?")),
            "terms that this version cannot read",
        ),
        "deep order": (
            resigned(made, msgspec.structs.replace(other, order=deep_order())),
            "terms that this version cannot read",
        ),
        "no roster": (Roster("", [Card(b"no certificate", Contribution(1))]), "certificate"),
    }


def deep_order() -> bytes:
    """A field that nobody asked for, with lists in lists."""
    return b"\x81\xa4more" + b"\x91" * 100_000 + b"\x00"


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
            "owner porto was revoked on": seat(told, porto=revoked),
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
        table = made.live("controller", run).agreement
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
        card = Card(lyon, Contribution(500, -1.0, 9.0))
        await until(lambda: "lyon" in made.controller.connections.cards)
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
        assert sum("not a frame" in line for line in made.log if "gone" not in line) == 1

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
                assert "in which it is not a peer of" in await thief.refused(frame)
            await thief.net.close()
        for name, content in old.items():
            (folder / name).write_bytes(content)
        await made.start("lyon")
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)
