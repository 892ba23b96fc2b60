"""How many rounds late outcomes are in a simulation."""

import re
from collections.abc import Callable
from math import floor, log1p
from typing import Final

from lotor.core.draws import to_uniform
from lotor.core.errors import InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.crypto.prf import Prf
from lotor.protocols.party import Run

NO_DELAY: Final = "0"
_TEXT: Final = re.compile(r"(?:(fixed|uniform|geometric):)?(\d+(?:\.\d+)?)(?:-(\d+))?")


def delays(text: str, run: Run) -> Callable[[int], int]:
    """How many rounds the outcome of a round is late; plain and secure draw the same.

    With 0 it is there before the next round.
    """
    _check(text)
    kind, first, last = _parsed(text)
    if kind == "fixed":
        return lambda _t: int(first)
    prf = Prf(run.draw_key("delay"))

    def drawn(t: int) -> int:
        u = float(to_uniform(prf.words(0, t, 0))[0])
        if kind == "uniform":
            return int(first) + floor(u * (int(last) - int(first) + 1))
        # The mean of a geometric number from 0 with success probability p is (1 - p) / p.
        return floor(log1p(-u) / log1p(-1.0 / (float(first) + 1.0)))

    return drawn


def checked_delay(delay: object) -> str:
    """A delay as text: a number of rounds, or a distribution.

    >>> checked_delay(3), checked_delay("uniform:0-10"), checked_delay("geometric:20")
    ('3', 'uniform:0-10', 'geometric:20')
    """
    text = str(delay) if isinstance(delay, str | int) and not isinstance(delay, bool) else ""
    _check(text or repr(delay))
    return text


def _check(text: str) -> None:
    kind, first, last = _parsed(text)
    whole = first.isdecimal()
    fits = {
        "fixed": whole and not last,
        "uniform": whole and bool(last) and int(first or 0) <= int(last or 0),
        "geometric": bool(first) and not last and float(first or 0) > 0,
    }
    if not fits.get(kind, False) or float(last or first) > MAXIMAL_BUDGET:
        raise InputError(
            f"delay is {text!r}: give how many rounds later outcomes come, such as 5, "
            "'uniform:0-10' (each number of rounds is as likely) or 'geometric:20' (20 on average)"
        )


def _parsed(text: str) -> tuple[str, str, str]:
    found = _TEXT.fullmatch(text)
    if found is None:
        return "", "", ""
    return found[1] or "fixed", found[2], found[3] or ""
