"""What an audit found, beside what the form states."""

from enum import StrEnum

import msgspec

from lotor.auditing.interval import clopper_pearson
from lotor.protocols.attack import Score


class Verdict(StrEnum):
    """What a row of the report says of the form's claims."""

    AS_STATED = "leaks, as stated"
    AT_CHANCE = "at chance"
    OTHERS_SHOW = "not by this one"
    NOT_TRIED = "not tried"
    TOO_FEW = "too few runs"
    LEAKS_MORE = "LEAKS MORE THAN STATED"
    NOT_SHOWN = "STATED, BUT NOT SHOWN"


FAILURES = (Verdict.LEAKS_MORE, Verdict.NOT_SHOWN)


class Attempt(msgspec.Struct, frozen=True):
    """An attack on the view of a party; `stated` if the form says that it works.

    `together` is for parties that must not collude: one of the attacks on them must work.
    """

    party: str
    attack: str
    secret: str
    stated: bool
    score: Score
    together: bool = False

    @property
    def claim(self) -> tuple[str, str]:
        """What one attack is enough for."""
        return self.party, "" if self.together else self.secret


class AuditRow(msgspec.Struct, frozen=True):
    """What one attack recovered: `right` of `of` guesses, where `chance` is that share of them.

    The true share lies between `low` and `high`.
    """

    party: str
    attack: str
    secret: str
    stated: bool
    right: int
    of: int
    chance: float
    low: float
    high: float
    verdict: Verdict

    @property
    def shown(self) -> bool:
        """Whether the attack does better than chance."""
        return self.of > 0 and self.low > self.chance


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """All attacks on one form. `untried` are stated secrets, by party, that no attack is about.

    `two_worlds` says whether there was a second world, which some attacks compare with the first.
    A form that leaks exactly what it states fails with probability 1 - `level` at most.
    """

    protocol: str
    form: str
    options: dict[str, str | int]
    budget: int
    k: int
    repeat: int
    seed: int
    level: float
    rows: list[AuditRow]
    untried: dict[str, list[str]]
    two_worlds: bool
    seconds: float

    @property
    def failures(self) -> list[AuditRow]:
        """The rows that contradict what the form states."""
        return [row for row in self.rows if row.verdict in FAILURES]

    @property
    def holds(self) -> bool:
        """Whether everything that leaks is stated, and what is stated was shown."""
        return not self.failures

    def row(self, party: str, attack: str) -> AuditRow:
        """What an attack found at a party."""
        return next(one for one in self.rows if (one.party, one.attack) == (party, attack))

    def to_json(self) -> str:
        """The report for programs, with whether it `holds`."""
        return msgspec.json.encode({**msgspec.to_builtins(self), "holds": self.holds}).decode()


def judged(attempts: list[Attempt], level: float) -> list[AuditRow]:
    """A row for each attempt; the level is shared out among those that were tried (Bonferroni)."""
    tried = [one for one in attempts if one.score.of]
    each = 1 - (1 - level) / max(len(tried), 1)
    shown = {one.claim for one in tried if _low(one.score, each) > one.score.chance}
    # A claim that one attack could show with more runs is not refuted by another that fails.
    open_claims = {one.claim for one in tried if _says_nothing(one.score, each)}
    return [_row(one, each, shown, open_claims) for one in attempts]


def _low(score: Score, level: float) -> float:
    return clopper_pearson(score.right, score.of, level)[0]


def _says_nothing(score: Score, level: float) -> bool:
    """Whether not even a perfect result would be better than chance."""
    return clopper_pearson(score.of, score.of, level)[0] <= score.chance


def _row(
    one: Attempt, level: float, shown: set[tuple[str, str]], open_claims: set[tuple[str, str]]
) -> AuditRow:
    score = one.score
    low, high = clopper_pearson(score.right, score.of, level)
    if score.of == 0:
        verdict = Verdict.NOT_TRIED
    elif low > score.chance:
        verdict = Verdict.AS_STATED if one.stated else Verdict.LEAKS_MORE
    elif _says_nothing(score, level):
        verdict = Verdict.TOO_FEW
    elif not one.stated:
        verdict = Verdict.AT_CHANCE
    elif one.claim in shown:
        verdict = Verdict.OTHERS_SHOW
    elif one.claim in open_claims:
        verdict = Verdict.TOO_FEW
    else:
        verdict = Verdict.NOT_SHOWN
    return AuditRow(
        party=one.party,
        attack=one.attack,
        secret=one.secret,
        stated=one.stated,
        right=score.right,
        of=score.of,
        chance=score.chance,
        low=low,
        high=high,
        verdict=verdict,
    )
