"""Recorded views against leakage.py: nothing in clear, one length a kind, uniform shares."""

from collections import defaultdict
from collections.abc import Iterator
from math import sqrt

import msgspec
import numpy as np
import pytest
from scipy.stats import chisquare

import lotor
from helpers import Outcome, run_openly
from lotor.core.effects import Message, Steps
from lotor.crypto.sharing import Bits
from lotor.policies import Policy
from lotor.protocols.protections import Protection
from lotor.protocols.samba import messages as set_up
from lotor.protocols.samba.dealt.form import SambaDealt
from lotor.protocols.samba.dealt.leakage import (
    KEYS,
    MEASURED,
    MESSAGES,
    ROLES,
)
from lotor.protocols.samba.dealt.messages import DealtBits, DealtCounts, DealtScores
from lotor.protocols.samba.dealt.owner import SambaDealtOwner
from lotor.protocols.samba.dealt.server import SambaDealtServer
from lotor.protocols.two_server.messages import More, Opened
from lotor.protocols.two_server.server import SharingServer
from protocols.samba.dealt.stage import dealt
from protocols.two_server.noting import noted_pads

K, OWNERS, BUDGET = 6, 3, 60
# With keys of its own each run's bytes are others: one of these tests fails by chance in a billion.
CHANCE = 1e-9


def environment(*, low: float = 0.1) -> lotor.CallbackArms:
    """Rewards with all their 32 bits in use, so that none appears by chance."""

    def pull(decision: lotor.Decision) -> float:
        return low + (1 - low) * (sqrt(2) * (decision.round * 7 + decision.arm) % 1.0)

    return lotor.CallbackArms([pull] * K)


def record(policy: Policy, low: float = 0.1) -> Outcome:
    return run_openly(dealt(policy, OWNERS), environment(low=low), budget=BUDGET, seed=2)


@pytest.fixture(scope="module", params=[lotor.UCB(), lotor.Pursuit()], ids=str)
def outcome(request: pytest.FixtureRequest) -> Outcome:
    return record(request.param)


def written(number: int) -> Iterator[bytes]:
    """The ways in which an integer might stand in a message, those that random bytes never hit."""
    encoded = msgspec.msgpack.encode(number)
    forms = number.to_bytes(8, "big"), number.to_bytes(8, "little"), str(number).encode(), encoded
    yield from (form for form in forms if len(form) >= 8)


def test_no_reward_sum_or_total_stands_in_any_message(outcome: Outcome) -> None:
    seen = b"".join(exchange.payload for exchange in outcome.recorder.exchanges)
    sums: defaultdict[int, int] = defaultdict(int)
    rewards = []
    for _, decision, reward in outcome.recorder.pulls:
        rewards.append(outcome.run.scale.to_fixed(reward))
        sums[decision.arm] += rewards[-1]
    for secret in (*rewards, *sums.values(), sum(rewards)):
        assert not any(form in seen for form in written(secret))
        assert next(written(secret)) in seen + secret.to_bytes(8, "big")


def test_only_holders_are_sent_a_key(outcome: Outcome) -> None:
    """The keys that never leave, and sealed ones, stand in no message; nobody has all others."""
    seen: defaultdict[str, bytes] = defaultdict(bytes)
    for exchange in outcome.recorder.exchanges:
        seen[exchange.to] += exchange.payload
    everything = b"".join(seen.values())
    owners = [one for one in outcome.parties.values() if isinstance(one, SambaDealtOwner)]
    for owner in owners:
        memory = owner._memory
        # `own_key` is the tie key here, since both come from the seed of the simulation.
        assert not any(key in everything for key in (memory.coin_key, memory.tag_key))
        assert [name for name in seen if memory.input_key in seen[name]] == ["controller"]
    assert len({owner._memory.input_key for owner in owners}) == OWNERS
    assert len({(owner._memory.coin_key, owner._memory.tag_key) for owner in owners}) == 1
    for name in ("controller", "comp"):
        server = outcome.parties[name]
        assert isinstance(server, SambaDealtServer)
        assert [to for to in seen if server._memory.keys.pads in seen[to]] == [name]
        assert [to for to in seen if server._memory.tie_key in seen[to]] == ["comp"]
        assert [to for to in seen if server._memory.keys.blind in seen[to]] == ["comp"]


