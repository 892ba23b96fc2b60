"""No party is talked into a form that leaks while its protocol has a better one."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from daemons import DaemonGroup
from lotor.core.errors import ProtocolError
from lotor.crypto.signing import Identity
from lotor.protocols.form import AnyForm
from lotor.protocols.leakage import Finding
from lotor.runtime.daemon.announcement import EVERYBODY, PURPOSE
from lotor.runtime.daemon.commands import Approve, StartRun
from lotor.runtime.daemon.config import ConsentRules, PartyConfig
from lotor.runtime.daemon.frames import Open
from lotor.runtime.durable.journal import FINISHED, WAITING
from runtime.daemon.test_toy import PULL, ROLES, configs
from toy import Toy, ToyForm

LEAKED = "its form 'paper' gives away what it should hide"
RULES = ConsentRules(
    customers=("*",), policies=("*",), least_budget=1, total_budget=10**6, code=("*",)
)


class LeakyForm(ToyForm):
    leaks: ClassVar[bool] = True
    leakage: ClassVar[Mapping[str, Finding]] = {
        "doubler": Finding("numbers", "nothing", "**every number**", "test_toy.py")
    }


class TightForm(ToyForm):
    name: ClassVar[str] = "dealt"
    wire: ClassVar[str] = "toy-dealt/1"


class TwoForms(Toy):
    forms: ClassVar[Mapping[str, type[AnyForm]]] = {"dealt": TightForm, "paper": LeakyForm}


class OnlyLeaks(Toy):
    forms: ClassVar[Mapping[str, type[AnyForm]]] = {"paper": LeakyForm}


def order(form: str) -> StartRun:
    return StartRun("toy", 3, {"form": form}, {"doubler": ["bert"], "adder": ["carl"]})


def agreeing(forms: tuple[str, ...] | None = None) -> dict[str, PartyConfig]:
    """Everybody but the opener has rules that allow all but other forms."""
    rules = msgspec.structs.replace(RULES, forms=forms)
    return {
        name: one if name == "anna" else msgspec.structs.replace(one, consent=rules)
        for name, one in configs().items()
    }


def play(
    folder: Path,
    kind: type[Toy],
    parties: Mapping[str, PartyConfig],
    scene: Callable[[DaemonGroup], Awaitable[None]],
) -> None:
    async def scenario() -> None:
        group = DaemonGroup(folder / "f", ROLES, parties, {"toy": kind})
        (group.kits["carl"] / "world.py").write_text(PULL)
        try:
            await group.up()
            await scene(group)
        finally:
            await group.down()

    asyncio.run(scenario())


async def waits(group: DaemonGroup, run: str, words: str) -> None:
    """Everybody but the opener waits, says why, and goes on when it is approved."""
    for name in ("bert", "carl"):
        live = await group.state(name, run, WAITING)
        assert words in live.note
    for name in ("bert", "carl"):
        group.tell(name, run, Approve())
    await group.state("anna", run, FINISHED)


@pytest.mark.parametrize("parties", [configs, agreeing])
def test_a_form_that_leaks_waits_at_every_party(
    tmp_path: Path, parties: Callable[[], dict[str, PartyConfig]]
) -> None:
    """With rules that say nothing of forms, and at a server that has no rules at all."""

    async def scene(group: DaemonGroup) -> None:
        await group.state("anna", group.order("anna", order("dealt")), FINISHED)
        await waits(group, group.order("anna", order("paper")), f"{LEAKED} (`lotor runs show`")

    play(tmp_path, TwoForms, parties(), scene)


@pytest.mark.parametrize("forms", [("paper",), ("*",)])
def test_it_starts_where_forms_allows_it(tmp_path: Path, forms: tuple[str, ...]) -> None:
    async def scene(group: DaemonGroup) -> None:
        await group.state("anna", group.order("anna", order("paper")), FINISHED)

    play(tmp_path, TwoForms, agreeing(forms), scene)


def test_any_form_waits_that_is_not_listed(tmp_path: Path) -> None:
    async def scene(group: DaemonGroup) -> None:
        words = "its form 'dealt' is not among forms (paper)"
        await waits(group, group.order("anna", order("dealt")), words)

    play(tmp_path, TwoForms, agreeing(("paper",)), scene)


@pytest.mark.parametrize("parties", [configs, agreeing])
def test_a_form_that_leaks_starts_where_there_is_no_better_one(
    tmp_path: Path, parties: Callable[[], dict[str, PartyConfig]]
) -> None:
    async def scene(group: DaemonGroup) -> None:
        await group.state("anna", group.order("anna", order("paper")), FINISHED)

    play(tmp_path, OnlyLeaks, parties(), scene)


def test_nobody_goes_on_with_a_run_of_which_others_were_told_another_form(tmp_path: Path) -> None:
    """Peers show each other what the opener has signed."""

    async def scene(group: DaemonGroup) -> None:
        run = group.order("anna", order("paper"))
        live = await group.state("bert", run, WAITING)
        told = live.agreement.announcement
        other = msgspec.structs.replace(told, form="dealt", wire=TightForm.wire).to_bytes()
        opener = Identity("caller", group.nodes["anna"].kit.key.private, {})
        signature = opener.sign(other, run=run, purpose=PURPOSE, recipient=EVERYBODY)
        with pytest.raises(ProtocolError, match="again, with other contents: the first counts"):
            group.nodes["bert"].registry.announced("carl", Open(run, other, signature))
        assert live.agreement.form.name == "paper"
        assert live.state == WAITING

    play(tmp_path, TwoForms, configs(), scene)
