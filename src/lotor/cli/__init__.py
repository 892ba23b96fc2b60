"""The command line: thin."""

from lotor.cli.main import main

__all__ = ["main"]
