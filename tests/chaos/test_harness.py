"""What the chaos harness must not let pass."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import lotor
from chaos.harness import check_against_plain, check_records
from chaos.trial import MEANS, Trial
from lotor.core.effects import Decision
from lotor.environments import Outcomes

# Who is asked in rounds 1 to 4.
ROUNDS = {"lyon": [1], "porto": [2, 4], "graz": [3]}


def kits(folder: Path, asked: Mapping[str, list[int]], wrong: str = "run") -> dict[str, Path]:
    """Hospitals that were asked so, round by round."""
    found = {}
    for arm, name in enumerate(MEANS):
        found[name] = folder / name
        found[name].mkdir()
        pull = Outcomes.create(found[name] / "patients.db", [1.0] * 9)
        decisions = [Decision.named(wrong, t, arm) for t in asked[name]]
        for decision in decisions:
            pull(decision)
        (found[name] / "asked.log").write_text("".join(f"{one.id}\n" for one in decisions))
    return found


def test_good_records_pass(tmp_path: Path) -> None:
    check_records(kits(tmp_path, ROUNDS), "run", 4, {})


def test_a_crash_explains_that_the_last_question_is_asked_again(tmp_path: Path) -> None:
    repeated = kits(tmp_path, {**ROUNDS, "porto": [2, 2, 4]})
    check_records(repeated, "run", 4, {"porto": 1})
    with pytest.raises(AssertionError, match="without a crash"):
        check_records(repeated, "run", 4, {"lyon": 1})


@pytest.mark.parametrize(
    "asked",
    [
        {**ROUNDS, "porto": [2, 4, 2]},  # an old decision again
        {**ROUNDS, "lyon": [1, 2]},  # two hospitals in one round
        {**ROUNDS, "porto": [2]},  # nobody in round 4
        {**ROUNDS, "porto": [2, 4, 5]},  # more than the budget
    ],
)
def test_bad_records_do_not_pass(tmp_path: Path, asked: dict[str, list[int]]) -> None:
    with pytest.raises(AssertionError):
        check_records(kits(tmp_path, asked), "run", 4, dict.fromkeys(MEANS, 9))


def test_an_outcome_that_was_handed_out_unasked_does_not_pass(tmp_path: Path) -> None:
    found = kits(tmp_path, ROUNDS)
    Outcomes(found["lyon"] / "patients.db")(Decision.named("run", 3, 0))
    with pytest.raises(AssertionError):
        check_records(found, "run", 4, {})


def test_decisions_of_another_run_do_not_pass(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        check_records(kits(tmp_path, ROUNDS, wrong="other"), "run", 4, {})


def test_another_total_or_arm_than_in_plain_does_not_pass() -> None:
    trial = Trial(budget=20)
    arms = lotor.BernoulliArms(list(MEANS.values()))
    plain = lotor.run(lotor.UCB(), arms, budget=20, seed=trial.seed)
    assert plain.arms is not None
    right = {t: [arm] for t, arm in enumerate(plain.arms, 1)}
    check_against_plain(trial, plain.reward, right)
    for total, pulled in (
        (plain.reward + 1, right),
        (None, right),
        (plain.reward, {**right, 7: [*right[7], 0]}),
        (plain.reward, {**right, 9: [(right[9][0] + 1) % 3]}),
    ):
        with pytest.raises(AssertionError):
            check_against_plain(trial, total, pulled)
