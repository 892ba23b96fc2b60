"""What the server computes in a round and for a new estimate, and what the paper's run took.

Counts are by operation and level, since an operation's price depends on how many primes are left.
A `multiply` is one product of ciphertexts, a square included.
"""

from collections import Counter
from itertools import combinations
from typing import Final, TypeAlias

from lotor.crypto.ckks import upper_places
from lotor.crypto.ckks.sign import STAGE_LEVELS
from lotor.protocols.helba.setting import Setting

Counts: TypeAlias = Counter[tuple[str, int]]

PAPER: Final = {"seconds": 74_340, "rounds": 130, "levels": 100, "ring_degree": 1 << 16}
"""The paper's whole run, d = 2 and two arms (Section 6); its modulus is too large for 128 bits."""


def per_round(setting: Setting) -> Counts:
    """A choice: the score of all pairs, their comparison, the product over each arm's pairs."""
    counts: Counts = Counter()
    d, level = setting.terms.d, setting.levels.contexts
    _products(counts, len(upper_places(d)) + d, level)
    level += 1
    for degree in setting.comparing.polynomial.degrees:
        _stage(counts, degree, level)
        level += STAGE_LEVELS[degree]
    for _ in setting.comparing.rotations:
        counts["rotate", level] += 1
        _products(counts, 1, level)
        level += 1
    return counts


def per_update(setting: Setting) -> Counts:
    """A new estimate: X from V, and h = X g."""
    counts: Counts = Counter()
    d, levels = setting.terms.d, setting.levels.inverse
    if setting.bounds.by_adjugate:
        _adjugate(counts, d)
    else:
        _newton(counts, d, levels)
    for _ in range(d):
        _products(counts, d, levels)
    return counts


def whole_run(setting: Setting) -> dict[str, int]:
    """What must be counted in a run, by operation."""
    totals: Counter[str] = Counter()
    times = ((per_round, setting.terms.budget), (per_update, setting.bounds.batches()))
    for counted, often in times:
        for (operation, _), count in counted(setting).items():
            totals[operation] += often * count
    return dict(totals)


def _products(counts: Counts, products: int, level: int) -> None:
    """A sum of products, relinearised and rescaled once."""
    counts["multiply", level] += products
    counts["relinearise", level] += 1
    counts["rescale", level] += 1


def _stage(counts: Counts, degree: int, level: int) -> None:
    _products(counts, 1, level)  # the square
    _products(counts, 1, level + 1)
    if degree == 7:
        _products(counts, 1, level + 1)
        _products(counts, 1, level + 2)


def _adjugate(counts: Counts, d: int) -> None:
    entries = len(upper_places(d))
    if d == 3:
        for _ in range(entries):
            _products(counts, 2, 0)
    if d in (4, 5):
        for _ in range(_minors(d)):
            _products(counts, 2, 0)
        # Cofactors of size 3 by a row, of size 4 by pairs of rows.
        for _ in range(entries):
            _products(counts, 3 if d == 4 else 6, 1)


def _minors(d: int) -> int:
    """How many different minors of size 2 the cofactors of a symmetric matrix need."""
    needed: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    taken = 1 if d == 4 else 2
    for i, j in upper_places(d):
        rows = tuple(k for k in range(d) if k != i)
        columns = tuple(k for k in range(d) if k != j)
        for chosen in combinations(columns, 2):
            parts = [rows[taken:]] if taken == 1 else [rows[:2], rows[2:]]
            needed.update(min((part, chosen), (chosen, part)) for part in parts)
    return len(needed)


def _newton(counts: Counts, d: int, levels: int) -> None:
    """N and X, entry by entry; the first X costs nothing, and the last N is not needed."""
    entries = len(upper_places(d))
    for level in range(levels - 1):
        for _ in range(entries):
            _products(counts, d, level)
    for level in range(1, levels):
        for _ in range(entries):
            _products(counts, d, level)
