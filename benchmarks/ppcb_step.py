"""One step of PPCB in one process: what each party uses, and what no step can do without.

The floor is AES for all pads and the large products of words, both bare, in the same run: the
products are those of every arm's matrix with the context, of k with u, and of the one-hot with the
update.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from statistics import median
from time import thread_time

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from machine import Others
from rich.table import Table
from tables import table, verdict

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.core.result import Result
from lotor.protocols.ppcb.dealt.circuits import cheapest_circuits
from lotor.protocols.ppcb.terms import FIRST, SECOND, PPCBTerms
from lotor.protocols.two_server.schedule import DealerSchedule

ROUNDS_AIM, SERVER_AIM, DEALER_AIM = 32, 1.0, 2.0
TURNS = 20
# How often a product of masked values is computed: by the dealer once, by each server with either
# factor's public part.
PRODUCTS = {FIRST: 2, SECOND: 2, "dealer": 1}


@dataclass(frozen=True, slots=True)
class Step:
    """ms of CPU of a step by party, kB that each sends, and the floor of the three who compute."""

    cpu: dict[str, float]
    sent: dict[str, float]
    plain: float
    floor: dict[str, float]
    others: str

    @property
    def total(self) -> float:
        return sum(self.cpu.values())


def terms_of(arms: lotor.ContextualArms, bits: int, budget: int) -> PPCBTerms:
    owners = {"owner-1": arms.d // 2, "owner-2": arms.d - arms.d // 2}
    scale = RewardScale(*arms.reward_range)
    return lotor.PPCB(form="dealt", bits=bits).terms(
        "benchmark", budget=budget, arms=arms.k, owners=owners, scale=scale
    )


def pad_bytes(schedule: DealerSchedule) -> dict[str, int]:
    """What each party draws for a step; the dealer draws both servers' pads."""
    each = [
        sum(circuit.recipe.pad_bytes(first=first) for circuit in schedule.circuits)
        for first in (True, False)
    ]
    return {FIRST: each[0], SECOND: each[1], "dealer": sum(each)}


def multiply_adds(terms: PPCBTerms) -> int:
    """Of one product each: A⁻¹ x and w x of all arms, k uᵀ, and the one-hot with the change."""
    a, d, entries = terms.arms, terms.features, terms.shape.entries
    return a * d * d + a * d + a * entries + a * (entries + d)


def milliseconds(act: Callable[[], object]) -> float:
    """The least of some tries."""
    taken = []
    for _ in range(TURNS):
        began = thread_time()
        act()
        taken.append(thread_time() - began)
    return min(taken) * 1e3


def aes(size: int) -> float:
    """ms for so many bytes of AES-256 in counter mode."""
    key, zeros = secrets.token_bytes(32), bytes(size)

    def draw() -> None:
        Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor().update(zeros)

    return milliseconds(draw)


def products(terms: PPCBTerms) -> float:
    """ms for one bare product each."""
    a, d, entries = terms.arms, terms.features, terms.shape.entries
    draw = np.random.default_rng(7)

    def words(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
        return draw.integers(0, 1 << 64, prod(shape), np.uint64).reshape(shape)

    matrices, vector = words(a, d + 1, d), words(d)
    column, left, change = words(a, 1), words(a, entries), words(a, entries + d)
    return milliseconds(lambda: (matrices @ vector, left * left, column * change))


def floor(terms: PPCBTerms, schedule: DealerSchedule) -> dict[str, float]:
    product, drawn = products(terms), pad_bytes(schedule)
    return {name: aes(drawn[name]) + times * product for name, times in PRODUCTS.items()}


def measure(arms: lotor.ContextualArms, bits: int, steps: int, turns: int) -> Step:
    """Runs of the whole protocol, each beside a plain one; medians."""
    terms = terms_of(arms, bits, steps)
    schedule = cheapest_circuits(terms).schedule
    secure: list[Result] = []
    plain: list[float] = []
    floors = [floor(terms, schedule)]
    protocol = lotor.PPCB(form="dealt", bits=bits)
    with Others() as others:
        for _ in range(turns):
            secure.append(lotor.run(protocol, arms, budget=steps, seed=7))
            plain.append(lotor.run(protocol.plain(), arms, budget=steps, seed=7).cpu_seconds)
            floors.append(floor(terms, schedule))
    return Step(
        cpu={
            name: median(run.parties[name].cpu_seconds for run in secure) / steps * 1e3
            for name in secure[0].parties
        },
        sent={name: cost.bytes_sent / steps / 1e3 for name, cost in secure[0].parties.items()},
        plain=median(plain) / steps * 1e3,
        floor={name: median(each[name] for each in floors) for name in floors[0]},
        others=others.text,
    )


def shown(arms: lotor.ContextualArms, bits: int, step: Step) -> list[Table]:
    terms = terms_of(arms, bits, 1)
    schedule = cheapest_circuits(terms).schedule
    drawn = pad_bytes(schedule)
    corrections = sum(circuit.recipe.correction_bytes for circuit in schedule.circuits)
    parties = table(
        f"1. A step in one process with a dealer, D = {arms.d}, A = {arms.k}, {bits} bits; others "
        f"used {step.others}",
        *("party", "CPU ms", "kB sent", "AES blocks", "multiply-adds", "floor ms", "share"),
        "the CPU",
    )
    aims = {FIRST: SERVER_AIM, SECOND: SERVER_AIM, "dealer": DEALER_AIM}
    for name, aim in aims.items():
        cpu, least = step.cpu[name], step.floor[name]
        parties.add_row(
            *(name, f"{cpu:.2f}", f"{step.sent[name]:.1f}", str(-(-drawn[name] // 16))),
            *(str(PRODUCTS[name] * multiply_adds(terms)), f"{least:.3f}", f"{least / cpu:.0%}"),
            verdict(cpu, aim, at_most=True),
        )
    rest = [name for name in step.cpu if name not in aims]
    parties.add_row(
        "all others",
        f"{sum(step.cpu[name] for name in rest):.2f}",
        f"{sum(step.sent[name] for name in rest):.1f}",
    )
    whole = table("The same, all parties together", *("rounds", "the rounds", "corrections kB"))
    for column in ("CPU ms", "plain ms", "ratio"):
        whole.add_column(column, justify="right")
    whole.add_row(
        *(str(schedule.rounds), verdict(schedule.rounds, ROUNDS_AIM, at_most=True)),
        *(f"{corrections / 1e3:.1f}", f"{step.total:.2f}", f"{step.plain:.3f}"),
        f"{step.total / step.plain:.0f}",
    )
    return [parties, whole]
