"""SAMBA's forms side by side, LinUCB-DS and HELBA, every party a process on this machine.

Rounds and CPU time are taken between two checkpoints, so that neither start nor end counts; runs of
the forms take turns. Nothing fails: an aim is only named.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from math import log10
from pathlib import Path
from statistics import median
from time import thread_time

import linear_processes
from federation import ROUND_TRIP, ROUND_TRIPS
from processes import DEALER, ROLES, Federation, Taken, dial, hub_address
from rich.console import Console
from rich.table import Table
from tables import table

import lotor
from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import ArgmaxCircuit, HashKey, Purpose

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from delay import FarAway, Weather

RATE_AIM, SHARE_AIM = 0.5, 0.7
MOST_ROUNDS = 20_000
BASELINE = "paper"
BLOCKS_AT_ONCE = 4096
EVERYBODY = (*ROLES, DEALER)


def taken(k: int, forms: list[str], turns: int, rounds: int) -> dict[str, list[Taken]]:
    """Runs of each form, in turn."""
    found: dict[str, list[Taken]] = {form: [] for form in forms}
    with ExitStack() as stack:
        runs = {}
        for form in forms:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            made = Federation.make(folder, k, MOST_ROUNDS, form)
            runs[form] = stack.enter_context(closing(made)).runs()
        for _ in range(turns):
            for form in forms:
                found[form].append(runs[form].take(rounds))
    return found


def near(forms: list[str], turns: int, rounds: int) -> Iterator[Table]:
    made = table(
        f"1. Rounds of K owners with one arm each, UCB, beside the {BASELINE}'s form",
        *(
            "K, form",
            "rounds/s",
            "share",
            "the share is",
            *(f"{one} µs" for one in EVERYBODY),
        ),
    )
    for k in (3, 10):
        found = taken(k, forms, turns, rounds)
        rates = {form: median(1 / each.seconds for each in some) for form, some in found.items()}
        for form, some in found.items():
            share = rates[form] / rates[BASELINE]
            said = f"{'within' if share >= RATE_AIM else 'below'} the aim of {RATE_AIM:g}"
            made.add_row(
                *(f"{k}, {form}", f"{rates[form]:.0f}", f"{share:.2f}"),
                "" if form == BASELINE else said,
                *(
                    f"{median(each.cpu.get(one, 0) for each in some):.0f}"
                    for one in (*ROLES, DEALER)
                ),
            )
    yield made


def far(form: str, rounds: int) -> Table:
    """The rate at a distance, as a share of what two round trips an iteration allow."""
    made = table(
        f"2. Form {form}, {ROUND_TRIP * 1e3:g} ms there and back, without loss",
        *("K", "rounds/s", "two round trips allow", "share", "the share is"),
    )
    for k in (3, 10):
        with tempfile.TemporaryDirectory() as folder:
            parties = Federation.make(Path(folder), k, MOST_ROUNDS, form)
            with (
                closing(parties),
                FarAway(hub_address(parties), Weather(delay=ROUND_TRIP / 2)) as proxy,
            ):
                dial(parties, proxy.address)
                rate = 1 / parties.runs().take(rounds).seconds
                parties.close()
        share = rate * ROUND_TRIPS * ROUND_TRIP
        made.add_row(
            *(str(k), f"{rate:.1f}", f"{1 / (ROUND_TRIPS * ROUND_TRIP):.1f}", f"{share:.0%}"),
            f"{'within' if share >= SHARE_AIM else 'below'} the aim of {SHARE_AIM:.0%}",
        )
    return made


def bare_aes(ands: int) -> float:
    """µs for the blocks that so many AND gates cannot do without, 8 and 4 each."""
    encrypt = HashKey(bytes(32), epoch=0, batch=0, purpose=Purpose.PRODUCTS).encrypt
    blocks, room = bytearray(16 * BLOCKS_AT_ONCE), bytearray(16 * BLOCKS_AT_ONCE + 15)
    whole, rest = divmod(12 * ands, BLOCKS_AT_ONCE)
    began = thread_time()
    for size in [BLOCKS_AT_ONCE] * whole + [rest]:
        encrypt(memoryview(blocks)[: 16 * size], memoryview(room)[: 16 * size + 15])
    return (thread_time() - began) * 1e6


def servers(repeats: int) -> Table:
    """Controller and Comp of the shared form in one process, all that they do in an iteration."""
    made = table(
        "3. Both servers of the shared form in one process beside bare AES (12 blocks an AND gate)",
        *("K", "ANDs", "Controller µs", "Comp µs", "bare AES µs", "ratio", "the ratio is"),
    )
    samba, totals = lotor.Samba(lotor.UCB()), {}
    for k, turns, aim in ((10, 320, None), (100, 60, 10.0), (1000, 8, 8.0)):
        arms = lotor.BernoulliArms([i / k for i in range(k)])
        tries = []
        for _ in range(repeats):
            short, long = (
                lotor.run(samba, arms, budget=k + n, seed=1).parties for n in (2, 2 + turns)
            )
            tries.append(
                [
                    1e6 * (long[name].cpu_seconds - short[name].cpu_seconds) / turns
                    for name in ("controller", "comp")
                ]
            )
        least = min(tries, key=sum)
        ands = ArgmaxCircuit(k, SCORE_BITS).ands
        bare = min(bare_aes(ands) for _ in range(20))
        totals[k], ratio = sum(least), sum(least) / bare
        aimed = f"{'within' if aim and ratio <= aim else 'above'} the aim of {aim:g}" if aim else ""
        made.add_row(
            *(str(k), str(ands), *(f"{us:.0f}" for us in least)),
            *(f"{bare:.0f}", f"{ratio:.1f}", aimed),
        )
    made.caption = f"From K = 10 to 1000 they grow as K^{log10(totals[1000] / totals[10]) / 2:.2f}."
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a minute or two, and less precise")
    options = parser.parse_args()
    turns, rounds, far_rounds = (1, 500, 250) if options.quick else (4, 1_500, 400)
    linear_rounds = 400 if options.quick else 1_000
    console = Console(width=max(140, Console().width))
    for made in near(list(lotor.Samba.forms), turns, rounds):
        console.print(made)
    console.print(far("shared", far_rounds))
    console.print(servers(2 if options.quick else 6))
    console.print(linear_processes.near(turns, linear_rounds))
    console.print(linear_processes.far(far_rounds))


if __name__ == "__main__":
    main()
