"""Bounds how long a statement of this process may take. For the web server: work in the background takes its time."""

from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created


def bound_statements() -> None:
    """For every connection from now on."""
    connection_created.connect(_bound, dispatch_uid="consumerscope.statements")


def _bound(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if connection.vendor != "postgresql":
        return
    milliseconds = round(settings.DATABASE_STATEMENT_SECONDS * 1000)
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, false)", [str(milliseconds)])