def test_messages_of_one_kind_have_one_length(outcome: Outcome) -> None:
    """Owners hold the same number of arms here; exploring rounds are no exception."""
    lengths: defaultdict[tuple[type[Message], str], set[int]] = defaultdict(set)
    for exchange in outcome.recorder.exchanges:
        kind, purpose = type(exchange.message), ""
        if kind is Opened:  # each round of a circuit opens something else
            assert isinstance(exchange.message, Opened)
            purpose = exchange.message.place[-2:].hex()
        if kind in (set_up.Offers, set_up.SealedKeys):  # the customer's or the first owner's
            purpose = exchange.to if kind is set_up.Offers else exchange.sender
        lengths[kind, purpose].add(len(exchange.payload))
    assert all(len(found) == 1 for found in lengths.values()), lengths


def test_every_message_and_field_is_declared(outcome: Outcome) -> None:
    kinds = {type(exchange.message) for exchange in outcome.recorder.exchanges}
    assert kinds == set(MESSAGES) - {DealtCounts}  # which only a run has that tells them
    for kind in kinds:
        assert set(MESSAGES[kind]) == set(kind.__struct_fields__)


def test_every_role_has_a_finding() -> None:
    assert set(MEASURED) == set(ROLES) == {*(role.name for role in SambaDealt.roles), "network"}
    assert {role for _, holders in KEYS.values() for role in holders} <= set(ROLES)
    assert [role for role in ROLES if MEASURED[role].tells - {"timing"}] == ["owner"]


def test_the_dealer_is_told_how_far_the_servers_are_and_nothing_else(outcome: Outcome) -> None:
    assert {type(seen.message) for seen in outcome.recorder.received("dealer")} == {More}


@pytest.mark.parametrize("low", [0.0, 0.9])
@pytest.mark.parametrize("name", ["controller", "comp"])
def test_shares_are_uniform_whatever_the_scores(name: str, low: float) -> None:
    """All that a server is sent, but for the dealer's keys; scores are nearly equal at 0.9."""
    seen: defaultdict[str, bytes] = defaultdict(bytes)
    for exchange in record(lotor.UCB(), low).recorder.received(name):
        shared = MESSAGES[type(exchange.message)].get("shares") is Protection.SHARE
        if shared:
            kind = type(exchange.message).__name__
            seen[kind] += exchange.message.shares  # type: ignore[attr-defined]
    assert "Opened" in seen
    assert ("DealtScores" in seen) == (name == "comp")
    for kind, data in seen.items():
        counts = np.bincount(np.frombuffer(data, np.uint8), minlength=256)
        if counts.sum() > 256 * 5:
            assert chisquare(counts).pvalue > CHANCE, kind


def test_bits_carry_a_blind_that_the_dealer_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the dealer, who knows all pads, could tell which entry of a table was read."""
    bare: list[bytes] = []
    whole = SharingServer.tell_bits

    def noted(
        self: SharingServer, name: str, kind: type[DealtBits], t: int, bits: Bits, number: int
    ) -> Steps[None]:
        bare.append(bits.tobytes())
        return whole(self, name, kind, t, bits, number)

    monkeypatch.setattr(SharingServer, "tell_bits", noted)
    exchanges = record(lotor.UCB()).recorder.exchanges
    told = [seen.message.shares for seen in exchanges if isinstance(seen.message, DealtBits)]
    blinds = np.frombuffer(b"".join(bare), np.uint8) ^ np.frombuffer(b"".join(told), np.uint8)
    assert set(b"".join(told)) == {0, 1}
    assert len(blinds) == 2 * K * (BUDGET - K)
    assert 0.35 < blinds.mean() < 0.65


def test_each_pad_is_used_once() -> None:
    with noted_pads() as noted:
        record(lotor.Pursuit())
    turns = 2 * (BUDGET - K)
    used = noted.used
    assert set(used["server"].values()) == set(used["dealer"].values()) == {1}
    assert used["server"] == used["dealer"]
    assert len(used["dealer"]) == 2 * turns
    # An owner's mask: the owner and Controller. What covers its bits: both servers.
    assert set(used["outside"].values()) == {2}
    assert len(used["outside"]) == 2 * OWNERS * turns
    noted.check_unequal()


def test_an_owner_is_sent_shares_of_its_own_bits_only(outcome: Outcome) -> None:
    for number in range(1, OWNERS + 1):
        seen = outcome.recorder.received(f"owner-{number}")
        bits = [one.message for one in seen if isinstance(one.message, DealtBits)]
        assert {len(message.shares) for message in bits} == {K // OWNERS}
        assert {message.place[10:12] for message in bits} == {(number - 1).to_bytes(2, "big")}
        assert not any(isinstance(one.message, DealtScores) for one in seen)
