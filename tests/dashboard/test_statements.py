"""How long a statement of the web server may take."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from consumers.jobs.hold import is_database_away
from dashboard.patience import bound_statements

pytestmark = pytest.mark.django_db
Opened = Callable[[], BaseDatabaseWrapper]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def web() -> Iterator[None]:
    bound_statements()
    yield
    connection_created.disconnect(dispatch_uid="consumerscope.statements")


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens a connection of its own, which ends with the test however that ends."""
    made = []

    def open_one() -> BaseDatabaseWrapper:
        made.append(connections.create_connection("default"))
        return made[-1]

    yield open_one
    for connection in made:
        connection.close()


@pytest.mark.postgres
@pytest.mark.usefixtures("web")
def test_a_long_one_is_cancelled_and_pages_say_that_the_database_is_away(settings: Any, opened: Opened) -> None:
    settings.DATABASE_STATEMENT_SECONDS = 0.2
    connection = opened()
    with connection.cursor() as cursor, pytest.raises(OperationalError, match="statement timeout") as cancelled:
        cursor.execute("SELECT pg_sleep(20)")
    assert is_database_away(cancelled.value)


@pytest.mark.postgres
def test_work_in_the_background_has_no_bound(opened: Opened) -> None:
    connection = opened()
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


@pytest.mark.postgres
@pytest.mark.usefixtures("web")
def test_zero_is_no_bound(settings: Any, opened: Opened) -> None:
    settings.DATABASE_STATEMENT_SECONDS = 0
    connection = opened()
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


@pytest.mark.usefixtures("web")
def test_sqlite_is_asked_nothing(settings: Any, opened: Opened) -> None:
    connection = opened()
    with connection.cursor() as cursor:
        assert cursor.execute("SELECT 1") is not None


def test_the_web_server_has_the_bound_and_workers_have_none() -> None:
    found = []
    for module in ("dashboard.wsgi", "dashboard.celery"):
        says = f"import {module}; from django.db.backends.signals import connection_created as made"
        says += "; print([key for (key, _), *_ in made.receivers])"
        command = [sys.executable, "-c", says]
        ran = subprocess.run(command, cwd=ROOT, env=os.environ, check=True, capture_output=True, text=True)
        found.append("consumerscope.statements" in ran.stdout)
    assert found == [True, False]
