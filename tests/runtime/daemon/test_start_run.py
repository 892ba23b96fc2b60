"""The party that starts a run knows itself, and says who else is missing."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest

from daemons import DaemonGroup, until
from lotor.core.errors import JournalWriteError, MissingPartyError, VersionError
from lotor.crypto.signing import Identity
from lotor.protocols.form import AnyForm, Contribution, Member
from lotor.protocols.party import Party
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon import start_run as start_run_module
from lotor.runtime.daemon.commands import to_bytes
from lotor.runtime.daemon.frames import Card
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.node import Node
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.daemon.start_run import start_run
from lotor.runtime.durable.host import first_snapshot
from lotor.runtime.durable.journal import FINISHED, RUNNING
from runtime.daemon.test_toy import PULL, ROLES, TOYS, configs, order
from toy import Toy, ToyForm


def make_group(
    folder: Path, wait: float, protocols: Mapping[str, type[SecureProtocol]] = TOYS
) -> DaemonGroup:
    group = DaemonGroup(folder, ROLES, configs(wait), protocols)
    (group.kits["carl"] / "world.py").write_text(PULL)
    return group


def _knows(node: Node, name: str) -> bool:
    return name in node.connections.names()


@pytest.mark.parametrize(
    ("there", "missing"), [(("anna",), "bert, carl"), (("anna", "bert"), "carl")]
)
def test_only_others_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], missing: str
) -> None:
    monkeypatch.setattr(start_run_module, "ASK_SECONDS", 0.01)

    async def scenario() -> None:
        group = make_group(tmp_path / "f", wait=0.1)
        try:
            await group.up(*there)
            anna = group.nodes["anna"]
            for name in there[1:]:
                await until(partial(_knows, anna, name))
            with pytest.raises(MissingPartyError, match=f"^{missing} could not be found within"):
                await start_run(anna.context, anna.registry, "aa", order(3))
        finally:
            await group.down()

    asyncio.run(scenario())


def test_journal_and_log_say_who_is_still_to_be_found_and_since_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(start_run_module, "ASK_SECONDS", 0.01)

    def logged() -> list[str]:
        lines = [one for one in caplog.records if getattr(one, "event", "") == "looking"]
        return [one.getMessage().partition(" since ")[0] for one in lines]

    async def scenario() -> None:
        group = make_group(tmp_path / "f", wait=60.0)
        try:
            await group.up("anna")
            run = group.order("anna", order(3))
            queue = group.nodes["anna"].journal.commands
            await until(lambda: list(queue.sought(run)) == ["bert", "carl"])
            since = queue.sought(run)["carl"]
            await until(lambda: len(logged()) > 0)
            await group.up("bert")
            await until(lambda: list(queue.sought(run)) == ["carl"])
            await until(lambda: len(logged()) > 1)
            assert logged() == ["looking for bert, carl", "looking for carl"]
            assert queue.sought(run) == {"carl": since}
            await group.down("anna")
            await group.up("anna")
            queue = group.nodes["anna"].journal.commands
            assert queue.sought(run)["carl"] == since
            await group.up("carl")
            await group.state("anna", run, FINISHED)
            assert queue.sought(run) == {}
        finally:
            await group.down()

    asyncio.run(scenario())


def test_an_order_that_was_carried_out_before_a_crash_is_not_carried_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although its run is set aside, since another version is needed for it."""

    def other_version(*_: object) -> None:
        raise VersionError("install another lotor")

    async def scenario() -> None:
        group = make_group(tmp_path / "f", wait=60.0)
        try:
            await group.up()
            run = group.order("anna", order(10**6))
            await group.live("anna", run)
            await until(lambda: not group.nodes["anna"].journal.commands.waiting())
            # As if the party had been killed before it took note that this was done.
            group.nodes["anna"].journal.commands.add(run, to_bytes(order(10**6)))
            await group.down("anna")
            monkeypatch.setattr(announcement, "check_resumable", other_version)
            await group.up("anna")
            anna = group.nodes["anna"]
            assert run in anna.registry.aside
            await until(lambda: anna.error or not anna.journal.commands.waiting())
            assert anna.error is None
            assert anna.journal.commands.impossible(run) is None
            assert anna.journal.run(run).state == RUNNING
        finally:
            await group.down()

    asyncio.run(scenario())


def test_an_order_is_taken_back_or_its_run_starts_but_not_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process takes it back while the first snapshot is made."""
    answers = list[bool]()

    async def scenario() -> None:
        group = make_group(tmp_path / "f", wait=60.0)
        try:
            await group.up()
            anna = group.nodes["anna"]

            def slow_snapshot(party: Party) -> bytes:
                with open_kit(group.kits["anna"]) as other:
                    answers.append(other.journal.commands.withdraw(run))
                return first_snapshot(party)

            monkeypatch.setattr(start_run_module, "first_snapshot", slow_snapshot)
            run = group.order("anna", order(3))
            await until(lambda: anna.journal.commands.impossible(run) or run in anna.runs)
            assert answers == [True]
            assert "was taken back" in str(anna.journal.commands.impossible(run))
            assert run not in anna.runs
            assert anna.journal.find(run) is None
        finally:
            await group.down()

    asyncio.run(scenario())


def test_nobody_takes_an_order_back_while_its_run_is_written_down(tmp_path: Path) -> None:
    async def scenario() -> None:
        group = make_group(tmp_path / "f", wait=60.0)
        try:
            await group.up()
            registry = group.nodes["anna"].registry
            add, refused = registry.add, list[str]()
            with open_kit(group.kits["anna"]) as other, pytest.MonkeyPatch.context() as patch:
                other.journal.database.execute("PRAGMA busy_timeout = 0")

                def add_in_spite(live: LiveRun, snapshot: bytes | None) -> None:
                    with pytest.raises(JournalWriteError, match="locked"):
                        other.journal.commands.withdraw(live.run)
                    refused.append(live.run)
                    add(live, snapshot)

                patch.setattr(registry, "add", add_in_spite)
                run = group.order("anna", order(3))
                await group.state("anna", run, FINISHED)
                assert refused == [run]
        finally:
            await group.down()

    asyncio.run(scenario())


def listing(opener_brings: list[Contribution]) -> type[Toy]:
    """The toy that notes what the opener is said to bring."""

    class ListingForm(ToyForm):
        def open(
            self,
            protocol: SecureProtocol,
            run: str,
            members: Mapping[str, Sequence[Member]],
            budget: int,
            identity: Identity,
        ) -> tuple[bytes, Party]:
            opener_brings.extend(member.contribution for member in members[self.opener])
            return super().open(protocol, run, members, budget, identity)

    class Listing(Toy):
        forms: ClassVar[Mapping[str, type[AnyForm]]] = {"paper": ListingForm}

    return Listing


def test_what_peers_say_about_the_opener_does_not_count(tmp_path: Path) -> None:
    async def scenario() -> None:
        said: list[Contribution] = []
        group = make_group(tmp_path / "f", 60.0, {"toy": listing(said)})
        try:
            await group.up()
            anna, peers = group.nodes["anna"], [group.nodes["bert"], group.nodes["carl"]]
            for peer in peers:
                await until(partial(_knows, peer, "anna"))
                peer.connections.cards["anna"] = Card(
                    anna.kit.certificate.to_der(), Contribution(arms=99)
                )
            await group.state("anna", group.order("anna", order(3)), FINISHED)
            assert said == [anna.resources.contribution] != [Contribution(arms=99)]
        finally:
            await group.down()

    asyncio.run(scenario())
