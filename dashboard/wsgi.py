"""Bounds how long a statement of this process may take. For the web server: work in the background takes its time."""

import gc
import os
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.urls import get_resolver


def bound_statements() -> None:
    """For every connection from now on."""
    connection_created.connect(_bound, dispatch_uid="consumerscope.statements")


def _bound(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if connection.vendor != "postgresql":
        return
    milliseconds = round(settings.DATABASE_STATEMENT_SECONDS * 1000)
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, false)", [str(milliseconds)])


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

application = get_wsgi_application()
bound_statements()
# Every page and resource is loaded with them: else whoever asks first waits seconds for it.
addresses = get_resolver().url_patterns
# What is loaded by now stays: the collector need not go through it with every request that makes many objects, nor
# begin at every few hundred of them.
gc.collect()
gc.freeze()
gc.set_threshold(25_000, 20, 20)
