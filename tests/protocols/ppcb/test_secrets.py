"""Keys, shares, contexts and rewards are in no repr and no log."""

import logging
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

import lotor
from lotor.core.effects import Send
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.two_server.messages import SentKey
from protocols.ppcb.attacks import Left
from protocols.ppcb.stage import (
    ONE_ARM_LEARNS,
    SERVERS,
    Watched,
    learning,
    some_arms,
    traced_once,
    watched,
)
from scanning import Secret, forms_of, forms_of_reward, leaks

ARMS = some_arms(8, rounds=4, k=3, d=3)


@pytest.fixture(scope="module", autouse=True, params=ONE_ARM_LEARNS)
def _traced(request: pytest.FixtureRequest) -> Iterator[None]:
    with traced_once(), learning(one_arm=ONE_ARM_LEARNS[request.param]):
        yield


def shown(watch: Watched) -> Iterator[str]:
    """What a debugger, an assertion or a log line would show of a party."""
    party = watch.party
    yield from (repr(party), str(party), str(party.operations()))
    yield repr(vars(party))
    if isinstance(party, PPCBServer):
        yield repr(vars(party._sharing))
    for value in vars(party).values():
        if is_dataclass(value):
            yield repr([getattr(value, field.name) for field in fields(value)])
    for done in watch.done:
        yield repr(done.effect)
        if isinstance(done.effect, Send):
            yield f"{done.effect.message} {done.effect.message!r}"


def secrets(watches: dict[str, Watched]) -> Iterator[Secret]:
    yield from Left(watches).secrets()
    for watch in watches.values():
        for done in watch.done:
            if isinstance(done.effect, Send) and isinstance(done.effect.message, SentKey):
                yield Secret("a key that is sent", forms_of(done.effect.message.key))
    for value in ARMS.contexts.ravel().tolist():
        yield Secret("a feature", forms_of_reward(value))


def test_nothing_that_is_shown_of_a_party_is_secret(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        _, watches = watched(lotor.PPCB(epsilon=0.4, delay=1, form="dealt"), ARMS, budget=4)
    known = list(secrets(watches))
    assert {secret.name for secret in known} >= {
        *(f"a key of {name}" for name in SERVERS),
        *(f"weights of {name}" for name in SERVERS),
        *(f"shares in {kind}" for kind in ("Opened", "Features", "Corrections", "Reward")),
        "a key that is sent",
        "a feature",
    }
    places = {name: "\n".join(shown(watch)).encode() for name, watch in watches.items()}
    assert leaks(places | {"the log": caplog.text.encode()}, known) == []
    assert b"<Opened>" in places["server-0"]
    assert b"<PadKey>" in places["dealer"]


def test_the_search_would_find_a_secret() -> None:
    _, watches = watched(lotor.PPCB(form="dealt"), ARMS, budget=2)
    party = watches["server-0"].party
    assert isinstance(party, PPCBServer)
    known = list(secrets(watches))
    for leaked in (
        str(party._memory.keys.pads),
        party._memory.draw_key.hex(),
        str(party._model.table.share.tolist()),
        str(ARMS.contexts.tolist()),
    ):
        assert leaks({"somewhere": leaked.encode()}, known)


def test_what_is_inside_a_step_shows_no_share() -> None:
    _, watches = watched(lotor.PPCB(form="dealt"), ARMS, budget=2)
    for name in SERVERS:
        party = watches[name].party
        assert isinstance(party, PPCBServer)
        texts = [repr(party._model), repr(party._chance(1)), repr(party._draws)]
        share = int(party._model.table.share.ravel()[0])
        assert not any(str(share) in text for text in texts)
        assert f"<Shared {(ARMS.k, ARMS.d * (ARMS.d + 3) // 2)}>" in texts[0]
