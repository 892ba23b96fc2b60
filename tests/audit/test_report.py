"""Verdicts: what is found beside what is stated."""

import msgspec
import pytest

from lotor.auditing.report import Attempt, AuditReport, Verdict, judged
from lotor.protocols.attack import NOT_TRIED, Score

SHOWN, CHANCE, FEW = Score(95, 100, 0.5), Score(52, 100, 0.5), Score(3, 3, 0.5)


def verdicts(*given: tuple[Score, bool], secret: str = "rewards") -> list[Verdict]:  # noqa: S107
    attempts = [
        Attempt("server", f"attack {number}", secret, stated, score)
        for number, (score, stated) in enumerate(given)
    ]
    return [row.verdict for row in judged(attempts, 0.99)]


@pytest.mark.parametrize(
    ("score", "stated", "verdict"),
    [
        (SHOWN, True, Verdict.AS_STATED),
        (SHOWN, False, Verdict.LEAKS_MORE),
        (CHANCE, False, Verdict.AT_CHANCE),
        (CHANCE, True, Verdict.NOT_SHOWN),
        (FEW, True, Verdict.TOO_FEW),
        (FEW, False, Verdict.TOO_FEW),
        (NOT_TRIED, True, Verdict.NOT_TRIED),
        (Score(0, 50, 0.0), False, Verdict.AT_CHANCE),
        (Score(1, 50, 0.0), False, Verdict.LEAKS_MORE),
    ],
)
def test_verdicts(score: Score, stated: bool, verdict: Verdict) -> None:
    assert verdicts((score, stated)) == [verdict]


def test_one_attack_is_enough_to_show_what_is_stated() -> None:
    assert verdicts((SHOWN, True), (CHANCE, True)) == [Verdict.AS_STATED, Verdict.OTHERS_SHOW]


def test_what_another_attack_could_still_show_is_not_refuted() -> None:
    assert verdicts((FEW, True), (CHANCE, True)) == [Verdict.TOO_FEW, Verdict.TOO_FEW]


def test_one_attack_on_a_coalition_is_enough_whatever_it_finds() -> None:
    attempts = [
        Attempt("a+b", "one", "rewards", stated=True, score=SHOWN, together=True),
        Attempt("a+b", "two", "mask", stated=True, score=CHANCE, together=True),
    ]
    assert [row.verdict for row in judged(attempts, 0.99)] == [
        Verdict.AS_STATED,
        Verdict.OTHERS_SHOW,
    ]
    assert judged(attempts[1:], 0.99)[0].verdict is Verdict.NOT_SHOWN


def test_more_attacks_make_each_interval_wider() -> None:
    score = Score(61, 100, 0.5)
    assert verdicts((score, False))[0] is Verdict.AT_CHANCE
    score = Score(65, 100, 0.5)
    assert verdicts((score, False))[0] is Verdict.LEAKS_MORE
    assert verdicts(*[(score, False)] * 40)[0] is Verdict.AT_CHANCE


def report(*verdicts: Verdict) -> AuditReport:
    rows = judged([Attempt("server", "attack", "rewards", stated=False, score=CHANCE)], 0.99)
    return AuditReport(
        protocol="toy",
        form="paper",
        options={},
        budget=10,
        k=2,
        repeat=1,
        seed=1,
        level=0.99,
        rows=[msgspec.structs.replace(rows[0], verdict=one) for one in verdicts],
        untried={},
        two_worlds=True,
        seconds=1.0,
    )


def test_a_report_holds_unless_a_verdict_contradicts_the_form() -> None:
    fine = [one for one in Verdict if one not in (Verdict.LEAKS_MORE, Verdict.NOT_SHOWN)]
    assert report(*fine).holds
    assert [row.verdict for row in report(*Verdict).failures] == [
        Verdict.LEAKS_MORE,
        Verdict.NOT_SHOWN,
    ]


def test_json_says_whether_it_holds() -> None:
    told = msgspec.json.decode(report(Verdict.LEAKS_MORE).to_json())
    assert told["holds"] is False
    assert told["rows"][0]["verdict"] == "LEAKS MORE THAN STATED"
    assert msgspec.json.decode(report(Verdict.AT_CHANCE).to_json())["holds"] is True
