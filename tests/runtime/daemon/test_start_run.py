"""The party that starts a run knows itself, and says who else is missing."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest

from daemons import DaemonGroup, until
from lotor.core.errors import MissingPartyError
from lotor.crypto.signing import Identity
from lotor.protocols.form import AnyForm, Contribution, Member
from lotor.protocols.party import Party
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon import start_run as start_run_module
from lotor.runtime.daemon.frames import Card
from lotor.runtime.daemon.node import Node
from lotor.runtime.daemon.start_run import start_run
from lotor.runtime.durable.journal import FINISHED
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


def test_the_journal_says_who_is_still_to_be_found_and_since_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_run_module, "ASK_SECONDS", 0.01)

    async def scenario() -> None:
        group = make_group(tmp_path / "f", wait=60.0)
        try:
            await group.up("anna")
            run = group.order("anna", order(3))
            queue = group.nodes["anna"].journal.commands
            await until(lambda: list(queue.sought(run)) == ["bert", "carl"])
            since = queue.sought(run)["carl"]
            await group.up("bert")
            await until(lambda: list(queue.sought(run)) == ["carl"])
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
