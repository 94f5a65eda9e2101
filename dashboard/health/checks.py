"""What `manage.py check --database default` and `migrate` warn of."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import connection

from consumers.models import Cluster
from consumers.queries.read_only import words_that_protect_nothing
from dashboard.settings.home import OTHERS


def private_home(**_: Any) -> list[checks.CheckMessage]:
    """The settings close the home; they cannot close one that belongs to somebody else."""
    home = settings.CONSUMERSCOPE_HOME
    if not home.stat().st_mode & OTHERS:
        return []
    return [
        checks.Warning(
            f"Other users of this machine can open the home, {home}: database, history and secret key are in it.",
            hint=f"'chmod 700 {home}' by its owner closes it. Or set CONSUMERSCOPE_HOME to a folder of your own.",
            id="consumerscope.W002",
        )
    ]


def read_only_clusters(*, databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """A cluster whose name or address was misspelt in the setting is not protected."""
    if not databases or Cluster._meta.db_table not in connection.introspection.table_names():
        return []
    return [
        checks.Warning(
            f"CONSUMERSCOPE_READ_ONLY_CLUSTERS names {name!r}, and no registered cluster has that name or address.",
            hint="'manage.py cluster list' tells names and name servers; names are compared exactly.",
            id="consumerscope.W001",
        )
        for name in words_that_protect_nothing()
    ]
