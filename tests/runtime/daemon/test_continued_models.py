"""Daemons of PPCB and LinUCB-DS that go on from what they kept: as plain does."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

import lotor
from commands import lotor as command
from daemons import SandboxDaemons, until
from lotor.protocols.cast import Cast
from lotor.protocols.ppcb.demo import FIRMS, feature_parties
from lotor.protocols.ppcb.terms import FIRST, SECOND
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation

pytestmark = pytest.mark.usefixtures("real_transfers")

SEED, BEFORE, THEN = 7, 12, 9


class Group:
    """The daemons of one cast, which run one protocol."""

    def __init__(self, group: SandboxDaemons, made: Federation, protocol: SecureProtocol) -> None:
        self.group, self.made = group, made
        self._kind = protocol
        self._form = protocol.in_form()

    async def run(self, protocol: SecureProtocol, budget: int, continues: str = "") -> str:
        """Order a run of all parties, and wait until all of them have finished it."""
        members: dict[str, list[str]] = {}
        for name, role in self.made.members.items():
            if role != self._form.opener:
                members.setdefault(role, []).append(name)
        order = StartRun(
            protocol.name, budget, protocol.order_options(), members, continues=continues
        )
        run = self.group.order(self._form.opener, order)
        for name in self.made.members:
            live = await self.group.live(name, run)
            await until(lambda live=live: live.state != RUNNING)  # type: ignore[misc]
            assert (name, live.state, live.note) == (name, FINISHED, "")
            await until(live.over.is_set)
        return run

    def output(self, run: str) -> float:
        total = self.group.nodes[self._form.opener].journal.output(run)
        assert isinstance(total, float)
        return total

    def kept(self, run: str) -> set[str]:
        """Who has kept something of a run."""
        nodes = self.group.nodes.items()
        return {name for name, node in nodes if node.journal.kept.about(run) is not None}

    async def restart(self) -> None:
        await self.group.down()
        await self.group.up()


def play(
    folder: Path,
    protocol: SecureProtocol,
    cast: Cast,
    scene: Callable[[Group], Awaitable[None]],
) -> None:
    made = Federation(folder, protocol.in_form(), cast, SEED)
    made.prepare()
    for kit in made.kits.values():
        config = read_config(kit / "party.toml")
        if config.consent is not None:
            consent = msgspec.structs.replace(config.consent, keep=True)
            write_config(kit / "party.toml", msgspec.structs.replace(config, consent=consent))

    async def whole() -> None:
        group = SandboxDaemons.of(made, {protocol.name: type(protocol)})
        try:
            await group.up()
            await scene(Group(group, made, protocol))
        finally:
            await group.down()

    asyncio.run(whole())


def in_plain(
    arms: object, *runs: tuple[SecureProtocol, int], after: lotor.Result | None = None
) -> lotor.Result:
    """The last of runs that continue each other."""
    for protocol, budget in runs:
        after = lotor.run(protocol.plain(), arms, budget=budget, seed=SEED, continues=after)  # type: ignore[arg-type]
    assert after is not None
    return after


@pytest.mark.long
def test_ppcbs_servers_learn_on_from_their_model_and_predict_by_it(tmp_path: Path) -> None:
    arms = lotor.ContextualArms.lookalike(
        rounds=BEFORE + 2 * THEN, arms=4, d=sum(FIRMS.values()), seed=3
    )
    keeping = lotor.PPCB(epsilon=0.2, delay=2, keep=True)
    asked = lotor.PPCB(epsilon=0.0, predict=True)
    cast = feature_parties(arms, FIRMS)

    async def scene(made: Group) -> None:
        def carried_out(run: str, begin: int, count: int) -> list[int]:
            rounds = range(begin + 1, begin + count + 1)
            return [cast.arm(made.made.folder, f"{run}/{t}") for t in rounds]

        first = await made.run(keeping, BEFORE)
        one = in_plain(arms, (keeping, BEFORE))
        assert carried_out(first, 0, BEFORE) == one.arms
        assert made.output(first) == pytest.approx(one.reward)
        assert made.kept(first) == {FIRST, SECOND}
        await made.restart()

        predicted = await made.run(asked, THEN, continues=first)
        assert carried_out(predicted, BEFORE, THEN) == in_plain(arms, (asked, THEN), after=one).arms
        assert made.output(predicted) == THEN
        assert made.kept(predicted) == set()
        # Nobody was asked for a reward, so none is shown.
        kit = str(made.made.kits["receiver"])
        said = await asyncio.to_thread(command, "runs", "follow", predicted, "--kit", kit)
        assert said.stdout.startswith(f"{THEN} decisions (run {predicted}, ")

        further = await made.run(keeping, THEN, continues=first)
        two = in_plain(arms, (keeping, THEN), after=one)
        assert carried_out(further, BEFORE, THEN) == two.arms
        again = await made.run(asked, THEN, continues=further)
        assert carried_out(again, BEFORE + THEN, THEN) == (
            in_plain(arms, (asked, THEN), after=two).arms
        )
        assert made.kept(first) == made.kept(further) == {FIRST, SECOND}

    play(tmp_path / "f", keeping, cast, scene)


@pytest.mark.parametrize("form", ["shared", pytest.param("dealt", marks=pytest.mark.long)])
def test_linucbs_principal_goes_on_from_its_pulls(tmp_path: Path, form: str) -> None:
    keeping = lotor.LinUCBDS(form=form, keep=True)
    cast = keeping.in_form().cast(keeping, BEFORE, SEED, None)

    async def scene(made: Group) -> None:
        first = await made.run(keeping, BEFORE)
        one = in_plain(cast.environment, (keeping, BEFORE))
        assert made.output(first) == one.reward
        assert made.kept(first) == {"principal"}
        await made.restart()
        further = await made.run(keeping, THEN, continues=first)
        two = in_plain(cast.environment, (keeping, THEN), after=one)
        assert made.output(further) == two.reward
        last = await made.run(keeping, 1, continues=further)
        three = in_plain(cast.environment, (keeping, 1), after=two)
        assert made.output(last) == three.reward

    play(tmp_path / "f", keeping, cast, scene)
