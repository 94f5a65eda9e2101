"""The first process of a run migrates, the others copy what it has migrated."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management.commands.migrate import Command

from tests.plugins import migrated_once
from tests.plugins.migrated_once import copied_or_migrated


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(ContentType.objects, "get_for_models", lambda *_, **__: {})
    # Put back after the test, whatever it leaves there.
    monkeypatch.setattr(Command, "handle", Command.handle)
    return []


@pytest.fixture
def databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, sqlite3.Connection]]:
    with closing(sqlite3.connect(":memory:")) as first, closing(sqlite3.connect(":memory:")) as second:
        found = {"first": first, "second": second}
        wrapped = {name: SimpleNamespace(connection=one, ensure_connection=lambda: None) for name, one in found.items()}
        monkeypatch.setattr(migrated_once, "connections", wrapped)
        yield found


def test_the_second_copies(tmp_path: Path, databases: dict[str, sqlite3.Connection], handled: list[str]) -> None:
    def handle(_command: Any, *, database: str) -> None:
        handled.append(database)
        databases[database].execute("CREATE TABLE made (by TEXT)")
        databases[database].execute("INSERT INTO made VALUES ('a migration')")
        databases[database].commit()

    for name in databases:
        copied_or_migrated(handle, tmp_path / "migrated.sqlite3")(None, database=name)
    assert handled == ["first"]
    assert databases["second"].execute("SELECT * FROM made").fetchall() == [("a migration",)]


def test_one_that_fails_leaves_nothing_to_copy(
    tmp_path: Path, databases: dict[str, sqlite3.Connection], handled: list[str]
) -> None:
    def handle(_command: Any, *, database: str) -> None:
        handled.append(database)
        raise ValueError("This migration does not work.")

    for name in databases:
        with pytest.raises(ValueError, match="does not work"):
            copied_or_migrated(handle, tmp_path / "migrated.sqlite3")(None, database=name)
    assert handled == ["first", "second"]


def test_who_migrates_after_that_does_it_by_itself(
    tmp_path: Path, databases: dict[str, sqlite3.Connection], handled: list[str]
) -> None:
    def handle(_command: Any, *, database: str) -> None:
        handled.append(database)

    Command.handle = copied_or_migrated(handle, tmp_path / "migrated.sqlite3")
    for name in ("first", "second"):
        Command.handle(None, database=name)
    assert handled == ["first", "second"]
    assert Command.handle is handle
