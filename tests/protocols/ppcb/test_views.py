"""What each party is sent, recorded: nothing there depends on contexts, arms or rewards.

Two runs with fixed inputs that differ in everything are compared: contexts of length 0 that never
pay, and one context that always pays.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, chisquare, norm

import lotor
from helpers import Outcome
from lotor.core.effects import HIDDEN, Message
from lotor.crypto.sharing import Bits, PadCipher, Pads, Words, circuits
from lotor.crypto.sharing.circuits import Opening
from lotor.protocols.ppcb import messages
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.two_server import dealer, outside, server
from lotor.protocols.two_server.messages import InputKey, More, PadKey
from protocols.ppcb.stage import (
    ONE_ARM_LEARNS,
    SERVERS,
    fixed_keys,
    learning,
    play,
    some_arms,
    traced_once,
)

STEPS, K, D = 160, 3, 2
UNIT = np.array([0.6, -0.8])
# Keys are fixed, so that a pass stays one: with others, one of all these tests would fail by chance
# in some hundred thousand runs.
ALPHA = 1e-9

Table = NDArray[np.uint8]


class Seen(NamedTuple):
    """A run, and what its servers were sent and opened, by place within a step: a row a step."""

    outcome: Outcome
    sent: dict[str, Table]
    opened: dict[str, Table]


@pytest.fixture(scope="module", autouse=True, params=ONE_ARM_LEARNS)
def _traced(request: pytest.FixtureRequest) -> Iterator[None]:
    with traced_once(), learning(one_arm=ONE_ARM_LEARNS[request.param]):
        yield


def arms_of(*, paying: bool) -> lotor.ContextualArms:
    contexts = np.tile(UNIT if paying else np.zeros(D), (STEPS, 1))
    return lotor.ContextualArms(contexts, np.full((STEPS, K), float(paying)))


def table(rows: Sequence[bytes]) -> Table:
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)


def sent_to(outcome: Outcome, name: str) -> dict[str, Table]:
    """Shares that a server is sent, by the kind, sender, circuit and round of their message."""
    rows: dict[str, list[bytes]] = {}
    for seen in outcome.recorder.received(name):
        place = getattr(seen.message, "place", None)
        shares = getattr(seen.message, "shares", None)
        if place is not None and shares is not None:
            key = f"{name}: {type(seen.message).__name__} of {seen.sender}, {place[8:].hex()}"
            rows.setdefault(f"{key}, {len(shares)} bytes", []).append(shares)
    # The dealer's first message and its last have but one part, and no other is like them.
    return {key: table(found) for key, found in rows.items() if len(found) > 1}


def observed(*, paying: bool, steps: int = STEPS) -> Seen:
    """A run whose servers are watched as they put shares together."""
    rows: dict[str, list[bytes]] = {}

    def joined(opening: Opening, message: bytes, sender: str) -> list[Bits]:
        opened = circuits.joined(opening, message, sender)
        if sender == SERVERS[1]:  # what they open is the same for both
            size = [part.share.nbytes for part in opening]
            for number, value in enumerate(opened):
                key = f"round {turn[0] % rounds}, part {number} of {size}"
                if turn[0] >= 0:
                    rows.setdefault(key, []).append(value.tobytes())
            turn[0] += 1
        return opened

    protocol = lotor.PPCB(epsilon=0.2, form="dealt")
    arms = arms_of(paying=paying)
    party = play(protocol, arms, budget=1).parties[SERVERS[0]]
    assert isinstance(party, PPCBServer)
    rounds = sum(circuit.recipe.rounds for circuit in party._circuits.repeated)
    turn = [rounds - party._circuits.schedule.rounds]  # what is opened once comes first
    with fixed_keys(b"paying" if paying else b"silent"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "joined", joined)
        outcome = play(protocol, arms, budget=steps)
    sent = sent_to(outcome, SERVERS[0]) | sent_to(outcome, SERVERS[1])
    return Seen(outcome, sent, {key: table(found) for key, found in rows.items()})


@pytest.fixture(scope="module")
def silent(_traced: None) -> Seen:
    return observed(paying=False)


@pytest.fixture(scope="module")
def paying(_traced: None) -> Seen:
    return observed(paying=True)


def used_bits(views: Sequence[Table]) -> NDArray[np.bool_]:
    """Which bits ever are 1: shares of single bits travel in bytes, and items are aligned."""
    used: NDArray[np.bool_] = np.unpackbits(np.concatenate(views), axis=1).max(axis=0) > 0
    return used


def suspicious(views: Sequence[dict[str, Table]], alpha: float = ALPHA) -> list[str]:
    """Where bits are not 0 and 1 alike, bytes not uniform, or the runs not like each other."""
    found = []
    assert views[0].keys() == views[1].keys()
    for key in views[0]:
        both = [view[key] for view in views]
        used = used_bits(both)
        for view in both:
            ones = np.unpackbits(view, axis=1).sum(axis=0)[used]
            limit = norm.isf(alpha / (2 * max(1, used.sum())))
            if np.any(np.abs(ones - len(view) / 2) > limit * np.sqrt(len(view)) / 2 + 1):
                found.append(f"bits of {key}")
        whole = used.reshape(-1, 8).all(axis=1)
        counts = [np.bincount(view[:, whole].ravel(), minlength=256) for view in both]
        if sum(map(np.sum, counts)) >= 2 * 256 * 10:
            if min(chisquare(count).pvalue for count in counts) < alpha:
                found.append(f"bytes of {key}")
            both_counts = np.array(counts)
            if chi2_contingency(both_counts[:, both_counts.any(axis=0)]).pvalue < alpha:
                found.append(f"difference of {key}")
    return found


def test_the_inputs_differ_in_everything(silent: Seen, paying: Seen) -> None:
    assert silent.outcome.seats["receiver"].output == 0
    assert paying.outcome.seats["receiver"].output == STEPS
    assert silent.outcome.arms != paying.outcome.arms


def test_what_servers_are_sent_is_uniform(silent: Seen, paying: Seen) -> None:
    kinds = {key.split(" of ")[0] for key in silent.sent}
    assert kinds == {
        "server-0: Opened",
        *(f"server-1: {kind}" for kind in ("Opened", "Corrections", "Features", "Reward")),
    }
    assert suspicious([silent.sent, paying.sent]) == []


def test_what_servers_open_is_uniform(silent: Seen, paying: Seen) -> None:
    """All but one bit, which says of both runs that no context is too long."""
    masked = [dict(view.opened) for view in (silent, paying)]
    (public,) = (key for key, rows in silent.opened.items() if not rows.any())
    assert not any(view.pop(public).any() for view in masked)
    assert len(masked[0]) > 15
    assert suspicious(masked) == []


def test_bits_that_are_never_used_are_so_by_design(silent: Seen, paying: Seen) -> None:
    """Bytes for single bits, and what aligns the dealer's items: no other bit was left out."""
    for key in silent.sent:
        used = used_bits([silent.sent[key], paying.sent[key]]).reshape(-1, 8)
        kinds = {tuple(byte) for byte in used.tolist()}
        single = (False,) * 7 + (True,)
        allowed = {(True,) * 8, single} | ({(False,) * 8} if "Corrections" in key else set())
        assert kinds <= allowed


