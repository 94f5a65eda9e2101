from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import Error, Tags, register
from django.utils.translation import gettext_lazy


class ConsumersConfig(AppConfig):
    name = "consumers"
    verbose_name = gettext_lazy("Clusters and consumers")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        register(check_tables, Tags.database)


def check_tables(*, databases: Sequence[str] | None = None, **_: Any) -> list[Error]:
    """`migrate` asks before it changes anything."""
    from django.db import connections
    from django.db.migrations.loader import MigrationLoader
    from django.db.migrations.recorder import MigrationRecorder

    found = []
    # All tables are made by one migration as long as nothing is released: what is not there was before it.
    present = {migration for app, migration in MigrationLoader(None).disk_migrations if app == "consumers"}
    for name in databases or ():
        applied = {migration for app, migration in MigrationRecorder(connections[name]).applied_migrations()
                   if app == "consumers"}  # fmt: skip
        if applied - present:
            problem = "This database is of an older development version, whose tables cannot be brought forward."
            hint = "Move the home (CONSUMERSCOPE_HOME) away, or name an empty database with DATABASE_URL."
            found.append(Error(problem, hint=hint, id="consumers.E001"))
    return found
