"""A database of before all migrations became one."""

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("applied", ["0002_cluster_permission", "0005_codes"])
def test_it_is_refused_before_anything_changes(applied):
    recorder = MigrationRecorder(connection)
    recorder.record_applied("consumers", applied)
    with pytest.raises(SystemCheckError, match=r"older development version(?s:.*)Move the home"):
        call_command("migrate", verbosity=0, skip_checks=False)