def test_inputs_in_clear_would_be_noticed() -> None:
    def no_mask(cipher: PadCipher, t: int, count: int, number: int = 0) -> Words:
        return np.zeros(count, np.uint64)

    with pytest.MonkeyPatch.context() as patch:
        for module in (outside, server):
            patch.setattr(module, "input_mask", no_mask)
        views = [observed(paying=paying, steps=70) for paying in (False, True)]
    found = suspicious([view.sent for view in views])
    assert {place.split(" of ")[1] for place in found} == {"server-1: Features", "server-1: Reward"}


def test_pads_that_hide_nothing_would_be_noticed() -> None:
    class Nothing(Pads):
        def bits(self, shape: tuple[int, ...], dtype: np.dtype[np.unsignedinteger]) -> Bits:
            return np.zeros(shape, dtype)

    with pytest.MonkeyPatch.context() as patch:
        for module in (dealer, server):
            patch.setattr(module, "Pads", Nothing)
        views = [observed(paying=paying, steps=70) for paying in (False, True)]
    found = suspicious([view.sent for view in views])
    assert any("Opened" in place for place in found)
    assert suspicious([view.opened for view in views])


def kinds_to(seen: Seen, party: str) -> set[type[Message]]:
    return {type(exchange.message) for exchange in seen.outcome.recorder.received(party)}


