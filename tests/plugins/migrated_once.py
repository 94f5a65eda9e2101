"""A run of tests migrates one SQLite database; its other processes begin with a copy of that.

All migrations take some four seconds of a processor, in each worker of each tier.
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management.commands.migrate import Command
from django.db import connections

# Where the tiers of one run keep the copy. Without it the workers of one pytest share one.
FOLDER = "CONSUMERSCOPE_TESTS_MIGRATED"
Handle = Callable[..., Any]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = os.environ.get(FOLDER)
    if folder is None and "PYTEST_XDIST_WORKER" in os.environ:
        folder = str(tmp_path_factory.getbasetemp().parent)
    if folder is not None and connections["default"].vendor == "sqlite":
        Command.handle = copied_or_migrated(Command.handle, Path(folder) / "migrated.sqlite3")


def copied_or_migrated(handle: Handle, copy: Path) -> Handle:
    """Once instead of `handle`, which makes the test database; who migrates later than that does it by itself."""

    def once(command: Command, *args: Any, **options: Any) -> Any:
        Command.handle = handle
        connection = connections[options["database"]]
        connection.ensure_connection()
        with copy.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not copy.exists():
                done = handle(command, *args, **options)
                _keep(connection.connection, copy)
                return done
        with closing(sqlite3.connect(copy)) as kept:
            kept.backup(connection.connection)
        # As after migrating: else the first test that asks for one has a query more.
        apps.get_model("contenttypes", "ContentType").objects.get_for_models(
            *apps.get_models(), for_concrete_models=False
        )
        return None

    return once


def _keep(migrated: sqlite3.Connection, copy: Path) -> None:
    """Under its name it is complete."""
    aside = copy.with_suffix(".part")
    with closing(sqlite3.connect(aside)) as kept:
        migrated.backup(kept)
    aside.rename(copy)
