"""A step of PPCB without a dealer: beside one with a dealer, beside bare AES, and how it grows.

All parties run in one process, messages included, and CPU time is counted for each. A short run is
taken away from a longer one, so that keys and base transfers do not count; the forms take turns.
Bare AES is the blocks that garbling (8 an AND gate), evaluating (4) and the masks of products (two
hashes at the one who offers and one at the one who chooses) cannot do without, in large calls.
"""

from dataclasses import dataclass
from statistics import median
from time import process_time

from helba_shared import bare_aes
from machine import Others
from rich.table import Table
from tables import table, verdict

import lotor
from lotor.core.result import Result
from lotor.protocols.ppcb.shared.form import PPCBShared

SETTLED = 32
RATIO_AIM = 3.0
COMPUTING = ("server-0", "server-1", "dealer")
FORMS = {
    "shared": lotor.PPCB(),
    "shared, garbled": lotor.PPCB(reciprocal="garbled"),
    "dealt": lotor.PPCB(form="dealt"),
}
BASELINE = "dealt"


@dataclass(frozen=True, slots=True)
class Spent:
    """Of a step: ms of CPU of those who compute and of all, kB sent, and ms for bare AES."""

    computing: float
    whole: float
    kilobytes: float
    aes: float


def spent(protocol: lotor.PPCB, arms: lotor.ContextualArms, steps: int, seed: int) -> Spent:
    short, long = (
        lotor.run(protocol, arms, budget=budget, seed=seed) for budget in (SETTLED, SETTLED + steps)
    )

    def ms(*names: str) -> float:
        more, less = (sum(one.parties[name].cpu_seconds for name in names) for one in (long, short))
        return 1e3 * (more - less) / steps

    present = [name for name in COMPUTING if name in long.parties]
    return Spent(
        ms(*present),
        ms(*long.parties),
        (long.bytes_sent - short.bytes_sent) / steps / 1e3,
        bare_aes(int((blocks(long) - blocks(short)) / steps)),
    )


def blocks(run: Result) -> float:
    """Blocks of AES that no step can do without."""
    done = run.operations
    return 12 * done.get("garbled_and_gates", 0) + 1.5 * done.get("product_hashes", 0)


def beside_dealt(steps: int, turns: int) -> Table:
    """On digits."""
    arms = lotor.ContextualArms.digits()
    found: dict[str, list[Spent]] = {name: [] for name in FORMS}
    with Others() as others:
        for turn in range(turns):
            for name, protocol in FORMS.items():
                found[name].append(spent(protocol, arms, steps, turn))
    made = table(
        f"8. A step in one process, D = {arms.d}, A = {arms.k}, ms of CPU; others used "
        f"{others.text}",
        *("form", "servers and dealer", "all parties", "kB", "bare AES", "over AES"),
        *(f"over {BASELINE}", "the ratio"),
    )
    for name, tries in found.items():
        ratio = median(
            one.computing / least.computing
            for one, least in zip(tries, found[BASELINE], strict=True)
        )
        one = min(tries, key=lambda each: each.computing)
        over = f"{one.computing / one.aes:.1f}" if one.aes else ""
        made.add_row(
            *(name, f"{one.computing:.2f}", f"{one.whole:.2f}", f"{one.kilobytes:,.0f}"),
            *(f"{one.aes:.2f}", over, f"{ratio:.2f}"),
            "" if name == BASELINE else verdict(ratio, RATIO_AIM, at_most=True),
        )
    return made


def milliseconds(protocol: lotor.PPCB, arms: lotor.ContextualArms, steps: int) -> float:
    """Of a step, all parties, between two steps of one run: least of two tries."""
    tries = []
    for seed in range(2):
        marks: list[float] = []
        lotor.run(
            *(protocol, arms),
            budget=SETTLED + steps,
            seed=seed,
            progress=lambda _, __, marks=marks: marks.append(process_time()),  # type: ignore[misc]
        )
        tries.append(1e3 * (marks[-1] - marks[SETTLED - 1]) / steps)
    return min(tries)


def growth(steps: int) -> Table:
    """With features and with arms."""
    made = table(
        "9. The same for all parties, as features and arms grow",
        *("D", "A", "shared ms", "dealt ms", "ratio", "shared kB", "dealt kB", "AND gates"),
    )
    for d, k in ((10, 10), (20, 10), (50, 10), (100, 10), (20, 2), (20, 50)):
        arms = lotor.ContextualArms.lookalike(rounds=SETTLED + steps, arms=k, d=d, seed=1)
        shared, dealt = (milliseconds(FORMS[name], arms, steps) for name in ("shared", BASELINE))
        sent = [
            lotor.plan(FORMS[name], arms, budget=SETTLED, rounds=SETTLED).bytes_in_all
            for name in ("shared", BASELINE)
        ]
        gates = PPCBShared().complexity(FORMS["shared"], arms, 1)["expected"]["garbled_and_gates"]
        made.add_row(
            *(str(d), str(k), f"{shared:.2f}", f"{dealt:.2f}", f"{shared / dealt:.2f}"),
            *(f"{each / SETTLED / 1e3:,.0f}" for each in sent),
            f"{gates:,}",
        )
    return made
