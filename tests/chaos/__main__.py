"""`make chaos`: complete runs of every policy, with kills until there were enough."""

# ruff: noqa: T201

import argparse
import secrets
import shutil
import sys
import tempfile
from itertools import product
from math import ceil
from pathlib import Path

from chaos.harness import FORMS, POLICIES, Survived, survive
from chaos.trial import Trial


def main() -> None:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="how many at least, in all")
    parser.add_argument("--seed", type=int, default=None, help="of outcomes and victims")
    parser.add_argument("--budget", type=int, default=200, help="rounds of each run")
    parser.add_argument("--late", action="store_true", help="outcomes are told later, by people")
    given = parser.parse_args()
    seed = secrets.randbits(20) if given.seed is None else given.seed
    kinds = list(product(POLICIES, FORMS))
    each = ceil(given.kills / len(kinds))
    print(f"{len(kinds)} runs of {given.budget} rounds with {each} kills or more, seed {seed}")
    done: list[Survived] = []
    for policy, form in kinds:
        trial = Trial(policy, form, given.budget, each, seed, late=given.late)
        folder = Path(tempfile.mkdtemp(prefix="lotor-chaos-"))
        done.append(survive(folder, trial))
        shutil.rmtree(folder)  # after a failure it stays, with all logs
        one = done[-1]
        print(
            f"  {policy}, {form}: {one.kills} kills ({one.in_replay} in replay), "
            f"{one.starts} starts, {one.seconds:.0f} s, as plain",
            flush=True,
        )
    kills = sum(one.kills for one in done)
    print(
        f"{kills} kills ({sum(one.in_replay for one in done)} in replay) over {len(done)} runs, "
        f"{sum(one.starts for one in done)} processes started, "
        f"{sum(one.seconds for one in done):.0f} s: every total and every arm as in plain, every "
        "decision carried out once"
    )
    sys.exit(kills < given.kills)


if __name__ == "__main__":
    main()
