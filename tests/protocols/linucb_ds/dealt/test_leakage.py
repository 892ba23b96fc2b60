"""Recorded views against leakage.py: nothing in clear, one length a kind, uniform shares."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import chisquare

import lotor
from helpers import Outcome, run_openly, truth_of
from lotor.core.effects import Message
from lotor.crypto.sharing import PadCipher, Pads
from lotor.protocols.linucb_ds.attacks import game_of, real_scores
from lotor.protocols.linucb_ds.dealt.attacks import (
    ArmsFromDealtRows,
    ScoresFromDealtShares,
    comps_shares,
    rows_in,
)
from lotor.protocols.linucb_ds.dealt.circuits import circuits
from lotor.protocols.linucb_ds.dealt.comp import LinUCBDealtComp
from lotor.protocols.linucb_ds.dealt.dealer import LinUCBDealer
from lotor.protocols.linucb_ds.dealt.form import LinUCBDSDealt
from lotor.protocols.linucb_ds.dealt.leakage import KEYS, MEASURED, MESSAGES, ROLES
from lotor.protocols.linucb_ds.dealt.messages import DealtChoice, DealtRewards
from lotor.protocols.linucb_ds.dealt.principal import LinUCBDealtPrincipal
from lotor.protocols.linucb_ds.dealt.terms import TOTAL_BYTES
from lotor.protocols.linucb_ds.messages import LinUCBSetup
from lotor.protocols.linucb_ds.theta.attacks import ThetaFromShares
from lotor.protocols.linucb_ds.theta.handing_out import in_total
from lotor.protocols.linucb_ds.theta.messages import ModelShare, ShareKey
from lotor.protocols.linucb_ds.theta.owner import ThetaOwner
from lotor.protocols.protections import Protection
from lotor.protocols.two_server.checks import ATTEMPT
from lotor.protocols.two_server.masks import number_blind
from lotor.protocols.two_server.messages import Corrections, More, Opened
from lotor.protocols.two_server.schedule import AnyCircuit
from protocols.linucb_ds.dealt.stage import dealt, recorded, terms_of, view
from protocols.linucb_ds.stage import some_arms
from protocols.two_server.noting import noted_pads
from scanning import forms_of_reward

# With keys of its own each run's bytes are others: one of these tests fails by chance in a billion.
CHANCE = 1e-9
BUDGET = 40
SERVERS = ("principal", "comp", "dealer")


@pytest.fixture(scope="module", params=["linucb", "spectral-ucb"])
def outcome(request: pytest.FixtureRequest) -> Outcome:
    return recorded(request.param)


def written(number: int) -> Iterator[bytes]:
    """The ways in which a number might stand somewhere, those that random bytes never hit."""
    for width in (8, 12, 24):
        if abs(number) < 1 << 8 * width - 1:
            yield number.to_bytes(width, "big", signed=True)
            yield number.to_bytes(width, "little", signed=True)
    if len(str(abs(number))) >= 8:
        yield str(abs(number)).encode()


def secrets_of(outcome: Outcome) -> Iterator[bytes]:
    """Theta, every score, every reward and the sums so far."""
    arms, game = outcome.run.environment, game_of(outcome.parties)
    assert isinstance(arms, lotor.LinearArms)
    layout, theta = game.layout, game.layout.theta(arms.theta)
    rows, total = layout.arms(arms.vectors), 0
    numbers = [*theta, *(score for scores in real_scores(truth_of(outcome)) for score in scores)]
    for t, arm in enumerate(outcome.arms, start=1):
        mean = sum(x * y for x, y in zip(rows[arm], theta, strict=True))
        reward = mean + layout.noise(game.draws.noise(t))
        total += reward
        numbers += [mean, reward, total]
        yield from forms_of_reward(layout.reward(reward))
    for value in arms.theta.tolist():
        yield from forms_of_reward(value)
    for number in numbers:
        yield from written(number)


@pytest.mark.parametrize("kind", ["linucb", "spectral-ucb"])
def test_nothing_of_theta_scores_or_rewards_stands_in_any_message(kind: str) -> None:
    outcome = recorded(kind, 10)
    seen = b"".join(one.payload for one in outcome.recorder.exchanges)
    forms = {form for form in secrets_of(outcome) if len(form) >= 8}
    assert len(forms) > 500
    assert not any(form in seen for form in forms)
    # The search would find them.
    assert any(form in seen + next(iter(forms)) for form in forms)


def test_comp_and_dealer_are_sent_nothing_that_p_knows(outcome: Outcome) -> None:
    """No arm, no row, no order of arms, no noise."""
    game = game_of(outcome.parties)
    vectors, _ = game.catalogue.arms()
    for name in ("comp", "dealer"):
        seen = b"".join(one.payload for one in outcome.recorder.received(name))
        forms = [row.astype("<f8").tobytes() for row in vectors]
        forms += [game.rows(t).u[0].tobytes() for t in (1, 2)]
        forms += [np.float64(game.draws.noise(t)).tobytes() for t in range(1, BUDGET + 1)]
        assert not any(form in seen for form in forms)


def test_who_is_sent_which_key(outcome: Outcome) -> None:
    seen: defaultdict[str, bytes] = defaultdict(bytes)
    for exchange in outcome.recorder.exchanges:
        seen[exchange.to] += exchange.payload
    everything = b"".join(seen.values())
    principal, comp = outcome.parties["principal"], outcome.parties["comp"]
    owner, dealer = outcome.parties["owner"], outcome.parties["dealer"]
    assert isinstance(principal, LinUCBDealtPrincipal)
    assert isinstance(comp, LinUCBDealtComp)
    assert isinstance(owner, ThetaOwner)
    assert isinstance(dealer, LinUCBDealer)
    key = owner._memory.share_key
    holdings = [party._memory.holding for party in (comp, dealer)]
    assert [one.key for one in holdings if one is not None] == [key, key]
    # It is sealed on its way, and at nobody else's.
    for never in (key, *principal._memory.keys.values()):
        assert never not in everything
    assert key not in principal._memory.dump()
    for party, name in ((principal, "principal"), (comp, "comp")):
        assert [to for to in seen if party._memory.sharing.pads in seen[to]] == [name]
    assert [to for to in seen if principal._memory.sharing.blind in seen[to]] == ["comp"]
    assert (comp._memory.sealing_key, dealer._memory.sealing_key) == (b"", b"")


def test_what_each_server_is_sent(outcome: Outcome) -> None:
    kinds = {
        name: {type(one.message) for one in outcome.recorder.received(name)} for name in SERVERS
    }
    assert kinds["dealer"] == {LinUCBSetup, ShareKey, More}
    assert {Opened, DealtChoice, ModelShare} <= kinds["principal"]
    assert Corrections not in kinds["principal"]
    assert not {ModelShare, DealtChoice} & kinds["comp"]


def test_messages_of_one_kind_have_one_length() -> None:
    """Whatever theta, the scores and the sum are."""
    lengths: defaultdict[tuple[type[Message], str, bytes], set[int]] = defaultdict(set)
    vectors = np.random.default_rng(1).normal(size=(12, 2))
    for scale in (0.0, 1e-9, -0.5, 0.7):
        arms = lotor.LinearArms(vectors, [scale, scale / 2], noise_sd=abs(scale) / 7)
        outcome = run_openly(dealt(), arms, budget=12, run_id="aa")
        for one in outcome.recorder.exchanges:
            place = getattr(one.message, "place", bytes(14))
            # Each circuit and round opens something else; the total is dealt in the last step.
            step = place[8:] + bytes([place[:8] == (12).to_bytes(8, "big")])
            whose = one.sender + one.to + getattr(one.message, "holder", "")
            lengths[type(one.message), whose, step].add(len(one.payload))
    assert all(len(found) == 1 for found in lengths.values()), lengths


def test_every_message_and_field_is_declared(outcome: Outcome) -> None:
    kinds = {type(exchange.message) for exchange in outcome.recorder.exchanges}
    assert kinds == set(MESSAGES)
    for kind in kinds:
        assert set(MESSAGES[kind]) == set(kind.__struct_fields__)


def test_every_role_has_a_finding() -> None:
    assert set(MEASURED) == set(ROLES) == {*(role.name for role in LinUCBDSDealt.roles), "network"}
    assert {role for _, holders in KEYS.values() for role in holders} <= set(ROLES)
    assert not MEASURED["comp"].tells | MEASURED["dealer"].tells | MEASURED["network"].tells


@pytest.mark.parametrize("length", [0.0, 0.99])
@pytest.mark.parametrize("name", ["principal", "comp", "customer"])
def test_shares_are_uniform_whatever_theta_is(name: str, length: float) -> None:
    """All scores are equal if theta is 0 and all arms are alike."""
    alike = lotor.LinearArms([[1.0, 0.0]] * 12, [0.0, 0.0], noise_sd=0)
    arms = alike if length == 0 else some_arms(3, k=12, d=2)
    seen: defaultdict[str, bytes] = defaultdict(bytes)
    for exchange in run_openly(dealt(), arms, budget=60).recorder.received(name):
        message, kind = exchange.message, type(exchange.message)
        for field, protection in MESSAGES[kind].items():
            # A bit of a one-hot vector has a byte.
            if protection is Protection.SHARE and kind is not DealtChoice:
                seen[kind.__name__] += getattr(message, field)
    assert (
        set(seen)
        == {
            "principal": {"Opened", "ModelShare"},
            "comp": {"Opened", "Corrections"},
            "customer": {"DealtRewards"},
        }[name]
    )
    for kind_name, data in seen.items():
        counts = np.bincount(np.frombuffer(data, np.uint8) & 15, minlength=16)
        if counts.sum() > 16 * 5:
            assert chisquare(counts).pvalue > CHANCE, kind_name


def test_comps_answer_alone_tells_p_nothing() -> None:
    """One arm always wins: the bit at its place in Comp's share is 1 about half of the time."""
    arms = lotor.LinearArms([[1.0]] + [[0.1]] * 7, [0.9], noise_sd=0, first=0)
    outcome = run_openly(dealt(), arms, budget=200)
    assert set(outcome.arms) == {0}
    draws = game_of(outcome.parties).draws
    answers = [one.message for one in outcome.recorder.exchanges]
    bits = [
        message.shares[draws.order(t + 1).tolist().index(0)]
        for t, message in enumerate((m for m in answers if isinstance(m, DealtChoice)), start=1)
    ]
    assert set(bits) == {0, 1}
    assert 0.25 < np.mean(bits) < 0.75  # outside by chance once in 10^12 runs


