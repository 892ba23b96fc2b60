"""The `lotor` command within the process of a test: the same entry point, a second faster."""

import os
import shlex
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from itertools import takewhile
from subprocess import CompletedProcess
from typing import Any
from unittest import mock

from golden.commands import tree
from golden.surface import walk
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


def understood(line: str) -> bool:
    """Whether a line of a shell is a command of `lotor`; an error if that lacks what it needs.

    It is parsed as it would be, and not carried out.
    """
    if not line.lstrip().startswith("lotor "):
        return False
    words = list(takewhile(_is_argument, shlex.split(line, comments=True)))
    known = _known()
    named = [end for end in range(1, 4) if " ".join(words[:end]) in known][-1]
    name = " ".join(words[:named])
    known[name].make_context(name, words[named:])
    return True


def _is_argument(word: str) -> bool:
    """Whether a word is none of the shell's own: the end of a command, or where its words go."""
    return word not in ("&", "|", ";", "&&", "||") and not word.startswith((">", "<", "2>"))


@cache
def _known() -> dict[str, Any]:
    return dict(walk("lotor", tree()))
