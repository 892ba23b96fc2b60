"""`make mutants`: faults that are put into the source one by one; some test must notice each."""

# ruff: noqa: T201

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from mutants.fault import Fault, UnusableFaultError
from mutants.runner import Outcome, run
from mutants.table import FAULTS

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        metavar="AREA|ID",
        help="an area, or (part of) the id of a fault; may be given several times",
    )
    parser.add_argument("--list", action="store_true", help="show the faults, and try none")
    given = parser.parse_args()
    faults = [fault for fault in FAULTS if given.only is None or _asked(fault, given.only)]
    if not faults:
        parser.error("there is no such area or fault: --list shows them")
    if given.list:
        print(_table([(fault.id, fault.area, str(fault.selection)) for fault in faults]))
        return 0
    began = monotonic()
    try:
        outcomes = run(ROOT, faults, _tell)
    except UnusableFaultError as error:
        print(error, file=sys.stderr)
        return 2
    return _report(outcomes, monotonic() - began)


def _asked(fault: Fault, words: Sequence[str]) -> bool:
    return any(word == fault.area or word in fault.id for word in words)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _report(outcomes: Sequence[Outcome], seconds: float) -> int:
    rows = [(outcome.fault.id, outcome.fault.area, str(outcome)) for outcome in outcomes]
    print(_table([("fault", "area", "caught by"), *rows]))
    survivors = [outcome.fault.id for outcome in outcomes if outcome.survived]
    unusable = [outcome.fault.id for outcome in outcomes if not outcome.usable]
    print(f"\n{len(outcomes)} faults, {len(survivors)} survived, in {seconds:.0f} s")
    if survivors:
        print("No test notices: " + "; ".join(survivors))
    if unusable:
        print("Not tried, see above: " + "; ".join(unusable))
    return 1 if survivors or unusable else 0


def _table(rows: Sequence[tuple[str, str, str]]) -> str:
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(f"{a:{first}}  {b:{second}}  {c}" for a, b, c in rows)


if __name__ == "__main__":
    sys.exit(main())
