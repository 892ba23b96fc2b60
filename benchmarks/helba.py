"""What HELBA costs here, and how well it decides: whole runs beside bare SEAL operations.

Every run is a process of its own. Nothing fails: an aim is only named.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import helba_forms
from helba_case import Case, Found, in_fresh_process
from helba_workers import workers_table
from rich.console import Console
from rich.table import Table

from lotor.core.errors import InputError
from lotor.protocols.helba.paper.complexity import PAPER

RATIO_AIM = 1.25
MEMORY_AIMS = {2: 2500, 5: 6000}
# The paper's Table 1: its times beside that at 128 bits.
PAPER_RATIOS = {128: 1.0, 192: 1.016, 256: 1.026}
LARGER = ((10, 2), (5, 5))


@dataclass(frozen=True, slots=True)
class Effort:
    """How many rounds, and how precisely.

    `ckks` are rounds of the paper's form beside the shared one: for d = 2, d = 5 and the root.
    """

    ckks: tuple[int, int, int]
    repetitions: int
    whole: int
    messages: int
    larger: int
    security: int
    paper: int
    points: int
    workers: tuple[int, ...]
    turns: int


FULL = Effort((8, 2, 2), 25, 130, 20, 3, 20, 130, 0, (2,), 3)
QUICK = Effort((2, 1, 1), 3, 4, 2, 2, 2, 2, 4, (2,), 1)


def tables(effort: Effort) -> Iterator[Table | str]:
    yield helba_forms.beside_ckks(effort.ckks)
    yield helba_forms.whole_runs(effort.repetitions)
    yield from whole_run(effort)
    yield messages(effort)
    yield larger(effort)
    yield security(effort)
    yield paper_index(effort)
    yield workers_table(effort.workers, effort.turns)


def whole_run(effort: Effort) -> Iterator[Table | str]:
    found = in_fresh_process(Case(rounds=effort.whole, points=effort.points))
    table = _table(
        f"T = {effort.whole}, d = 2, K = 2, 128 bits, 25 repetitions in slots, one thread"
    )
    seconds = found.run / effort.whole
    paper = PAPER["seconds"] / PAPER["rounds"]
    for name, value in {
        "CPU of the run": f"{found.run:.1f} s, {seconds:.2f} s a round",
        "the paper's run": f"{paper:.0f} s a round: {paper / seconds:.0f} times as long",
        "its multiplications, relinearisations, rescales, rotations bare": f"{found.bare:.1f} s",
        "ratio": f"{found.ratio:.2f} (aim: {RATIO_AIM})",
        "the same by a clock around SEAL's calls": f"{found.run / found.inside:.2f}",
        "peak memory": _memory(found),
        "decisions that differ from exact ones": _differences(found),
        "regret": f"{found.regret[0]:.2f} ± {found.regret[1]:.2f}",
        "regret in plain": f"{found.plain_regret[0]:.2f} ± {found.plain_regret[1]:.2f}",
        "others meanwhile": found.others,
    }.items():
        table.add_row(name, value)
    yield table


def messages(effort: Effort) -> Table:
    """What encrypting, compressing, framing and checking every message add."""
    found = in_fresh_process(Case(rounds=effort.messages, messages=True, points=effort.points))
    table = _table(f"The same by messages between parties, T = {effort.messages}, one repetition")
    rounds = effort.messages
    for name, value in {
        "CPU of a round": f"{found.run / rounds:.2f} s",
        "of that user, server": ", ".join(
            f"{found.parties[name] / rounds:.2f} s" for name in ("user", "server")
        ),
        "bare": f"{found.bare / rounds:.2f} s a round",
        "ratio, keys loaded and the first sums encrypted included": f"{found.ratio:.2f}",
        "the same by a clock around SEAL's calls": f"{found.run / found.inside:.2f}",
        "sent": f"{found.bytes_sent / 1e6:.0f} MB",
        "peak memory, all parties": f"{found.peak:.0f} MB",
        "others meanwhile": found.others,
    }.items():
        table.add_row(name, value)
    return table


def larger(effort: Effort) -> Table:
    table = Table(title=f"Larger problems, {effort.larger} rounds with a new estimate each")
    for heading in ("K", "d", "levels", "estimate s", "round s", "ratio", "peak", "differences"):
        table.add_column(heading, justify="right")
    for arms, d in LARGER:
        case = Case(arms=arms, d=d, rounds=effort.larger, points=effort.points or 6)
        found = in_fresh_process(case)
        table.add_row(
            str(arms),
            str(d),
            f"{found.levels} x {found.prime_bits}",
            f"{found.update:.1f}",
            f"{found.a_round:.2f}",
            f"{found.ratio:.2f}",
            _memory(found),
            _differences(found),
        )
    return table


def security(effort: Effort) -> Table:
    """Each level with two stages, which all admit, and with as many as it admits."""
    table = Table(title=f"Security, d = 2, K = 2, T = {effort.security}: Table 1 of the paper")
    for heading in ("bits", "stages", "levels", "round s", "beside 128 bits", "the paper"):
        table.add_column(heading, justify="right")
    reference = 0.0
    for bits, paper in PAPER_RATIOS.items():
        for stages in sorted({2, _most_stages(bits)}):
            found = in_fresh_process(
                Case(
                    rounds=effort.security, security=bits, stages=stages, points=effort.points or 4
                )
            )
            seconds = found.run / effort.security
            if stages == 2:
                reference = reference or seconds
            table.add_row(
                str(bits),
                str(stages),
                f"{found.levels} x {found.prime_bits}",
                f"{seconds:.2f}",
                f"{seconds / reference:.3f}" if stages == 2 else "",
                f"{paper:.3f}" if stages == 2 else "",
            )
    return table


def _most_stages(security: int) -> int:
    for stages in range(6, 2, -1):
        try:
            Case(security=security, stages=stages).setting()
        except InputError:
            continue
        return stages
    return 2


def paper_index(effort: Effort) -> Table:
    case = Case(rounds=effort.paper, repetitions=1, paper=True, points=effort.points or 6)
    found = in_fresh_process(case)
    table = _table(f"The paper's index with C = 1, eta = 0.1: T = {effort.paper}, d = 2, K = 2")
    for name, value in {
        "levels": f"{found.levels} x {found.prime_bits}",
        "CPU of the run": f"{found.run:.1f} s, {found.run / effort.paper:.2f} s a round",
        "bare": f"{found.bare:.1f} s, ratio {found.ratio:.2f}",
        "decisions that differ from exact ones": _differences(found),
        "regret, in plain": f"{found.regret[0]:.2f}, {found.plain_regret[0]:.2f}",
        "peak memory": _memory(found),
        "others meanwhile": found.others,
    }.items():
        table.add_row(name, value)
    return table


def _table(title: str) -> Table:
    table = Table(title=title, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    return table


def _memory(found: Found) -> str:
    return f"{found.peak:.0f} MB (aim: {MEMORY_AIMS[found.case.d]})"


def _differences(found: Found) -> str:
    return (
        f"{found.different} of {found.decisions}, {found.wrong} of them above the resolution "
        f"({found.clear} gaps are)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, about ten minutes")
    effort = QUICK if parser.parse_args().quick else FULL
    console = Console(width=max(140, Console().width))
    for made in tables(effort):
        console.print(made)


if __name__ == "__main__":
    main()
