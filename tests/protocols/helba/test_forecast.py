"""The plan of a run: sizes that are sent, prices, and the resolution."""

import pytest

import lotor
from helpers import run_openly
from lotor.protocols.helba.paper import messages
from lotor.protocols.helba.paper.bounds import QuadraticBounds
from lotor.protocols.helba.paper.forecast import HelbaForecast, Prices, measured
from lotor.protocols.helba.paper.leakage import KEYS, MEASURED
from protocols.helba.stage import paper, setting_of, small

TOY = lotor.LinearContexts.toy(2, seed=5)


def test_sizes_are_those_that_are_sent() -> None:
    helba = small(stages=3)
    plan = HelbaForecast(setting_of(helba, rounds=2, arms=2, d=2))
    seen = run_openly(helba, TOY, budget=2).recorder.exchanges
    up = [m for m in seen if isinstance(m.message, messages.Contexts | messages.Update)]
    sent = sum(len(m.payload) for m in up[:4])
    assert 0.7 * plan.round_bytes_up < sent < 1.1 * plan.round_bytes_up + 20_000
    (keys,) = [m.message for m in seen if isinstance(m.message, messages.ServerKeys)]
    assert 0.7 * plan.key_bytes < keys.evaluation < 1.1 * plan.key_bytes + 20_000
    down = [m for m in seen if isinstance(m.message, messages.EncryptedChoice)]
    assert len(down[0].payload) < 1.1 * plan.round_bytes_down + 20_000


def test_prices_are_multiplied_by_counts() -> None:
    plan = HelbaForecast(setting_of(small(), rounds=10, arms=2, d=2))
    names = ("multiply", "relinearise", "rescale", "rotate", "encrypt", "load")
    flat = Prices((0, 13), {name: (1.0 if name == "relinearise" else 0.0,) * 2 for name in names})
    assert plan.seconds(flat) == {"server_round": 17, "user_round": 0, "update": 1, "run": 180}
    falling = Prices((0, 10), {"multiply": (10.0, 0.0)})
    assert falling.of("multiply", 4) == pytest.approx(6.0)


def test_prices_can_be_measured() -> None:
    plan = HelbaForecast(setting_of(small(stages=2), rounds=3, arms=2, d=2))
    prices = measured(plan.setting.parameters, repeats=2)
    assert plan.seconds(prices)["run"] > 0


def test_the_papers_index_has_a_plan() -> None:
    plan = HelbaForecast(setting_of(small(paper(1.0, 0.5), stages=3), rounds=6, arms=2, d=2))
    times = plan.seconds(measured(plan.setting.parameters, repeats=2))
    assert times["run"] > 6 * (times["server_round"] + times["user_round"]) + times["update"]
    summary = plan.summary()
    assert summary["update_bytes_up"] > summary["round_bytes_up"] / 3
    helba = small(paper(1.0, 0.5), stages=3)
    seen = run_openly(helba, lotor.LinearContexts.toy(3, seed=5), budget=3).recorder.exchanges
    sent = [len(m.payload) for m in seen if isinstance(m.message, messages.RefreshedEntry)]
    expected = HelbaForecast(setting_of(helba, rounds=3, arms=2, d=2)).update_bytes_up
    assert 0.6 * expected < sum(sent[:5]) < 1.1 * expected + 20_000


def test_more_stages_and_less_noise_tell_smaller_gaps_apart() -> None:
    def gap(stages: int, noise_bits: int) -> float:
        helba = small(stages=stages, noise_bits=noise_bits)
        return HelbaForecast(setting_of(helba, rounds=130, arms=2, d=2)).resolution(130)

    assert gap(5, 5) < gap(4, 5) < gap(3, 5)
    assert gap(4, 8) < gap(4, 5)


def test_the_resolution_grows_as_the_determinant_falls() -> None:
    plan = HelbaForecast(setting_of(small(), rounds=130, arms=2, d=2))
    balanced = QuadraticBounds.of(plan.setting.terms).balanced(100)
    assert plan.resolution(100, balanced - 1) > 2.7 * plan.resolution(100)
    inverted = HelbaForecast(setting_of(small(stages=3), rounds=20, arms=2, d=6))
    assert inverted.resolution(20, 5.0) == inverted.resolution(20)


def test_the_summary_names_what_was_asked() -> None:
    summary = HelbaForecast(
        setting_of(lotor.Helba(form="paper"), rounds=130, arms=2, d=2)
    ).summary()
    assert summary["levels"] == 14
    assert summary["modulus_bits"] == 820
    assert summary["updates"] == 130
    assert 0 < summary["server_memory_bytes"] < 2.5e9
    large = HelbaForecast(setting_of(lotor.Helba(form="paper"), rounds=130, arms=5, d=5)).summary()
    assert summary["server_memory_bytes"] < large["server_memory_bytes"] < 6e9


def test_the_findings_name_the_parties_that_there_are() -> None:
    outcome = run_openly(small(stages=2), TOY, budget=1)
    assert set(MEASURED) == {*outcome.parties, "network"}
    assert {holder for _, holders in KEYS.values() for holder in holders} == set(outcome.parties)
