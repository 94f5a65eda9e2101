"""How the database is connected to."""

import importlib.util
import os
import select
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from psycopg import pq
from psycopg.conninfo import make_conninfo

import dashboard.settings.stores as read

# As SQLite numbers its levels.
FULL = 2
URL = "postgres://consumerscope@db.example.org/consumerscope"


def database_of(monkeypatch: pytest.MonkeyPatch, url: str) -> dict[str, Any]:
    """As the settings have it, read once more."""
    monkeypatch.setenv("DATABASE_URL", url)
    found = importlib.util.spec_from_file_location("dashboard.settings.stores_once_more", Path(read.__file__))
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    database: dict[str, Any] = module.DATABASES["default"]
    return database


@pytest.mark.parametrize(("query", "seconds"), [("", 5), ("?connect_timeout=2", 2), ("?sslmode=require", 5)])
def test_a_host_that_is_gone_is_not_waited_for_longer_than_a_page_is(
    monkeypatch: pytest.MonkeyPatch, query: str, seconds: int
) -> None:
    assert database_of(monkeypatch, URL + query)["OPTIONS"]["connect_timeout"] == seconds


@pytest.mark.parametrize(("query", "interval"), [("", 5), ("?keepalives_interval=2", 2)])
def test_a_host_that_vanishes_is_noticed_while_an_answer_is_awaited(
    monkeypatch: pytest.MonkeyPatch, query: str, interval: int
) -> None:
    """As the kernel has it of the socket of PostgreSQL's own client library."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        options = database_of(monkeypatch, URL + query)["OPTIONS"] | {"host": "127.0.0.1", "port": port}
        opened = pq.PGconn.connect_start(make_conninfo("", **options).encode())
        for _ in range(2):
            opened.connect_poll()
            select.select([], [opened.socket], [], 5)
        with socket.socket(fileno=os.dup(opened.socket)) as found:
            assert found.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            names = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
            assert [found.getsockopt(socket.IPPROTO_TCP, name) for name in names] == [10, interval, 3, 20_000]
        opened.finish()


def test_sqlite_has_options_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(database_of(monkeypatch, "")["OPTIONS"]) == {"timeout", "transaction_mode", "init_command"}


def test_sqlite_has_each_commit_on_the_disk_before_it_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = database_of(monkeypatch, "")["OPTIONS"]["init_command"]
    with closing(sqlite3.connect(tmp_path / "site.sqlite3")) as opened:
        opened.executescript(command)
        found = [opened.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert found == ["wal", FULL]


# SQLite has no server that could end a connection.
@pytest.mark.postgres
@pytest.mark.django_db
def test_a_connection_that_was_ended_is_opened_anew_by_the_next_request() -> None:
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 1000)", [pid])
    # As every request begins.
    other.close_if_unusable_or_obsolete()
    with other.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    other.close()
