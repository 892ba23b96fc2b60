"""Daemons that keep what they know after a run, and go on from it: as plain does, or not at all."""

import time
from pathlib import Path

import msgspec
import pytest

from daemons import until
from lotor.core.errors import JournalError
from lotor.crypto.certificates import PartyKey
from lotor.protocols.kept_arms import KeptArms
from lotor.runtime.daemon import round_orders
from lotor.runtime.daemon import status as statuses
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.commands import Approve, NextRounds
from lotor.runtime.daemon.kit import CERTIFICATE, KEY, Kit
from lotor.runtime.daemon.local.interface import LocalInterface
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.daemon.round_orders import RoundsGranted
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.daemon.state_seal import StateSeal
from lotor.runtime.durable.journal import STOPPED, WAITING
from residue import watch_journals
from runtime.daemon.continuing import FIRST, HELD, SECOND, Clinics, plain, play
from scanning import Secret, contents, forms_of, leaks

pytestmark = pytest.mark.usefixtures("real_transfers")


def test_a_run_is_continued_after_all_parties_were_restarted_and_an_owner_joins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    residue = watch_journals(monkeypatch, secure_delete=False)
    sealed = dict[tuple[str, str], bytes]()
    seal = StateSeal.seal

    def noted(self: StateSeal, run: str, state: bytes) -> bytes:
        sealed[run, self._party] = state
        return seal(self, run, state)

    monkeypatch.setattr(StateSeal, "seal", noted)
    one, two, other = plain((3, FIRST), (4, SECOND), (3, SECOND))[0], None, None
    _, two = plain((3, FIRST), (4, SECOND))
    _, other = plain((3, FIRST), (3, SECOND))

    async def scene(made: Clinics) -> None:
        first = await made.run(FIRST, "lyon", "porto")
        assert await made.finished(first) == one.reward
        assert made.pulled(first) == one.arms
        for name, node in made.group.nodes.items():
            about = node.journal.kept.about(first)
            assert (about is not None) == (name in ("lyon", "porto"))
        await made.restart(*made.made.members)

        second = await made.run(SECOND, "lyon", "porto", "graz", continues=first[:12])
        assert await made.finished(second) == two.reward
        assert made.pulled(second) == two.arms

        # Once more from the same state, without what the second run has learnt.
        branch = await made.run(SECOND, "porto", "lyon", continues=first, keep=False)
        assert await made.finished(branch) == other.reward
        assert made.pulled(branch) == other.arms
        assert made.group.nodes["lyon"].journal.kept.continued_by(first) == [second, branch]

        assert sorted(sealed) == sorted(
            [(first, "lyon"), (first, "porto"), *((second, name) for name in HELD)]
        )
        await made.group.down()
        for name in ("lyon", "customer"):
            with open_kit(made.made.kits[name]) as at:
                document = LocalInterface(at).run(first)
                listed = [one["run"] for one in LocalInterface(at).runs() if "kept" in one]
                assert LocalInterface(at).run(second)["continues"] == first
            assert document["continued_by"] == [second, branch]
            assert list(document["keeps"]) == ["owner"]
            assert listed == ([first, second] if name == "lyon" else [])
        states = [KeptArms.from_bytes(state) for state in sealed.values()]
        secrets = [
            Secret(f"{state.party}'s sums", forms_of(msgspec.msgpack.encode(state.arms.s)))
            for state in states
        ]
        assert all(min(map(len, one.forms)) > 4 for one in secrets)
        for secret, state in zip(secrets, sealed.values(), strict=True):
            assert secret.is_in(state)
        assert leaks(contents(tmp_path), secrets) == []
        assert residue.found(kit / "state" for kit in made.made.kits.values()) == {}

    play(tmp_path, scene)


@pytest.mark.long
def test_an_owner_is_asked_before_it_keeps_anything(tmp_path: Path) -> None:
    async def scene(made: Clinics) -> None:
        run = await made.run(FIRST, "lyon", "porto")
        for name in ("lyon", "porto"):
            live = await made.group.state(name, run, WAITING)
            assert "keep is not true in [consent]" in live.note
            assert "how often each of its arms was pulled" in live.note
            made.group.tell(name, run, Approve())
        await made.finished(run)
        # One that keeps nothing may start by itself, and continues a run all the same.
        await made.finished(await made.run(SECOND, "lyon", "porto", continues=run, keep=False))

    play(tmp_path, scene, keep=False)


@pytest.mark.long
def test_rounds_are_asked_for_by_numbers_that_go_on(tmp_path: Path) -> None:
    async def scene(made: Clinics) -> None:
        first = await made.run(FIRST, "lyon", "porto")
        await made.finished(first)
        pace = Pace(on_demand=True)
        run = await made.run(SECOND, "lyon", "porto", "graz", continues=first, pace=pace)
        live = await made.group.live("customer", run)
        gate = (await made.group.live("controller", run)).pacing.gate
        # The first pull of the new arm is not asked for.
        await until(lambda: gate.held == FIRST + 2)
        made.group.tell("customer", run, NextRounds(3))
        await until(lambda: gate.held == FIRST + 5)
        with open_kit(made.made.kits["customer"]) as at:
            row = at.journal.run(run)
            assert round_orders.granted(at, row) == RoundsGranted(3, FIRST + 4, SECOND - 4)
        made.group.tell("customer", run, NextRounds(SECOND - 4))
        assert await made.finished(run) == plain((3, FIRST), (4, SECOND))[1].reward
        assert live.agreement.plan.before == FIRST

    play(tmp_path, scene)


