"""A party whose certificate is revoked, or expires, while it is connected."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from lotor.core.errors import CertificateError
from lotor.crypto.certificates import Certificate
from lotor.protocols.form import Contribution
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.distrusted import distrusted
from lotor.runtime.daemon.doctor.kit_checks import (
    ExaminedKit,
    check_certificate,
    check_party_toml,
    check_revocations,
)
from lotor.runtime.daemon.doctor.network_checks import check_peers
from lotor.runtime.daemon.doctor.trust_checks import check_trusted
from lotor.runtime.daemon.frames import Card
from lotor.runtime.daemon.kit import REVOKED, Kit
from lotor.runtime.durable.journal import RUNNING, STOPPED
from runtime.daemon.forgery import foreign
from runtime.daemon.stage import EVERYONE, Stage, play
from runtime.daemon.waiting import until

WITH_GRAZ = (*EVERYONE, "graz")


async def graz_is_connected(made: Stage) -> Certificate:
    """Until it and all others are connected to the controller."""
    others = {*WITH_GRAZ} - {"controller"}
    await until(lambda: others <= {*made.controller.connections.names()})
    return Kit(made.kit("graz")).certificate


def names(cards: list[Card]) -> set[str]:
    return {Certificate.from_der(card.certificate).subject.name for card in cards}


def test_runs_without_a_revoked_party_start_although_the_hub_does_not_know(tmp_path: Path) -> None:
    """The customer skips the card, says so once, and does not blame who passed it on."""

    async def scene(made: Stage) -> None:
        made.revoke(await graz_is_connected(made), ["customer"])
        for _ in range(2):
            await made.works()
        assert "graz" in made.controller.connections.names()
        lines = [line for line in made.log if "owner graz was revoked on" in line]
        assert len(lines) == 1
        assert "controller passed on" in lines[0]
        assert not made.logged("controller is gone")

    play(scene, tmp_path, *WITH_GRAZ)


def test_connections_of_a_revoked_party_end_and_it_is_told_why(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.revoke(await graz_is_connected(made), ["controller"])
        await until(lambda: "graz" not in made.controller.connections.names())
        transport = made.nodes["graz"].connections.transport
        await until(lambda: "revoked on" in str(transport.last_error("controller")))
        assert made.logged("connection to graz ends: the certificate of owner graz was revoked")
        await made.works()
        assert "graz" not in made.controller.connections.names()

    play(scene, tmp_path, *WITH_GRAZ)


def test_who_dials_a_revoked_party_ends_the_connection_too(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        names = made.controller.connections.names
        dials = made.nodes["lyon"].connections
        await until(lambda: {"lyon", "porto"} <= set(names()))
        # Who dials is the last to know: a list that comes before that ends the handshake.
        await until(lambda: "controller" in dials.names())
        made.revoke(made.controller.kit.certificate, ["lyon"])
        ended = "connection to controller ends: the certificate of controller controller was revok"
        await until(lambda: made.logged(ended))
        await until(lambda: "lyon" not in names())
        assert "controller" not in dials.names()
        assert "revoked on" in str(dials.transport.last_error("controller"))
        assert "porto" in names()  # it does not have the list

    play(scene, tmp_path)


def test_a_revoked_party_is_passed_on_to_nobody(tmp_path: Path) -> None:
    """Not even before its connection has ended."""

    async def scene(made: Stage) -> None:
        certificate = await graz_is_connected(made)
        connections = made.controller.connections
        assert "graz" in names(connections.roster())
        made.revoke(certificate, ["controller"])
        assert "graz" not in names(connections.roster())
        assert "lyon" in names(connections.roster())

    play(scene, tmp_path, *WITH_GRAZ)


def test_connections_of_a_party_whose_certificate_expires_end(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        certificate = await graz_is_connected(made)
        connections = made.controller.connections
        connections.end_untrusted(certificate.not_after - timedelta(seconds=1))
        assert connections.transport.session("graz")
        connections.end_untrusted(certificate.not_after + timedelta(days=1))
        await until(lambda: made.logged("the certificate of owner graz expired on"))
        await until(lambda: "graz" not in connections.names())
        told = made.nodes["graz"].connections.transport
        # It may be back already: its certificate is still valid by the clock of this machine.
        await until(lambda: told.session("controller") > 1)

    play(scene, tmp_path, *WITH_GRAZ)


def test_a_party_that_is_revoked_in_the_middle_of_its_handshake_stays_out(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        certificate = await graz_is_connected(made)
        connections = made.controller.connections
        connections.remove("graz")
        made.revoke(certificate, ["controller"])
        with pytest.raises(CertificateError, match="revoked on"):
            connections.add("graz")
        assert "graz" not in connections.names()

    play(scene, tmp_path, *WITH_GRAZ)


def test_a_run_with_a_revoked_member_waits_until_somebody_stops_it(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        made.revoke(
            made.live("controller", run).agreement.members["lyon"],
            [name for name in EVERYONE if name != "lyon"],
        )
        await until(lambda: "waits for lyon" in made.live("controller", run).note)
        made.release()
        assert {made.live(name, run).state for name in EVERYONE} == {RUNNING}
        made.ask("controller", run, commands.Stop("lyon is revoked"))
        states = await made.ended(run, "controller", "comp", "customer", "porto")
        assert {state for state, _ in states.values()} == {STOPPED}

    play(scene, tmp_path)


def test_a_damaged_list_ends_nothing_and_the_last_good_one_counts(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await graz_is_connected(made)
        lyon = Kit(made.kit("lyon")).certificate
        made.revoke(lyon, ["controller"])
        await until(lambda: "lyon" not in made.controller.connections.names())
        (made.kit("controller") / REVOKED).write_bytes(b"half a list")
        await until(lambda: made.logged("the last list that could be read counts"))
        assert made.controller.error is None
        assert names(made.controller.connections.roster()) >= {"graz", "porto"}
        assert "graz" in made.controller.connections.names()
        # Others still get in, and those who were revoked do not.
        await made.stop("graz")
        await made.start("graz")
        await until(lambda: "graz" in made.controller.connections.names())
        assert "lyon" not in made.controller.connections.names()
        made.revoke(Kit(made.kit("graz")).certificate, ["controller"])
        await until(lambda: "graz" not in made.controller.connections.names())

    play(scene, tmp_path, *WITH_GRAZ)


def test_a_card_of_another_federation_is_skipped(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        connections = made.controller.connections
        strange = Card(foreign("oslo", "owner").to_der(), Contribution(1))
        good = Card(made.certify("oslo", "owner").to_der(), Contribution(2))
        connections.learn("lyon", [strange])
        assert "oslo" not in connections.cards
        connections.learn("lyon", [strange, good])
        assert connections.cards["oslo"] == good
        assert sum("belongs to another federation" in line for line in made.log) == 1

    play(scene, tmp_path, "controller")


def findings(made: Stage, name: str, check: str) -> list[tuple[str, str]]:
    kit = ExaminedKit(made.kit(name))
    for look in (check_certificate, check_revocations, check_party_toml):
        list(look(kit))
    looks = {"trusted": check_trusted, "peers": check_peers}
    return [(one.result, f"{one.found}: {one.todo}") for one in looks[check](kit)]


def test_the_doctor_names_revoked_members_of_runs_and_of_party_toml(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await made.works()
        ((result, _),) = findings(made, "customer", "trusted")
        assert result == "ok"
        made.hold()
        run = await made.order()
        await made.held(run)
        made.revoke(Kit(made.kit("lyon")).certificate, ["controller", "customer"])
        ((result, text),) = findings(made, "controller", "trusted")
        assert result == "problem"
        assert f"run {run} has a member who cannot connect here" in text
        assert "the certificate of owner lyon was revoked on" in text
        assert f"lotor runs stop {run}" in text
        about_run, about_toml = findings(made, "customer", "trusted")
        assert about_run[0] == "problem"
        assert about_toml[0] == "warning"
        assert "lyon is listed under [members], but the certificate of owner lyon" in about_toml[1]
        assert findings(made, "porto", "trusted")[0][0] == "ok"  # it does not have the list
        made.revoke(Kit(made.kit("lyon")).certificate, ["lyon"])
        assert "without lyon" not in str(findings(made, "lyon", "trusted"))

    play(scene, tmp_path)


def test_a_revoked_member_of_an_earlier_run_is_known_before_it_is_looked_for(
    tmp_path: Path,
) -> None:
    async def scene(made: Stage) -> None:
        await made.works()
        kit, journal = Kit(made.kit("customer")), made.nodes["customer"].journal
        assert distrusted(kit, journal, ["lyon", "porto", "nobody"]) == []
        made.revoke(Kit(made.kit("lyon")).certificate, ["customer"])
        (said,) = distrusted(kit, journal, ["lyon", "porto", "nobody"])
        assert said.startswith("the certificate of owner lyon was revoked on ")
        assert said.endswith("lyon can take part only with a new one")
        assert distrusted(kit, journal, ["porto"]) == []

    play(scene, tmp_path)


def test_the_doctor_names_a_revoked_peer_and_who_is_revoked_there(tmp_path: Path) -> None:
    """From both sides: who dials a revoked party, and the revoked party itself."""

    async def scene(made: Stage) -> None:
        controller = made.controller.kit.certificate
        made.revoke(controller, ["porto"])
        made.revoke(Kit(made.kit("lyon")).certificate, ["controller"])
        loop = asyncio.get_running_loop()
        for name, words in (
            ("porto", "the certificate of controller controller was revoked on"),
            ("lyon", "refused the connection: the certificate of owner lyon was revoked on"),
        ):
            ((result, text),) = await loop.run_in_executor(None, findings, made, name, "peers")
            assert result == "problem"
            assert words in text

    play(scene, tmp_path, "controller")
