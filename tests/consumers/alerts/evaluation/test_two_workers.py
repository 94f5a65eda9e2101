"""Two workers that evaluate the same moments, one of which is killed: on the database that the tests run on."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

from consumers.models import AlertRule
from tests.alert_rows import a_channel, a_rule
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_total

pytestmark = pytest.mark.django_db(transaction=True)
CHILD = Path(__file__).parents[3] / "plugins" / "alert_child.py"
RULES = 20
TOLD = """
    SELECT rule_name, kind, sequence, number, (SELECT COUNT(*) FROM consumers_deliveryevent t WHERE t.event_id = e.id)
    FROM consumers_incident i JOIN consumers_incidentevent e ON e.incident_id = i.id
    LEFT JOIN consumers_deliveryevent t ON t.event_id = e.id LEFT JOIN consumers_delivery d ON d.id = t.delivery_id
    ORDER BY rule_name, sequence
"""


def a_site() -> None:
    """A group that is behind since now, and a rule for each of the next seconds at which it fires."""
    AlertRule.objects.all().delete()
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_total(group, 4200)
    a_judged_group(group, "STALL", since=NOW)
    for number in range(RULES):
        states = {"measure": "state", "comparison": "in", "states": ["STALL"], "threshold": None}
        a_rule(f"rule {number:02}", **states, for_seconds=number)
    a_channel()


def database_url(folder: Path) -> str:
    """Of the tests' own database, or of a file that is a copy of it where that one is in this process's memory."""
    if connection.vendor == "postgresql":
        return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    path = folder / "site.sqlite3"
    with sqlite3.connect(path) as copy:
        connection.connection.backup(copy)
        # As a site's file is since it was made; of two that turn one into this, SQLite refuses one at once.
        copy.execute("PRAGMA journal_mode=WAL")
    copy.close()
    return f"sqlite:///{path}"


def a_worker(url: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILD), NOW.isoformat(), str(RULES)]
    environ = {**os.environ, "DATABASE_URL": url, "PYTHONPATH": str(Path.cwd())}
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)


def written(folder: Path) -> list[tuple[object, ...]]:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(TOLD)
            return list(cursor.fetchall())
    copy = sqlite3.connect(folder / "site.sqlite3")
    try:
        return copy.execute(TOLD).fetchall()
    finally:
        copy.close()


def test_each_change_is_written_and_told_once_though_two_evaluate_and_one_is_killed(tmp_path: Path) -> None:
    a_site()
    url = database_url(tmp_path)
    workers = [a_worker(url), a_worker(url)]
    killed, other = workers
    assert killed.stdout is not None
    for _ in range(5):
        killed.stdout.readline()
    killed.kill()
    killed.communicate()
    assert other.communicate(timeout=200)[0].split() == [str(number) for number in range(RULES)]
    assert other.returncode == 0
    told = written(tmp_path)
    assert [row[:3] for row in told] == [(f"rule {number:02}", "firing", 1) for number in range(RULES)]
    assert sorted(number for *_, number, _ in told) == list(range(1, RULES + 1))
    assert all(tells == 1 for *_, tells in told)