@pytest.mark.parametrize(
    ("party", "kind", "times"),
    [
        ("dealer", More, STEPS // 8),
        ("receiver", messages.Due, STEPS),
        ("owner-1", messages.Next, STEPS // 2 - 2),
        ("owner-2", messages.Next, STEPS // 2 - 2),
    ],
)
def test_some_are_only_told_to_go_on(
    silent: Seen, paying: Seen, party: str, kind: type[Message], times: int
) -> None:
    """In words that are the same whatever happens."""
    told = [
        [exchange.payload for exchange in seen.outcome.recorder.received(party)]
        for seen in (silent, paying)
    ]
    assert told[0] == told[1]
    assert len(set(told[0])) == len(told[0]) == times
    assert kinds_to(silent, party) == {kind}


def test_only_some_are_shown_the_world(paying: Seen) -> None:
    recorder = paying.outcome.recorder
    assert {name for name, _ in recorder.acts} == {"actor"}
    assert {name for name, _, _ in recorder.pulls} == {"receiver"}
    assert {decision.arm for _, decision, _ in recorder.pulls} == {HIDDEN}
    assert {name for name, _, _ in recorder.features} == {"owner-1", "owner-2"}
    assert {decision.arm for _, decision, _ in recorder.features} == {HIDDEN}


def test_p_prime_is_sent_shares_of_the_arm_and_nothing_else(silent: Seen, paying: Seen) -> None:
    for seen in (silent, paying):
        assert kinds_to(seen, "actor") == {messages.OneHot}
        shares = sent_to(seen.outcome, "actor")
        first, second = (
            next(rows for key, rows in shares.items() if f"of {name}" in key) for name in SERVERS
        )
        assert (first ^ second).argmax(axis=1).tolist() == seen.outcome.arms
        assert ((first ^ second).sum(axis=1) == 1).all()
        arms = np.array(seen.outcome.arms)
        for rows in (first, second):
            patterns = np.packbits(rows, axis=1, bitorder="little")[:, 0]
            assert chisquare(np.bincount(patterns, minlength=2**K)).pvalue > ALPHA
            by_arm = [np.bincount(patterns[arms == arm], minlength=2**K) for arm in set(arms)]
            assert chi2_contingency(np.array(by_arm)).pvalue > ALPHA


def test_who_sends_how_much_when_depends_on_nothing(silent: Seen, paying: Seen) -> None:
    """Not even the order of messages."""
    told = [
        [
            (exchange.sender, exchange.to, type(exchange.message), len(exchange.payload))
            for exchange in seen.outcome.recorder.exchanges
        ]
        for seen in (silent, paying)
    ]
    assert told[0] == told[1]


def test_keys_go_to_one_server_each(paying: Seen) -> None:
    """With both pad keys, or an input key and what it masks, shares would tell the values."""
    given = {
        (exchange.sender, exchange.to): exchange.message.key
        for exchange in paying.outcome.recorder.exchanges
        if isinstance(exchange.message, PadKey | InputKey)
    }
    assert set(given) == {
        *(("dealer", name) for name in SERVERS),
        *((name, SERVERS[0]) for name in ("receiver", "owner-1", "owner-2")),
    }
    assert len(set(given.values())) == len(given)
    for key in given.values():
        holders = [seen for seen in paying.outcome.recorder.exchanges if key in seen.payload]
        assert len(holders) == 1


def test_what_the_actor_is_sent_carries_a_mask_that_the_dealer_does_not_know() -> None:
    """With all keys but the servers' own the same, its shares differ, and their sum does not."""

    def sent(salt: bytes) -> tuple[list[bytes], list[int]]:
        with fixed_keys(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(server, "new_key", lambda: sha256(salt).digest())
            outcome = play(
                lotor.PPCB(epsilon=0.5, form="dealt"), some_arms(3, rounds=20, k=4, d=3), budget=20
            )
        exchanges = outcome.recorder.received("actor")
        return [
            seen.message.shares for seen in exchanges if isinstance(seen.message, messages.OneHot)
        ], (outcome.arms)

    (ours, arms), (others, same) = sent(b"one"), sent(b"another")
    assert arms == same
    assert sum(one != other for one, other in zip(ours, others, strict=True)) > 25
