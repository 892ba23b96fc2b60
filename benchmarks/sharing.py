"""What an argmax on shares costs: all pairs against a tournament, from one run; and what signs
cost, by tables and by words of all their bits.

Both servers and the dealer work in turn in this process, and each one's CPU time is counted by
itself, the least of many tries. The network is not in it: it is added as so many µs for each round,
and for each kB that a server sends.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import thread_time
from typing import Any, TypeVar

import numpy as np
from machine import Others
from rich.console import Console
from rich.table import Table

from lotor.crypto.sharing import (
    Bits,
    Circuit,
    Engine,
    Opening,
    PadCipher,
    Pads,
    Recipe,
    ServerEngine,
    Shared,
    SharedBits,
    argmax,
    joined,
    to_message,
    tournament,
)
from lotor.crypto.sharing.comparison import tabled_negative
from lotor.crypto.sharing.packed import packed_negative
from lotor.crypto.sharing.shares import Tally

T = TypeVar("T")
Work = Callable[[Engine, Shared], Circuit[SharedBits] | Circuit[Tally]]

SIZES = (10, 50, 75, 100, 125, 150, 175, 200, 250, 300)
SIGNS = (45, 100, 200, 300, 400, 600, 1000)
GIGABIT = 8.0  # µs for a kB
CIPHERS = PadCipher(bytes(range(32))), PadCipher(bytes(range(32, 64)))


def all_pairs(engine: Engine, x: Shared) -> Circuit[SharedBits]:
    """Rows are never played as a tournament."""
    return argmax(engine, x.reshape(1, -1))


def in_groups(groups: int) -> Work:
    return lambda engine, x: tournament(engine, x, groups)


def fewest_pairs(k: int) -> int:
    """How many groups: g have about k²/2g pairs in all, and their winners g²/2."""
    return round(float(np.cbrt(k * k / 2)))


@dataclass(frozen=True, slots=True)
class Cost:
    """One argmax: µs of CPU of the first server, of the second and of the dealer."""

    recipe: Recipe
    first: float
    second: float
    dealer: float

    @property
    def server(self) -> float:
        return max(self.first, self.second)

    def step(self, round_us: float, kb_us: float = 0.0) -> float:
        """From the first message to the result; the dealer works ahead."""
        return self.server + self.recipe.rounds * round_us + self.recipe.opened / 1e3 * kb_us

    def all_parties(self, round_us: float, kb_us: float) -> float:
        """What everybody spends on it, with what is dealt on the network as well."""
        kb = (self.recipe.opened + self.recipe.correction_bytes) / 1e3
        return self.first + self.second + self.dealer + self.recipe.rounds * round_us + kb * kb_us


class Clock:
    """Adds up the CPU time of what is done under it."""

    def __init__(self) -> None:
        self.spent = 0.0

    def __call__(self, act: Callable[[], T]) -> T:
        began = thread_time()
        try:
            return act()
        finally:
            self.spent += thread_time() - began


def once(work: Work, recipe: Recipe, shares: Sequence[Shared], t: int) -> tuple[float, ...]:
    """Seconds of the two servers and of the dealer."""
    clocks = Clock(), Clock(), Clock()

    def pads(server: int) -> Pads:
        size = recipe.pad_bytes(first=server == 0)
        return Pads(CIPHERS[server], size, t=t, attempt=0, circuit=0)

    corrections = clocks[2](lambda: recipe.deal(pads(0), pads(1)))
    servers = (
        clocks[0](lambda: ServerEngine(pads(0))),
        clocks[1](lambda: ServerEngine(pads(1), corrections)),
    )
    steps = [work(server, x) for server, x in zip(servers, shares, strict=True)]
    opened: list[Any] = [None, None]
    while True:
        asked: list[Opening] = []
        results: list[SharedBits | Tally] = []
        for clock, each, values in zip(clocks, steps, opened, strict=False):
            try:
                asked.append(clock(partial(each.send, values)))
            except StopIteration as end:
                results.append(end.value)
        if results:
            check(results, shares)
            return tuple(clock.spent for clock in clocks)
        messages = [
            clock(partial(to_message, each)) for clock, each in zip(clocks, asked, strict=False)
        ]
        opened = [
            clock(partial(joined, mine, theirs, "the other server"))
            for clock, mine, theirs in zip(clocks, asked, reversed(messages), strict=False)
        ]


def check(results: Sequence[SharedBits | Tally], shares: Sequence[Shared]) -> None:
    first, second = results
    if isinstance(first, Tally):
        signs = (shares[0].share + shares[1].share) >> np.uint64(63)
        assert (first.share + second.share == signs).all()
        return
    one_hot: Bits = (first.share ^ second.share).ravel()
    numbers = (shares[0].share + shares[1].share).view(np.int64)
    assert np.flatnonzero(one_hot).tolist() == [numbers.argmax()]


def measure(works: Sequence[Work], k: int, repeats: int) -> list[Cost]:
    """In alternation, since a machine's speed drifts."""
    rng = np.random.default_rng(k)
    share = rng.integers(0, 2**64, k, np.uint64)
    numbers = rng.integers(-(2**60), 2**60, k, np.int64).view(np.uint64)
    shares = Shared(share, first=True), Shared(numbers - share, first=False)
    blank = Shared(np.zeros(k, np.uint64), first=False)
    recipes = [Recipe.of(partial(work, x=blank)) for work in works]  # type: ignore[call-arg]
    taken: list[list[tuple[float, ...]]] = [[] for _ in works]
    for t in range(repeats):
        for work, recipe, times in zip(works, recipes, taken, strict=True):
            times.append(once(work, recipe, shares, t))
    return [
        Cost(recipe, *(min(column) * 1e6 for column in zip(*times, strict=True)))
        for recipe, times in zip(recipes, taken, strict=True)
    ]


