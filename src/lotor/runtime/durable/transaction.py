"""A transaction of the journal's database: all of it or nothing."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from lotor.core.errors import JournalWriteError
from lotor.runtime.durable.database import errors


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Do all of the block or nothing; it is durable when the block is over."""
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    except BaseException as error:
        if database.in_transaction:
            database.execute("ROLLBACK")
        if isinstance(error, errors()):
            raise unwritable(error) from error
        raise


def unwritable(error: BaseException) -> JournalWriteError:
    return JournalWriteError(
        f"the journal could not be written ({error}): nothing of this step was done; free the "
        "disk or correct its permissions, and start the party again"
    )
