"""Recorded views of the shared form: nothing in clear, one length a kind, uniform to both."""

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
from lotor.protocols.helba.shared import messages
from lotor.protocols.helba.shared.algebra import HidingMatrix
from lotor.protocols.helba.shared.attacks import (
    SmallGaps,
    SmallGapsFromEstimates,
    SmallGapsFromRepeats,
    SumsUncovered,
    UserRounds,
)
from lotor.protocols.helba.shared.leakage import KEYS, MEASURED, MESSAGES
from lotor.protocols.helba.shared.server import HelbaSharedServer
from lotor.protocols.helba.shared.setting import HelbaSharedSetting
from lotor.protocols.helba.shared.user import HelbaSharedUser
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

HELBA = lotor.Helba(QUADRATIC)


@pytest.fixture(scope="module", params=["zero", "longest"])
def outcome(request: pytest.FixtureRequest) -> Outcome:
    return run_openly(HELBA, world(request.param), budget=BUDGET, seed=SEED)


def user_of(outcome: Outcome) -> HelbaSharedUser:
    user = outcome.parties["user"]
    assert isinstance(user, HelbaSharedUser)
    return user


def viewed(outcome: Outcome, *seats: str) -> View:
    return view_of(outcome, user_of(outcome)._setting.terms.to_bytes(), *seats)


@pytest.mark.parametrize(
    ("sender", "kind"),
    [
        ("user", messages.CoveredUpdate),
        ("user", messages.EstimateWords),
        ("user", messages.ContextWords),
        ("user", messages.CoveredShares),
        ("user", garbled.Columns),
        ("server", messages.CoveredEstimate),
        ("server", messages.ProductColumns),
        ("server", garbled.GarbledTables),
        ("server", garbled.InputLabels),
    ],
)
def test_what_is_sent_looks_uniform_whatever_contexts_are(
    outcome: Outcome, sender: str, kind: type
) -> None:
    bits = bits_sent(outcome, sender, kind)
    assert len(bits) > 5_000
    assert abs(bits.mean() - 0.5) < SIGMAS * 0.5 / np.sqrt(len(bits))


def test_a_and_e_look_uniform_to_the_user(outcome: Outcome) -> None:
    """Whatever V and g are: as parts of P, in tenths."""
    setting = user_of(outcome)._setting
    rounds = list(UserRounds(setting, viewed(outcome, "user"), truth_of(outcome)))
    product = int(setting.modulus.product)
    parts = np.array([[int(n) / product for n in one.estimate.ravel()] for one in rounds]).ravel()
    parts = parts % 1.0
    counts, _ = np.histogram(parts, bins=10, range=(0, 1))
    expected = len(parts) / 10
    assert (np.abs(counts - expected) < SIGMAS * np.sqrt(expected)).all()


def test_messages_have_one_length_each(outcome: Outcome) -> None:
    check_lengths(outcome, garbled.Columns, garbled.GarbledTables, garbled.DecodingTable)


def test_two_worlds_send_messages_of_the_same_lengths() -> None:
    check_two_worlds(HELBA)


def test_every_message_and_field_is_accounted_for(outcome: Outcome) -> None:
    check_accounts(outcome, MESSAGES)


def test_keys_are_on_no_wire(outcome: Outcome) -> None:
    seen = b"".join(one.payload for one in outcome.recorder.exchanges)
    user, server = user_of(outcome)._memory, outcome.parties["server"]
    assert isinstance(server, HelbaSharedServer)
    memory = server._memory
    for key in (
        *(user.pad_key, user.tie_key, user.product_key, user.evaluator.transfer_key),
        *(memory.hiding_key, memory.product_key, memory.garbler.garbling_key),
        memory.garbler.delta(outcome.run.id).words.tobytes(),
    ):
        assert key not in seen
    assert len(KEYS) == 9
    for role in ("user", "server", "key-authority", "network"):
        assert MEASURED[role].measured


def attacked(
    attacks: Sequence[Attack], helba: lotor.Helba, *seats: str, runs: int = 1
) -> list[Score]:
    totals = [Score(0, 0, 0.0)] * len(attacks)
    for seed in range(runs):
        toy = LinearContexts.toy(40, seed=seed)
        found = run_openly(helba, toy, budget=40, seed=seed)
        scores = [one.score(viewed(found, *seats), truth_of(found)) for one in attacks]
        totals = [total + score for total, score in zip(totals, scores, strict=True)]
    return totals


@pytest.mark.parametrize("policy", [QUADRATIC, ROOT], ids=["quadratic", "root"])
def test_a_user_reads_no_gaps(policy: BatchedOFUL) -> None:
    tried = (SmallGaps(), SmallGapsFromRepeats(), SmallGapsFromEstimates())
    for score in attacked(tried, lotor.Helba(policy), "user", runs=4):
        assert score.of >= 20
        assert abs(score.right - score.of * score.chance) < SIGMAS * 0.5 * np.sqrt(score.of)


def test_gaps_could_be_read_if_nothing_hid_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above would notice."""

    class Bare(HidingMatrix):
        def __init__(self, key: bytes, setting: HelbaSharedSetting, start: int) -> None:
            super().__init__(key, setting, start)
            d = setting.terms.d
            self._matrix = np.eye(d, dtype=object).astype(object)
            self._vector = np.zeros(d, dtype=object)
            self._determinant = type(self._determinant)(1)
            self._both = np.concatenate([self._matrix, self._vector[:, None]], axis=1)

    monkeypatch.setattr("lotor.protocols.helba.shared.server.HidingMatrix", Bare)
    (score,) = attacked([SmallGapsFromEstimates()], HELBA, "user", runs=4)
    assert score.right > score.of * (score.chance + 0.15)


def test_the_server_reads_no_update_and_with_a_user_all() -> None:
    for seats, right in ((["server"], 0), (["key-authority"], 0), (["server", "user"], 39)):
        (score,) = attacked([SumsUncovered()], HELBA, *seats)
        assert (score.right, score.of) == (right, 39)


def test_the_audit_finds_what_is_stated() -> None:
    toy, sure = LinearContexts.toy(20, seed=5), 1 - 1e-9
    report = lotor.audit(HELBA, toy, budget=20, repeat=3, seed=1, level=sure)
    assert report.holds
    row = report.row("server+user", "contexts and rewards, uncovered")
    assert row.verdict is Verdict.AS_STATED
    assert report.row("server", "contexts and rewards, uncovered").verdict is Verdict.AT_CHANCE
