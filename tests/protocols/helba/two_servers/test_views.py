"""Recorded views of the form with two servers: nothing in clear, and nothing of other users."""

from collections.abc import Sequence

import numpy as np
import pytest

import lotor
from helpers import Outcome, run_openly, truth_of, view_of
from lotor.auditing.report import Verdict
from lotor.core.views import View
from lotor.environments import LinearContexts
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.attack import Attack, Score
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.helba.two_servers import messages
from lotor.protocols.helba.two_servers.algebra import HelbaModelShare, HidingModel
from lotor.protocols.helba.two_servers.attacks import (
    GapsFromPaddedEstimates,
    GapsFromServerShares,
    OthersUncovered,
    hidden_estimates,
)
from lotor.protocols.helba.two_servers.leakage import KEYS, MEASURED, MESSAGES
from lotor.protocols.helba.two_servers.pad_server import HelbaTwoServersPadServer
from lotor.protocols.helba.two_servers.server import HelbaTwoServersServer
from lotor.protocols.helba.two_servers.setting import HelbaTwoServersSetting
from lotor.protocols.helba.two_servers.user import HelbaTwoServersUser
from protocols.helba.shared.stage import QUADRATIC, ROOT
from protocols.helba.shared.views import (
    BUDGET,
    SEED,
    SIGMAS,
    bits_sent,
    check_accounts,
    check_lengths,
    check_two_worlds,
    world,
)

USERS = 3
HELBA = lotor.Helba(servers=2, users=USERS)
FIRST = "user-1"
SERVER, PADS = "server", "pad-server"


@pytest.fixture(scope="module", params=["zero", "longest"])
def outcome(request: pytest.FixtureRequest) -> Outcome:
    return run_openly(HELBA, world(request.param), budget=BUDGET, seed=SEED)


def pad_server_of(outcome: Outcome) -> HelbaTwoServersPadServer:
    party = outcome.parties[PADS]
    assert isinstance(party, HelbaTwoServersPadServer)
    return party


def viewed(outcome: Outcome, *seats: str) -> View:
    return view_of(outcome, pad_server_of(outcome)._setting.terms.to_bytes(), *seats)


@pytest.mark.parametrize(
    ("sender", "kind"),
    [
        *((f"user-{number}", messages.PaddedContexts) for number in (1, 2, 3)),
        *((f"user-{number}", messages.PaddedUpdate) for number in (1, 2, 3)),
        (SERVER, messages.RenewalColumns),
        (SERVER, messages.PaddedEstimate),
        (SERVER, messages.ScoreWords),
        (SERVER, messages.ScoreDifferences),
        (SERVER, garbled.Columns),
        (PADS, messages.PadWords),
        (PADS, messages.ModelWords),
        (PADS, messages.ScoreColumns),
        (PADS, garbled.GarbledTables),
        (PADS, garbled.InputLabels),
    ],
)
def test_what_is_sent_looks_uniform_whatever_contexts_are(
    outcome: Outcome, sender: str, kind: type
) -> None:
    bits = bits_sent(outcome, sender, kind)
    assert len(bits) > 200
    assert abs(bits.mean() - 0.5) < SIGMAS * 0.5 / np.sqrt(len(bits))


def test_estimates_and_both_shares_of_the_model_look_uniform(outcome: Outcome) -> None:
    """Whatever V and g are: as parts of P, in tenths."""
    party = pad_server_of(outcome)
    setting, modulus = party._setting, party._setting.modulus
    found = hidden_estimates(setting, viewed(outcome, PADS), party)
    assert len(found) == BUDGET
    server = outcome.parties[SERVER]
    assert isinstance(server, HelbaTwoServersServer)
    numbers = [int(n) for one in found.values() for n in one.ravel()]
    for memory in (party._memory, server._memory):
        share = HelbaModelShare.from_bytes(setting, memory.start, memory.model)
        numbers += [int(n) for block in share._blocks for n in modulus.whole(block).ravel()]
    parts = np.array([number / int(modulus.product) for number in numbers]) % 1.0
    counts, _ = np.histogram(parts, bins=10, range=(0, 1))
    expected = len(parts) / 10
    assert (np.abs(counts - expected) < SIGMAS * np.sqrt(expected)).all()


def test_messages_have_one_length_each(outcome: Outcome) -> None:
    check_lengths(outcome, garbled.Columns, garbled.GarbledTables)


def test_two_worlds_send_messages_of_the_same_lengths() -> None:
    check_two_worlds(HELBA)


def test_every_message_and_field_is_accounted_for(outcome: Outcome) -> None:
    check_accounts(outcome, MESSAGES)


def test_users_talk_to_servers_only_and_share_no_key(outcome: Outcome) -> None:
    links = {(one.sender, one.to) for one in outcome.recorder.exchanges}
    assert not any(sender.startswith("user") and to.startswith("user") for sender, to in links)
    users = [one for one in outcome.parties.values() if isinstance(one, HelbaTwoServersUser)]
    assert len({user._memory.pad_key for user in users}) == USERS


