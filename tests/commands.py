"""The `lotor` command within the process of a test: the same entry point, a second faster."""

import os
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from subprocess import CompletedProcess
from unittest import mock

from lotor.cli import main


def lotor(*arguments: str) -> CompletedProcess[str]:
    """What the command said, and its exit code."""
    out, err = StringIO(), StringIO()
    with (
        mock.patch.object(sys, "argv", ["lotor", *arguments]),
        mock.patch.object(sys, "path", list(sys.path)),  # an owner's module is found beside its kit
        mock.patch.dict(os.environ, COLUMNS="120"),
        warnings.catch_warnings(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = _exit_code()
    return CompletedProcess(sys.argv, code, out.getvalue(), err.getvalue())


def _exit_code() -> int:
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0
