"""A demo whose parties are killed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

LOTOR = [sys.executable, "-c", "from lotor.cli import main; main()"]
ATTEMPTS, KILLS = 5, 4


def killed_demo(folder: Path, protocol: str, *options: str) -> dict[str, Any]:
    """What a demo reports that equals plain, though parties were killed often.

    Kills are drawn, and a busy machine may end a run before the last of them: then once more.
    """
    command = [*LOTOR, "demo", "--protocol", protocol, "--kill", "--json", *options]
    for _ in range(ATTEMPTS):
        shutil.rmtree(folder)
        folder.mkdir()
        done = subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        assert report["reward"] == report["plain_reward"]
        assert report["same_arms"] is True
        if report["kills"] >= KILLS:
            return report
    raise AssertionError(f"each of {ATTEMPTS} demos ended before {KILLS} kills")