def pads_of_p(outcome: Outcome, circuit: AnyCircuit, t: int) -> Pads:
    """What P draws for a circuit, as the dealer knows it."""
    dealer = outcome.parties["dealer"]
    assert isinstance(dealer, LinUCBDealer)
    size = circuit.recipe.pad_bytes(first=True)
    cipher = PadCipher(dealer._memory.pad_keys[0])
    return Pads(cipher, size, t=t, attempt=ATTEMPT, circuit=circuit.number)


def test_shares_of_the_total_carry_a_blind_that_the_dealer_does_not_know() -> None:
    """The dealer and the customer would learn a product with the sum of arms otherwise."""
    outcome = recorded()
    principal, game = outcome.parties["principal"], game_of(outcome.parties)
    assert isinstance(principal, LinUCBDealtPrincipal)
    memory, d = principal._memory, game.layout.d
    assert memory.model is not None
    pads = pads_of_p(outcome, circuits(game.layout.k, d, BUDGET).total, BUDGET)
    pads.bits((d, TOTAL_BYTES), np.dtype(np.uint8))
    pad = int.from_bytes(pads.bits((TOTAL_BYTES,), np.dtype(np.uint8)).tobytes(), "little")
    bare = pad + game.rewards.total(in_total(memory.model, terms_of(outcome)))
    sent = [one for one in outcome.recorder.received("customer") if one.sender == "principal"]
    (share,) = (one.message for one in sent if isinstance(one.message, DealtRewards))
    blind = number_blind(PadCipher(memory.sharing.blind), BUDGET, TOTAL_BYTES)
    difference = int.from_bytes(share.shares, "little") - bare
    assert difference % (1 << 192) == blind != 0


