"""How a journal's database is opened: its settings stand here and nowhere else."""

import sqlite3
from pathlib import Path
from urllib.parse import quote

BUSY_SECONDS = 30
# What is deleted is overwritten, however SQLite was built, and what SQLite puts aside while it
# rewrites the file stays in memory.
_SETTINGS = ("secure_delete = ON", "temp_store = MEMORY")


def connect(path: Path) -> sqlite3.Connection:
    """A journal to write to. Nothing is written before the caller does."""
    database = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
    for setting in _SETTINGS:
        database.execute(f"PRAGMA {setting}")
    return database


def open_read_only(path: Path) -> sqlite3.Connection:
    """A journal to read from; opening it does not make a log file."""
    kept = path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro" if kept else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True, timeout=BUSY_SECONDS)
