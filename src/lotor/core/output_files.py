"""Files that results are written to: refused before anything is computed for them."""

import os
from pathlib import Path

from lotor.core.errors import InputError


def check_output_file(path: Path | str) -> Path:
    """Refuse a file that could not be written.

    >>> check_output_file("nowhere/rows.csv")
    Traceback (most recent call last):
    lotor.core.errors.InputError: nowhere/rows.csv cannot be written, because there is no folder \
nowhere: make it, or give another file
    """
    file = Path(path)
    folder = file.parent
    if file.is_dir():
        raise InputError(f"{file} is a folder, so nothing can be written to it: give a file in it")
    if not folder.is_dir():
        raise InputError(
            f"{file} cannot be written, because there is no folder {folder}: make it, or give "
            "another file"
        )
    protected = file if file.exists() else folder
    if not os.access(protected, os.W_OK):
        raise InputError(
            f"{file} cannot be written, because you may not write to {protected}: give another "
            "file, or change who may write there"
        )
    return file
