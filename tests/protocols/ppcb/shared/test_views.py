"""Recorded views without a dealer: nothing in clear, whatever parties bring."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pytest

import lotor
from helpers import Outcome, truth_of, view_of
from lotor.core.effects import Message
from lotor.core.fixed_point import Floats
from lotor.core.views import View
from lotor.protocols.attack import Attack
from lotor.protocols.dealerless.messages import (
    Choices,
    Differences,
    Labels,
    OfferedWords,
    PreparedTables,
)
from lotor.protocols.garbled.messages import DecodingTable, ShownOutputs
from lotor.protocols.ppcb.attacks import ArmsFromShares, ContextsFromShares, RewardsFromShares
from lotor.protocols.ppcb.messages import Features, Reward
from lotor.protocols.ppcb.shared.leakage import KEYS, MEASURED, MESSAGES
from lotor.protocols.two_server.messages import Opened
from protocols.ppcb.stage import SERVERS, play, some_arms, terms_of

BUDGET = 40
# A mean of so many uniform bits is further away once in 10^9 times.
SIGMAS = 6.2
PPCB = lotor.PPCB(epsilon=0.3)


def world(kind: str) -> lotor.ContextualArms:
    """Contexts and rewards that are all 0, or as large as allowed: nothing could differ more."""
    x, rewards = np.zeros((BUDGET, 4)), np.zeros((BUDGET, 3))
    if kind == "largest":
        x[:, 0], rewards = 1.0, np.ones((BUDGET, 3))
    return lotor.ContextualArms(x, rewards)


@cache
def ordinary() -> Outcome:
    """A run that is neither."""
    return play(PPCB, some_arms(2, rounds=BUDGET, k=3, d=4), budget=BUDGET)


@pytest.fixture(scope="module", params=["nothing", "largest"])
def outcome(request: pytest.FixtureRequest) -> Outcome:
    return play(PPCB, world(request.param), budget=BUDGET)


def sent(outcome: Outcome, sender: str, kind: type[Message]) -> list[bytes]:
    """What carries secrets in each message of a kind."""
    return [
        getattr(one.message, one.message.__struct_fields__[1])
        for one in outcome.recorder.exchanges
        if one.sender == sender and type(one.message) is kind
    ]


def bits_of(parts: Sequence[bytes]) -> Floats:
    return np.unpackbits(np.frombuffer(b"".join(parts), np.uint8)).astype(np.float64)


@pytest.mark.parametrize("sender", SERVERS)
@pytest.mark.parametrize("kind", [Choices, OfferedWords, PreparedTables, Differences, Labels])
def test_what_servers_send_looks_uniform_whatever_is_brought(
    outcome: Outcome, sender: str, kind: type[Message]
) -> None:
    bits = bits_of(sent(outcome, sender, kind))
    assert len(bits) > 2_000
    assert abs(bits.mean() - 0.5) < SIGMAS * 0.5 / np.sqrt(len(bits))


def test_no_block_is_sent_twice(outcome: Outcome) -> None:
    """Neither masks nor hashes ever repeat: of 16 bytes that would show."""
    blocks: list[bytes] = []
    for kind in (Choices, OfferedWords, PreparedTables, Labels):
        for sender in SERVERS:
            data = b"".join(sent(outcome, sender, kind))
            blocks += [data[at : at + 16] for at in range(0, len(data) - 15, 16)]
    assert len(blocks) > 10_000
    assert len(set(blocks)) == len(blocks)


@pytest.mark.parametrize(("sender", "kind"), [("owner-1", Features), ("receiver", Reward)])
def test_shares_of_inputs_look_uniform(outcome: Outcome, sender: str, kind: type[Message]) -> None:
    bits = bits_of(sent(outcome, sender, kind))
    assert abs(bits.mean() - 0.5) < SIGMAS * 0.5 / np.sqrt(len(bits))


def opened_bits(outcome: Outcome, sender: str) -> dict[bytes, Floats]:
    """Of each opening, by where in a step it is, its bits in all steps."""
    steps: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for one in outcome.recorder.exchanges:
        if one.sender == sender and isinstance(one.message, Opened):
            steps[one.message.place[8:]].append(one.message.shares)
    return {
        place: np.unpackbits(
            np.frombuffer(b"".join(shares), np.uint8).reshape(BUDGET, -1), axis=1
        ).astype(np.float64)
        for place, shares in steps.items()
    }


OPENINGS = 22
"""Of a step, besides the garbled circuit."""


@pytest.mark.parametrize("sender", SERVERS)
def test_every_bit_that_is_opened_is_a_coin(outcome: Outcome, sender: str) -> None:
    """Bit by bit over the steps, so that a place which is always the same would be found."""
    opened = opened_bits(outcome, sender)
    assert len(opened) == OPENINGS
    empty = 0
    for bits in opened.values():
        means = bits.mean(axis=0)
        empty += int((means == 0).sum())
        used = means[means > 0]
        assert used.max() < 1
        assert abs(used.mean() - 0.5) < SIGMAS * 0.5 / np.sqrt(used.size * BUDGET)
    # Each bit of the one-hot vector has a byte of its own, twice; bits of cuts fill whole bytes:
    # of A⁻¹, u, w·x, x·u, five times powers, k, and all weights.
    filled = sum(-n % 8 for n in (10, 4, 1, 1, 1, 2, 4, 4, 1, 4, 12))
    assert empty == 2 * 3 * 7 + filled


def test_each_servers_share_of_the_one_hot_vector_looks_uniform(outcome: Outcome) -> None:
    table, shown = (
        {
            one.message.place: np.unpackbits(np.frombuffer(one.message.colours, np.uint8))[:3]
            for one in outcome.recorder.exchanges
            if isinstance(one.message, kind)
        }
        for kind in (DecodingTable, ShownOutputs)
    )
    arms = [int((table[place] ^ shown[place]).argmax()) for place in table]
    assert arms == outcome.arms
    for found in (table, shown):
        bits = np.concatenate(list(found.values()))
        assert abs(bits.mean() - 0.5) < SIGMAS * 0.5 / np.sqrt(len(bits))


def test_messages_have_lengths_that_the_terms_say(outcome: Outcome) -> None:
    """Others contexts and rewards change none, nor who sends what when."""
    other = ordinary()
    lengths = [
        [
            (one.sender, one.to, type(one.message), len(one.payload))
            for one in each.recorder.exchanges
        ]
        for each in (outcome, other)
    ]
    assert sorted(lengths[0], key=repr) == sorted(lengths[1], key=repr)


def test_every_message_and_field_is_accounted_for(outcome: Outcome) -> None:
    messages = [one.message for one in outcome.recorder.exchanges]
    for message in messages:
        assert set(MESSAGES[type(message)]) == set(message.__struct_fields__)
    missing = {kind.__name__ for kind in MESSAGES} - {type(one).__name__ for one in messages}
    assert missing == {"AllPulled"}  # of runs that only predict
    assert set(KEYS) >= {"own key", "input keys"}
    assert set(MEASURED) == {"actor", "receiver", "owner", "server", "network"}


def viewed(outcome: Outcome, *seats: str) -> View:
    return view_of(outcome, terms_of(outcome).to_bytes(), *seats)


LEARNT: Mapping[tuple[str, ...], set[type[Attack]]] = {
    ("server-0",): set(),
    ("server-1",): set(),
    ("actor",): {ArmsFromShares},
    ("server-0", "actor"): {ArmsFromShares},
    ("server-1", "actor"): {ArmsFromShares},
    ("server-0", "receiver"): set(),
    ("server-1", "owner-1"): set(),
    ("server-0", "actor", "receiver"): {ArmsFromShares},
    ("server-1", "actor", "owner-1"): {ArmsFromShares},
    ("server-0", "server-1"): {ArmsFromShares, ContextsFromShares, RewardsFromShares},
}


@pytest.mark.parametrize("seats", LEARNT, ids="+".join)
def test_who_reads_what_from_shares(seats: tuple[str, ...]) -> None:
    outcome = ordinary()
    truth, view = truth_of(outcome), viewed(outcome, *seats)
    for kind in (ArmsFromShares, ContextsFromShares, RewardsFromShares):
        score = kind().score(view, truth)
        if kind in LEARNT[seats]:
            assert score.right == score.of > 0
        else:
            spread = SIGMAS * np.sqrt(score.of * 0.25)
            assert score.right <= score.chance * score.of + spread
