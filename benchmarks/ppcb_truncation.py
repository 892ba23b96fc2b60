"""Exact truncation, by many trials up to 2^61: how far off it ever is, and whether on average."""

import secrets

import numpy as np
from rich.table import Table
from tables import table, verdict

from lotor.crypto.sharing import Circuit, Engine, Shared, Words, run_locally, settled, truncate
from lotor.crypto.sharing.local import split

CHUNK = 1_000_000
BITS = 20
LARGEST = 61
# A mean of this many standard errors would be found once in 16,000 runs.
SURPRISE = 4.0


def _truncated(engine: Engine, z: Shared) -> Circuit[Shared]:
    return settled(engine, (yield from truncate(engine, z, BITS)))


def _numbers(draw: np.random.Generator) -> Words:
    """Half of them up to 2^61, half of every size below."""
    numbers = draw.integers(-(1 << LARGEST), 1 << LARGEST, CHUNK, np.int64)
    numbers[::2] >>= draw.integers(0, LARGEST, len(numbers[::2]), np.int64)
    return numbers.view(np.uint64)


def truncation(trials: int) -> Table:
    draw = np.random.default_rng(secrets.randbits(64))
    worst, total, squares, done = 0.0, 0.0, 0.0, 0
    while done < trials:
        z = _numbers(draw)
        first, second = run_locally(_truncated, split(z))
        quotients = (first.share + second.share).view(np.int64)
        signed = z.view(np.int64)
        fractions = (signed & ((1 << BITS) - 1)) / (1 << BITS)
        errors = (quotients - (signed >> BITS)) - fractions
        worst = max(worst, float(np.abs(errors).max()))
        total += float(errors.sum())
        squares += float(np.square(errors).sum())
        done += CHUNK
    bias, standard = total / done, (squares / done) ** 0.5 / done**0.5
    made = table(
        f"3. Truncation by {BITS} bits of numbers up to 2^{LARGEST}, errors in units of the last "
        "place",
        *("trials", "worst", "the worst", "mean", "standard error", "the mean"),
    )
    made.add_row(
        *(f"{done:,}", f"{worst:.7f}", verdict(worst, 1.0, at_most=True), f"{bias:.1e}"),
        f"{standard:.1e}",
        "shows no bias" if abs(bias) <= SURPRISE * standard else "shows a bias",
    )
    return made
