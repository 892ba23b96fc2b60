"""Exclusions where somebody cheats: nobody leaves unless all others have signed it."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

import lotor
from daemons import until
from losing import SINCE, exclusion_by
from lotor.core.effects import Exclusion
from lotor.core.errors import ProtocolError
from lotor.crypto.signing import Identity
from lotor.protocols.exclusion import agree
from lotor.runtime.daemon.frames import ExclusionAgreed, PartiesExcluded
from lotor.runtime.durable.journal import RUNNING
from lotor.sandbox import Federation
from runtime.daemon.on_demand import PacedRun

SEED, BUDGET, LOST, LIAR = 7, 14, "lyon", "comp"
Told = ExclusionAgreed | PartiesExcluded
Identities = Mapping[str, Identity]


def agreed(run: str, signer: str, signature: bytes, party: str = LOST) -> ExclusionAgreed:
    return ExclusionAgreed(run, signer, party, SINCE, signature)


def for_another(run: str, identities: Identities) -> Told:
    return agreed(run, "porto", agree(identities[LIAR], run, LOST, SINCE))


def of_another_run(run: str, identities: Identities) -> Told:
    return agreed(run, "porto", agree(identities["porto"], "ab" * 16, LOST, SINCE))


def of_another_absence(run: str, identities: Identities) -> Told:
    return agreed(run, "porto", agree(identities["porto"], run, LOST, SINCE + 1))


def of_a_time_that_cannot_be(run: str, identities: Identities) -> Told:
    signature = agree(identities["porto"], run, LOST, float("nan"))
    return ExclusionAgreed(run, "porto", LOST, float("nan"), signature)


def of_a_stranger(run: str, identities: Identities) -> Told:
    return agreed(run, "nobody", agree(identities[LIAR], run, LOST, SINCE))


def of_a_server(run: str, identities: Identities) -> Told:
    return agreed(run, LIAR, agree(identities[LIAR], run, "controller", SINCE), "controller")


def unsigned(run: str, identities: Identities) -> Told:
    return PartiesExcluded(run, Exclusion({LOST: SINCE}, {LOST: {}}))


def without_one(run: str, identities: Identities) -> Told:
    staying = [name for name in identities if name not in (LOST, "porto")]
    return PartiesExcluded(run, exclusion_by(identities, run, [LOST], staying))


HOSTILE: list[Callable[[str, Identities], Told]] = [
    for_another,
    of_another_run,
    of_another_absence,
    of_a_time_that_cannot_be,
    of_a_stranger,
    of_a_server,
    unsigned,
    without_one,
]


@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "not allowed"])
def test_what_is_not_signed_by_all_others_is_refused_and_changes_nothing(
    tmp_path: Path, *, allowed: bool
) -> None:
    samba = lotor.Samba(exclude_after="7d" if allowed else None)
    made = Federation.of(tmp_path / "f", samba, budget=BUDGET, seed=SEED)
    made.prepare()
    run = PacedRun(made, samba)

    async def scenario() -> None:
        try:
            await run.waits_after(await run.begin(BUDGET))
            lives = {name: node.runs[run.id] for name, node in run.group.nodes.items()}
            identities = {live.seat: live.agreement.identity for live in lives.values()}
            for hostile in HOSTILE:
                said = hostile(run.id, identities)
                for name in ("porto", "customer"):
                    with pytest.raises(ProtocolError):
                        lives[name].heard(said, LIAR)
            # Controller itself says where in the run somebody leaves, whatever others claim.
            others = [name for name in identities if name != LOST]
            whole = PartiesExcluded(run.id, exclusion_by(identities, run.id, [LOST], others))
            if allowed:
                lives["controller"].heard(whole, LIAR)
            for name, node in run.group.nodes.items():
                assert not node.journal.losses(run.id).agreements()
                assert not node.journal.losses(run.id).exclusions()
                assert lives[name].state == RUNNING
            # It is what ends the connection of whoever sends it, too.
            liar = run.group.nodes[LIAR]
            session = liar.connections.transport.session("controller")
            liar.connections.send("controller", for_another(run.id, identities))
            await until(lambda: liar.connections.transport.session("controller") > session)
        finally:
            await run.group.down()

    asyncio.run(scenario())


def test_a_frame_is_what_it_says() -> None:
    said = PartiesExcluded("ab", Exclusion({LOST: SINCE}, {LOST: {"porto": b"signed"}}))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(said), type=PartiesExcluded) == said