def test_keys_are_on_no_wire_but_pad_keys_to_the_pad_server(outcome: Outcome) -> None:
    told = [
        one for one in outcome.recorder.exchanges if isinstance(one.message, messages.UserPadKey)
    ]
    assert {one.to for one in told} == {PADS}
    others = [one.payload for one in outcome.recorder.exchanges if one not in told]
    seen, server = b"".join(others), outcome.parties[SERVER]
    assert isinstance(server, HelbaTwoServersServer)
    memory, pads = server._memory, pad_server_of(outcome)._memory
    for key in (
        *(memory.hiding_key, memory.product_key, memory.evaluator.transfer_key),
        *(pads.product_key, pads.garbler.garbling_key, *pads.user_keys.values()),
        pads.garbler.delta(outcome.run.id).words.tobytes(),
        server._delta.words.tobytes(),
    ):
        assert key not in seen
    assert len(KEYS) == 8
    for role in ("customer", "server", "pad-server", "user", "network"):
        assert MEASURED[role].measured


def attacked(
    helba: lotor.Helba, *tried: tuple[Attack, Sequence[str]], runs: int = 1
) -> list[Score]:
    """What each attack finds in the joint view of some seats, in the same runs."""
    totals = [Score(0, 0, 0.0)] * len(tried)
    for seed in range(runs):
        found = run_openly(helba, LinearContexts.toy(40, seed=seed), budget=40, seed=seed)
        scores = [attack.score(viewed(found, *seats), truth_of(found)) for attack, seats in tried]
        totals = [total + score for total, score in zip(totals, scores, strict=True)]
    return totals


@pytest.mark.parametrize("policy", [QUADRATIC, ROOT], ids=["quadratic", "root"])
def test_neither_server_reads_gaps_even_with_a_user(policy: BatchedOFUL) -> None:
    for score in attacked(
        lotor.Helba(policy, servers=2, users=2),
        (GapsFromServerShares(), [SERVER, FIRST]),
        (GapsFromPaddedEstimates(), [PADS, FIRST]),
        runs=2,
    ):
        assert score.of >= 15
        assert abs(score.right - score.of * score.chance) < SIGMAS * 0.5 * np.sqrt(score.of)


def test_gaps_could_be_read_if_nothing_hid_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above would notice."""

    class Bare(HidingModel):
        def __init__(self, key: bytes, setting: HelbaTwoServersSetting, start: int) -> None:
            super().__init__(key, setting, start)
            d = setting.terms.d
            self._matrix = np.eye(d, dtype=object).astype(object)
            self._vector = np.zeros(d, dtype=object)
            self._determinant = type(self._determinant)(1)
            self._both = np.concatenate([self._matrix, self._vector[:, None]], axis=1)

    monkeypatch.setattr("lotor.protocols.helba.two_servers.server.HidingModel", Bare)
    (score,) = attacked(HELBA, (GapsFromPaddedEstimates(), [PADS]), runs=4)
    assert score.right > score.of * (score.chance + 0.15)


def test_one_server_reads_nothing_of_other_users_whoever_helps_it() -> None:
    others, attack = 26, OthersUncovered()
    expected = {
        (SERVER,): (0, 39),
        (SERVER, FIRST): (0, others),
        (PADS, FIRST): (0, others),
        (SERVER, "customer", FIRST): (0, others),
        (SERVER, PADS): (39, 39),
    }
    scores = attacked(HELBA, *((attack, seats) for seats in expected))
    assert [(score.right, score.of) for score in scores] == [*expected.values()]


def test_others_could_be_read_if_users_shared_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above would notice: the form with one server is like that."""
    monkeypatch.setattr("lotor.protocols.helba.two_servers.user.new_key", lambda: bytes(range(32)))
    (score,) = attacked(HELBA, (OthersUncovered(), [SERVER, FIRST]))
    assert score.right == score.of == 26


def test_the_audit_finds_what_is_stated() -> None:
    toy, sure = LinearContexts.toy(20, seed=5), 1 - 1e-9
    report = lotor.audit(HELBA, toy, budget=20, repeat=3, seed=1, level=sure)
    assert report.holds
    name = "contexts and rewards of others, uncovered"
    for party in ("server", "server+user", "pad-server+user"):
        assert report.row(party, name).verdict is Verdict.AT_CHANCE
    assert report.row("server+pad-server", name).verdict is Verdict.AS_STATED


def test_an_audit_fails_if_a_harmless_coalition_reads_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lotor.protocols.helba.two_servers.user.new_key", lambda: bytes(range(32)))
    toy = LinearContexts.toy(20, seed=5)
    report = lotor.audit(HELBA, toy, budget=20, repeat=1, seed=1, level=0.9999)
    assert not report.holds
    row = report.row("server+user", "contexts and rewards of others, uncovered")
    assert row.verdict is Verdict.LEAKS_MORE
