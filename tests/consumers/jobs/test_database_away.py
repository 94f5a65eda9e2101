"""A database that does not answer is told from one that was asked nonsense."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError

from consumers.jobs.hold import is_database_away


def caused(error: Exception, cause: BaseException | None) -> Exception:
    error.__cause__ = cause
    return error


def of_sqlite(statement: str, path: Path | str = ":memory:") -> sqlite3.Error:
    with closing(sqlite3.connect(path, timeout=0)) as asked, pytest.raises(sqlite3.Error) as caught:
        asked.execute(statement)
    return caught.value


def test_a_locked_file_is_away(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "held", isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        locked = of_sqlite("SELECT * FROM sqlite_master", tmp_path / "held")
    assert is_database_away(caused(OperationalError(), locked))


def test_a_file_that_cannot_be_opened_is_away(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.Error) as caught:
        sqlite3.connect(tmp_path / "no" / "such")
    assert is_database_away(caused(OperationalError(), caught.value))


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_server_that_nobody_reaches_is_away(error: type[Exception]) -> None:
    assert is_database_away(caused(error(), psycopg.OperationalError("connection refused")))


@pytest.mark.parametrize(
    ("cause", "away"),
    [
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.TooManyConnections(), True),
        (psycopg.errors.DeadlockDetected(), True),
        (psycopg.errors.LockNotAvailable(), True),
        (psycopg.errors.StatementTooComplex(), False),
    ],
)
def test_a_server_says_itself_what_it_is(cause: psycopg.Error, away: bool) -> None:
    assert is_database_away(caused(OperationalError(), cause)) is away


@pytest.mark.parametrize(
    "error",
    [
        caused(OperationalError(), of_sqlite("SELECT nonsense")),
        caused(InterfaceError(), sqlite3.InterfaceError("bad parameter")),
        caused(ProgrammingError(), psycopg.errors.UndefinedColumn()),
        OperationalError("without a cause"),
        ValueError(),
        None,
    ],
)
def test_what_was_asked_wrongly_is_an_error_of_the_site(error: Exception | None) -> None:
    assert not is_database_away(error)
