"""Whether PPCB decides as floats do that learn from the same arms and rewards."""

import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from tables import table, verdict

import lotor

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from protocols.ppcb.stage import judged

MNIST = Path(__file__).parents[2] / "shared" / "data" / "mnist"
MNIST_STEPS = 30_000
SEED = 7
DIGITS_AIM, MNIST_AIM, REWARD_AIM = 1.0, 0.9995, 0.01


def header() -> Table:
    return table(
        "2. Decisions equal to those of float64 on the same trajectory, and the average reward "
        "beside that of a plain run of its own",
        *("data", "bits", "steps", "equal", "of all", "gap where not", "the share"),
        *("reward", "plain", "the difference"),
    )


def compare(
    made: Table, name: str, arms: lotor.ContextualArms, bits: int, steps: int, aim: float
) -> None:
    """A row for one run."""
    protocol = lotor.PPCB(bits=bits)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{name}, {bits} bits", total=steps)
        secure = lotor.run(
            *(protocol, arms),
            budget=steps,
            seed=SEED,
            progress=lambda done, _: bar.update(task, completed=done),
        )
    plain = lotor.run(protocol.plain(), arms, budget=steps, seed=SEED)
    decisions, _ = judged(protocol, arms, secure.arms or [], SEED)
    unequal = [seen for seen in decisions if seen.arm != seen.expected]
    share = 1 - len(unequal) / steps
    widest = max((seen.short for seen in unequal), default=None)
    averages = secure.reward / steps, plain.reward / steps
    made.add_row(
        *(name, str(bits), str(steps), str(steps - len(unequal)), f"{share:.5f}"),
        *("-" if widest is None else f"{widest:.1e}", verdict(share, aim)),
        *(f"{average:.4f}" for average in averages),
        verdict(abs(averages[0] - averages[1]), REWARD_AIM, at_most=True),
    )


def agreement(precisions: Iterable[int], digits_steps: int, *, mnist: bool) -> Table:
    made = header()
    digits = lotor.ContextualArms.digits()
    for bits in precisions:
        compare(made, "digits", digits, bits, digits_steps, DIGITS_AIM)
    if not mnist:
        made.caption = "MNIST is left out with --quick"
    elif not MNIST.is_dir():
        made.caption = f"MNIST is left out: there is no folder {MNIST}"
    else:
        arms = lotor.ContextualArms.mnist(MNIST, limit=MNIST_STEPS)
        compare(made, "MNIST", arms, 20, MNIST_STEPS, MNIST_AIM)
    return made