@pytest.mark.long
def test_nothing_stays_if_the_customer_stops_a_run_that_has_finished_here(tmp_path: Path) -> None:
    async def scene(made: Clinics) -> None:
        run = await made.run(FIRST, "lyon", "porto")
        await made.finished(run)
        kept = made.group.nodes["lyon"].journal.kept
        lyon = made.group.nodes["lyon"].runs[run]
        for name, stays in (("comp", True), ("customer", False)):
            identity = made.group.nodes[name].runs[run].agreement.identity
            status = statuses.make(identity, run, STOPPED, "by its operator", 0, time.time())
            lyon.heard(status, "controller")
            assert (kept.about(run) is not None) == stays

    play(tmp_path, scene)


@pytest.mark.long
def test_what_does_not_fit_is_refused_and_says_who_and_what_to_do(tmp_path: Path) -> None:
    async def scene(made: Clinics) -> None:
        first = await made.run(FIRST, "lyon", "porto")
        await made.finished(first)
        unkept = await made.run(FIRST, "lyon", "porto", keep=False)
        await made.finished(unkept)
        both = "lyon", "porto"

        why = await made.impossible(await made.run(SECOND, *both, continues="0000"))
        assert "no run here whose id begins with '0000'" in why
        why = await made.impossible(await made.run(SECOND, *both, continues=unkept))
        assert "was started without keep" in why

        journal = made.group.nodes["porto"].journal
        row = journal.find(first)
        assert row is not None

        journal.database.execute("UPDATE runs SET state = 'stopped' WHERE id = ?", (first,))
        why = await made.refused(await made.run(SECOND, *both, continues=first))
        assert f"run {first} is stopped at porto, and only a run that is finished" in why
        journal.database.execute("UPDATE runs SET state = 'finished' WHERE id = ?", (first,))

        sealed = journal.kept.sealed(first)
        assert sealed is not None
        journal.database.execute("UPDATE kept SET sealed = ?", (b"1" + sealed,))
        why = await made.refused(await made.run(SECOND, *both, continues=first))
        assert "sealed by another version" in why
        journal.database.execute("UPDATE kept SET sealed = ?", (sealed[:-1] + b"!",))
        why = await made.refused(await made.run(SECOND, *both, continues=first))
        assert f"what porto has kept of run {first} does not open" in why
        journal.keep_nothing(first)
        why = await made.refused(await made.run(SECOND, *both, continues=first))
        assert f"porto has kept nothing of run {first}" in why

        journal.database.execute("DELETE FROM runs WHERE id = ?", (first,))
        why = await made.refused(await made.run(SECOND, *both, continues=first))
        assert f"porto has no run {first}, which this run continues" in why
        # Without it, the others go on.
        await made.finished(await made.run(SECOND, "lyon", continues=first))

    play(tmp_path, scene)


def test_a_party_with_another_key_is_another_party(tmp_path: Path) -> None:
    async def scene(made: Clinics) -> None:
        first = await made.run(FIRST, "lyon", "porto")
        await made.finished(first)
        await made.group.down("porto", "customer")
        kit = made.made.kits["porto"]
        authority = AuthorityFolder(made.made.folder / "authority")
        key = PartyKey.new()
        certificate = authority.authority.sign(key.request(Kit(kit).subject), 30)
        (kit / KEY).write_bytes(key.to_pem())
        (kit / CERTIFICATE).write_bytes(authority.bundle(certificate))
        await made.group.up("porto")
        connections, shown = made.group.nodes["controller"].connections, certificate.to_der()
        await until(lambda: shown in [card.certificate for card in connections.cards.values()])
        await made.group.up("customer")
        why = await made.impossible(await made.run(SECOND, "lyon", "porto", continues=first))
        assert "porto has another key than porto had in run" in why

    play(tmp_path, scene)


def test_sealed_states_open_only_for_their_run_and_party() -> None:
    key = PartyKey.new()
    seal = StateSeal(key, "lyon")
    sealed = seal.seal("aa", b"state")
    assert seal.open("aa", sealed) == b"state"
    assert seal.seal("aa", b"state") != sealed
    assert b"state" not in sealed
    for other, run in (
        (StateSeal(key, "lyon"), "bb"),
        (StateSeal(key, "porto"), "aa"),
        (StateSeal(PartyKey.new(), "lyon"), "aa"),
    ):
        with pytest.raises(JournalError, match="does not open: it was sealed under another key"):
            other.open(run, sealed)
    with pytest.raises(JournalError, match="another version of lotor"):
        seal.open("aa", b"lotor/kept/2 " + sealed)
    assert repr(seal) == "<StateSeal of lyon>"
