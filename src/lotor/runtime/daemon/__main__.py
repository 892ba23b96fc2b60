"""`python -m lotor.runtime.daemon`: one party, for programs that start many of them.

It does what `lotor serve` does, and loads nothing of the command line, which would take as long
to load as the party itself.
"""

import sys
import warnings
from argparse import ArgumentParser
from pathlib import Path

from lotor.core.errors import LotorError
from lotor.runtime.daemon.serving import serve_kit


def main() -> None:
    """Serve the party until it is stopped; a failure is one line on stderr."""
    options = ArgumentParser(prog="python -m lotor.runtime.daemon")
    options.add_argument("--kit", type=Path, required=True)
    options.add_argument("--log", choices=("text", "json"), default="text")
    options.add_argument("--log-level", default="info")
    given = options.parse_args()
    warnings.simplefilter("default", UserWarning)
    warnings.showwarning = _warn
    try:
        serve_kit(given.kit, given.log, given.log_level)
    except LotorError as error:
        sys.exit(f"lotor: {error}")


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """One line on stderr, without the place in the program."""
    sys.stderr.write(f"lotor: warning: {message}\n")


if __name__ == "__main__":
    main()