def ways(k: int) -> dict[str, Work]:
    root, fewest = round(k**0.5), fewest_pairs(k)
    return {
        "all pairs": all_pairs,
        f"√k = {root} groups": in_groups(root),
        f"∛(k²/2) = {fewest}": in_groups(fewest),
    }


def crossing(sizes: Sequence[int], gains: Sequence[float]) -> str:
    """From where on something is gained, between two sizes by a straight line."""
    if gains[0] > 0:
        return f"from {sizes[0]} or fewer on"
    for (k, low), (more, high) in pairwise(zip(sizes, gains, strict=True)):
        if low <= 0 < high:
            return f"from about {k + (more - k) * low / (low - high):.0f} on"
    return f"nowhere up to {sizes[-1]}"


def rows(k: int, names: Sequence[str], costs: Sequence[Cost], round_us: float) -> list[list[str]]:
    return [
        [
            str(k) if number == 0 else "",
            name,
            str(cost.recipe.rounds),
            f"{cost.recipe.opened / 1e3:.1f}",
            f"{cost.recipe.correction_bytes / 1e3:.1f}",
            f"{cost.first:.0f}",
            f"{cost.second:.0f}",
            f"{cost.dealer:.0f}",
            f"{cost.step(round_us):.0f}",
            f"{cost.step(round_us, GIGABIT):.0f}",
        ]
        for number, (name, cost) in enumerate(zip(names, costs, strict=True))
    ]


def table_of(title: str, round_us: float) -> Table:
    table = Table(title=title, title_justify="left")
    headers = ("k", "", "rounds", "kB sent", "kB dealt", "first µs", "second µs", "dealer µs")
    for column in (*headers, f"+ {round_us:g}/round", "+ 1 Gbit/s"):
        table.add_column(column, justify="left" if column == "" else "right", no_wrap=True)
    return table


def signs(console: Console, repeats: int, round_us: float) -> None:
    """From how many numbers on words of all bits cost less, in all parties' time together."""
    table = table_of("Signs of k shared numbers", round_us)
    works: dict[str, Work] = {"tables": tabled_negative, "words of all bits": packed_negative}
    costs = [measure(list(works.values()), k, repeats) for k in SIGNS]
    for k, each in zip(SIGNS, costs, strict=True):
        for row in rows(k, list(works), each, round_us):
            table.add_row(*row)
        table.add_section()
    console.print(table)
    for network, kb_us in (("where bytes cost nothing", 0.0), ("at 1 Gbit/s", GIGABIT)):
        spent = [[cost.all_parties(round_us, kb_us) for cost in each] for each in costs]
        where = crossing(SIGNS, [tables - words for tables, words in spent])
        console.print(f"Words of all bits cost less {where}, {network}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="some seconds, and less precise")
    parser.add_argument("--round-us", type=float, default=200.0, help="what a round takes, in µs")
    options = parser.parse_args()
    console = Console(width=120)
    table = table_of("Argmax of k shared numbers", options.round_us)
    costs: list[list[Cost]] = []
    repeats = 30 if options.quick else 300
    with Others() as others:
        for k in SIZES:
            works = ways(k)
            costs.append(measure(list(works.values()), k, repeats))
            for row in rows(k, list(works), costs[-1], options.round_us):
                table.add_row(*row)
            table.add_section()
        console.print(table)
        for number, name in ((1, "√k"), (2, "∛(k²/2)")):
            for network, kb_us in (("where bytes cost nothing", 0.0), ("at 1 Gbit/s", GIGABIT)):
                steps = [[cost.step(options.round_us, kb_us) for cost in each] for each in costs]
                where = crossing(SIZES, [step[0] - step[number] for step in steps])
                console.print(f"A tournament of {name} groups costs less {where}, {network}.")
        signs(console, repeats, options.round_us)
    console.print(f"Others used {others.text}.")


if __name__ == "__main__":
    main()
