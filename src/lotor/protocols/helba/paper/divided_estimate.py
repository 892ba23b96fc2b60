"""An estimate in parts: each process has some entries of X, and all that follows is linear in X.

So the differences of indices of all parts add up to those of the whole, and each part sends just
one ciphertext in a round. Parts also share minors, each of which one of them computes: passing a
minor on takes half as long as computing it, because SEAL compresses it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, Generic

from lotor.core.errors import InputError
from lotor.crypto.ckks import SymmetricMatrix, dot, upper_places
from lotor.crypto.ckks.adjugate import Minor, cofactor, in_order, minor, minors_for
from lotor.crypto.ckks.formulas import Number
from lotor.crypto.ckks.matrices import Place
from lotor.protocols.helba.paper.index_circuit import Sums

DIVIDED_SIZES: Final = (3, 4, 5)
"""The d whose estimates are worth dividing: for d = 2 there is nothing to compute in X."""


# The work of passing a minor on and of taking it over, in minors: SEAL compresses.
_GIVING, _TAKING = 0.5, 0.1
# Up to so many parts all ways to cut are tried.
_FEW: Final = 4


@dataclass(frozen=True, slots=True)
class EstimatePart:
    """What one process computes: entries, minors, and which of these minors others need."""

    places: tuple[Place, ...]
    minors: tuple[Minor, ...]
    given: tuple[Minor, ...]
    taken: tuple[Minor, ...]

    @property
    def before(self) -> float:
        """The work until all minors are there, in minors."""
        return len(self.minors) + _GIVING * len(self.given)

    @property
    def after(self) -> float:
        """The rest of it: an entry, and a row of h, take about as long as a minor."""
        return len(self.places) + len(_rows(self.places)) + _TAKING * len(self.taken)


def _rows(places: Iterable[Place]) -> set[int]:
    return {k for place in places for k in place}


def _time(parts: Sequence[EstimatePart]) -> float:
    """All wait for the slowest, twice."""
    return max(part.before for part in parts) + max(part.after for part in parts)


def divided(d: int, count: int) -> list[EstimatePart]:
    """So many parts, which together are done as early as possible."""
    places = in_order(d)
    if d not in DIVIDED_SIZES or not 1 <= count <= len(places):
        raise InputError(
            f"an estimate for d={d} is not divided into {count} parts: take one process, or d from "
            f"{DIVIDED_SIZES[0]} to {DIVIDED_SIZES[-1]} and at most {len(places)} processes"
        )
    size = len(places)
    ways: Iterable[tuple[int, ...]] = [tuple(size * k // count for k in range(1, count))]
    if count <= _FEW:
        ways = combinations(range(1, size), count - 1)
    divisions = (_parts(d, [places[a:b] for a, b in pairwise((0, *way, size))]) for way in ways)
    return min(divisions, key=_time)


def _parts(d: int, shares: Sequence[Sequence[Place]]) -> list[EstimatePart]:
    needed = [set(minors_for(d, share)) for share in shares]
    owned = _owned(needed)
    return [
        EstimatePart(
            tuple(share),
            tuple(sorted(own)),
            tuple(sorted(own & set().union(*(n for n in needed if n is not need)))),
            tuple(sorted(need - own)),
        )
        for share, need, own in zip(shares, needed, owned, strict=True)
    ]


def _owned(needed: Sequence[set[Minor]]) -> list[set[Minor]]:
    """Give each minor to one of the parts that need it: if several do, to the least busy one."""
    work = [0.0] * len(needed)
    owned: list[set[Minor]] = [set() for _ in needed]
    every = sorted(set().union(*needed))
    for shared in (False, True):
        for which in every:
            who = [place for place, need in enumerate(needed) if which in need]
            if (len(who) > 1) == shared:
                least = min(who, key=work.__getitem__)
                owned[least].add(which)
                work[least] += 1 + _GIVING * shared
    return owned


def minors_of(v: SymmetricMatrix[Number], part: EstimatePart) -> dict[Minor, Number]:
    """The minors that this part computes."""
    return {which: minor(v, which) for which in part.minors}


@dataclass(frozen=True, slots=True)
class PartialEstimate(Generic[Number]):
    """Some entries of X, and what they contribute to h = X g."""

    d: int
    x: Mapping[Place, Number]
    h: Mapping[int, Number]

    @classmethod
    def of(
        cls, sums: Sums[Number], part: EstimatePart, minors: Mapping[Minor, Number]
    ) -> "PartialEstimate[Number]":
        """From doubled sums and all minors that the part needs."""
        d = sums.v.size
        x = {place: cofactor(sums.v, minors, place) for place in part.places}
        h = {}
        for i in range(d):
            row = {j: x[min(i, j), max(i, j)] for j in range(d) if (min(i, j), max(i, j)) in x}
            if row:
                h[i] = dot([(entry, sums.g[j]) for j, entry in row.items()])
        return cls(d, x, h)

    def differences(self, contexts: Sequence[Number]) -> Number:
        """This part's share of the differences of all pairs' indices."""
        places = upper_places(self.d)
        pairs = [(entry, contexts[places.index(place)]) for place, entry in self.x.items()]
        pairs += [(entry, contexts[len(places) + i]) for i, entry in self.h.items()]
        return dot(pairs)