def test_each_pad_is_used_once() -> None:
    with noted_pads() as noted:
        run_openly(dealt(), some_arms(3, k=6, d=2), budget=BUDGET)
    used = noted.used
    assert set(used["server"].values()) == set(used["dealer"].values()) == {1}
    assert used["server"] == used["dealer"]
    # Two circuits a choice and one for the total, at two servers each.
    assert len(used["dealer"]) == 2 * (2 * (BUDGET - 1) + 1)
    # What covers the total: both servers.
    assert set(used["outside"].values()) == {2}
    assert len(used["outside"]) == 1
    # The second server draws nothing for products, so its pads there are empty.
    noted.streams = {place: found for place, found in noted.streams.items() if found != {b""}}
    noted.check_unequal()


def test_one_server_alone_is_at_chance_and_any_two_read_secrets(outcome: Outcome) -> None:
    truth = truth_of(outcome)
    for seat in SERVERS:
        assert ThetaFromShares().score(view(outcome, seat), truth).right == 0
    assert ScoresFromDealtShares().score(view(outcome, "comp"), truth).right == 0
    alone = ArmsFromDealtRows().score(view(outcome, "comp"), truth)
    assert alone.right < alone.of
    for other in ("comp", "dealer"):
        found = ThetaFromShares().score(view(outcome, "principal", other), truth)
        assert found.right == found.of
    together = ArmsFromDealtRows().score(view(outcome, "comp", "dealer"), truth)
    assert together.right == together.of == BUDGET - 1


def test_comps_shares_are_what_the_dealer_lacks() -> None:
    """So that the attack on scores looks at the right numbers."""
    outcome = recorded()
    game, comp = game_of(outcome.parties), outcome.parties["comp"]
    assert isinstance(comp, LinUCBDealtComp)
    assert comp._memory.holding is not None
    share = np.array(comp._memory.holding.in_scores(terms_of(outcome)), np.uint64)
    k, d = game.layout.k, game.layout.d
    products = circuits(k, d, BUDGET).products
    rows = rows_in(view(outcome, "comp", "dealer"))
    for t, theirs in enumerate(comps_shares(view(outcome, "comp")), start=1):
        pads = pads_of_p(outcome, products, t)
        pads.words((k, d))
        assert (theirs + pads.words((k,))).tolist() == (rows[t - 1] @ share).tolist()
