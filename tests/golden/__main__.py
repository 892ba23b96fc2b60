"""Write down what seeds give and what the command line offers today.

PYTHONPATH=tests python -m golden [--repeat N]

Only for what is new: what is recorded already must stay as it is.
"""

# ruff: noqa: T201

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden import commands, seeds, surface


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m golden", description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="how often each case must agree")
    given = parser.parse_args()
    recorded: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name, seeds.small_keys():
        folder = Path(name)
        for _ in range(given.repeat):
            for case in seeds.CASES.values():
                for way, found in seeds.runs(case).items():
                    keep(recorded, case.name, way, found)
            for line in commands.RUNS:
                found = seeds.outcome(commands.run(folder, line))
                keep(recorded, f"lotor run {line}", "run", found)
        documents = {
            f"lotor {line} --json": surface.keys(folder, line) for line in surface.DOCUMENTS
        }
    write(seeds.RECORDED, recorded)
    write(surface.RECORDED, {**surface.offered(), **documents})


def keep(recorded: dict[str, Any], name: str, way: str, found: dict[str, Any]) -> None:
    """The first result stays; another one is of no use, since it could not be tested."""
    told = seeds.differences(found, recorded.setdefault(name, found))
    if told:
        sys.exit(f"{name}, {way}: {'; '.join(told)}: choose a case that always gives the same")


def write(path: Path, records: Mapping[str, Any]) -> None:
    """One line for each record, so that a difference is one line, too."""
    lines = [f"{json.dumps(name)}: {_compact(record)}" for name, record in records.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(lines)} records")


def _compact(record: object) -> str:
    return json.dumps(record, separators=(",", ":"))


if __name__ == "__main__":
    main()
