"""The adjugate of a small symmetric matrix by cofactors, whole or entry by entry.

Entries are sums of products of minors of size 2, each of which several entries need. The rows by
which an entry is expanded are chosen so that few minors are needed: 39 of 55 for size 5.
"""

import itertools
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from lotor.core.errors import InputError
from lotor.crypto.ckks.formulas import Number, dot, require_levels
from lotor.crypto.ckks.matrices import Place, SymmetricMatrix, upper_places

ADJUGATE_LEVELS: Final = {2: 0, 3: 1, 4: 2, 5: 2}
"""The sizes whose adjugate is known, and the levels it takes."""

Minor: TypeAlias = tuple[Place, Place]
"""Two rows and two columns, which may be exchanged because the matrix is symmetric."""

# Neighbours in this order share a pair of rows.
_ORDER: Final = {2: (0, 1), 3: (0, 1, 2), 4: (0, 1, 2, 3), 5: (0, 3, 1, 4, 2)}


class _Term(NamedTuple):
    """A product: an entry of the matrix or a minor, times a minor."""

    sign: int
    left: Place | Minor
    right: Minor


def adjugate(v: SymmetricMatrix[Number]) -> SymmetricMatrix[Number]:
    """det(v)·(1/v), by cofactors: no division, and a sign that the determinant does not change."""
    if v.size not in ADJUGATE_LEVELS:
        raise InputError(
            f"the adjugate of a {v.size}x{v.size} matrix is not built in, only of sizes 2 to 5: "
            "take the inverse by Newton's iteration"
        )
    for entry in v.entries.values():
        require_levels(entry, ADJUGATE_LEVELS[v.size])
    places = upper_places(v.size)
    minors = {which: minor(v, which) for which in minors_for(v.size, places)}
    return SymmetricMatrix(v.size, {place: cofactor(v, minors, place) for place in places})


def minor(v: SymmetricMatrix[Number], which: Minor) -> Number:
    """The determinant of two rows and two columns."""
    return _minor(v, which, 1)


def _minor(v: SymmetricMatrix[Number], which: Minor, sign: int) -> Number:
    (a, b), (c, d) = which
    return dot([(v[a, c], v[b, d]), (v[a, d], v[b, c])], [sign, -sign])


def minors_for(size: int, places: Iterable[Place]) -> list[Minor]:
    """The minors that these entries of an adjugate need."""
    if size < 4:
        return []
    terms = itertools.chain.from_iterable(_terms(size, place) for place in places)
    needed = {side for term in terms for side in term[1:] if isinstance(side[0], tuple)}
    return sorted(needed)


def cofactor(v: SymmetricMatrix[Number], minors: Mapping[Minor, Number], place: Place) -> Number:
    """One entry of the adjugate, from the minors that it needs."""
    i, j = place
    sign = (-1) ** (i + j)
    if v.size == 2:
        entry: Number = v[1 - i, 1 - j]
        return entry if sign > 0 else -entry
    if v.size == 3:
        return _minor(v, _sorted(_others(3, i), _others(3, j)), sign)
    pairs, signs = [], []
    for term in _terms(v.size, place):
        left = term.left
        factor = minors[left] if isinstance(left[0], tuple) else v[left]
        pairs.append((factor, minors[term.right]))
        signs.append(sign * term.sign)
    return dot(pairs, signs)


def in_order(size: int) -> list[Place]:
    """The entries of an adjugate; those that share minors are near each other."""
    rank = {row: n for n, row in enumerate(_ORDER[size])}
    return sorted(upper_places(size), key=lambda place: sorted(rank[k] for k in place))


def _terms(size: int, place: Place) -> list[_Term]:
    """Laplace's expansion of the determinant without a row and a column."""
    row, column = sorted(place, key=_ORDER[size].index)
    rows, columns = _others(size, row), _others(size, column)
    # Around the end, so that each pair of rows serves two expansions.
    steps = (2,) if size == 4 else (1, 2)
    taken = tuple(sorted((row + step) % size for step in steps))
    left = tuple(k for k in rows if k not in taken)
    terms = []
    for chosen in itertools.combinations(columns, len(taken)):
        others = tuple(k for k in columns if k not in chosen)
        places = [rows.index(k) for k in taken] + [columns.index(k) for k in chosen]
        first = (taken[0], chosen[0]) if len(taken) == 1 else _sorted(taken, chosen)
        terms.append(_Term((-1) ** sum(places), first, _sorted(left, others)))
    return terms


def _sorted(rows: tuple[int, ...], columns: tuple[int, ...]) -> Minor:
    one, other = sorted([(rows[0], rows[1]), (columns[0], columns[1])])
    return one, other


def _others(size: int, index: int) -> tuple[int, ...]:
    return tuple(k for k in range(size) if k != index)
