"""Whether what failed is that the database does not answer, or is busy, and not what it was asked."""

import sqlite3

from django.db import InterfaceError, OperationalError

# SQLite: busy, locked, a disk that fails or is full, a file that cannot be opened. Extended codes have these as their
# lowest byte.
SQLITE_AWAY = frozenset({5, 6, 10, 13, 14})
# Classes of PostgreSQL: connection, transaction taken back, resources, somebody else's hold or end of it, system.
POSTGRES_AWAY = ("08", "40", "53", "55", "57", "58")


def is_database_away(error: BaseException | None) -> bool:
    """Drivers raise the same errors for questions that make no sense, so that the code of the cause decides."""
    cause = error.__cause__ if isinstance(error, (OperationalError, InterfaceError)) else None
    if cause is None:
        return False
    if isinstance(cause, sqlite3.Error):
        return (getattr(cause, "sqlite_errorcode", 0) & 0xFF) in SQLITE_AWAY
    # Without a connection nobody was there to give a state.
    state = getattr(cause, "sqlstate", None)
    return state is None or state.startswith(POSTGRES_AWAY)
