"""Scripts for people, run as they stand: in bash, with the `lotor` of this checkout."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

LOTOR = f"""#!/bin/sh
exec {sys.executable} -P -c 'from lotor.cli import main; main()' "$@"
"""
SECONDS = 600  # on a busy machine, too


def run_script(script: str, folder: Path, variables: Mapping[str, str]) -> str:
    """What a script says on both of its outputs; it ends at the first command that fails.

    Nothing that it has started in the background is left behind, however it ends.
    """
    programs = folder / "bin"
    programs.mkdir()
    (programs / "lotor").write_text(LOTOR)
    (programs / "lotor").chmod(0o755)
    path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    said = folder / "said"
    with said.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603
            ["bash", "-euo", "pipefail", "-c", script],  # noqa: S607
            cwd=folder,
            env={**os.environ, "COLUMNS": "120", **variables, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    text = said.read_text(errors="replace")
    assert code == 0, f"{'not done' if code is None else f'exit code {code}'}:\n{text}"
    return text
