"""Run as a script: ten thousand groups, and the rows that a day leaves of them, in a database of its own.

Prints, as a line of JSON, rows and bytes of the database, and the seconds that each thing took which a site does then.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import django

GROUPS, QUEUES = int(sys.argv[1]), 2
MINUTES = int(sys.argv[2])
# A day of minutes, written as the pipeline writes them, would be an hour of a test: the database copies one minute.
COPY = """
INSERT INTO consumers_groupwindow (group_id, step_seconds, start, lag_messages, time_lag_seconds, consume_rate,
    produce_rate, readings, into_retry, out_of_retry, into_dlq, consumed, volumes_unknown)
SELECT group_id, step_seconds, %s, lag_messages, time_lag_seconds, consume_rate, produce_rate, readings, into_retry,
    out_of_retry, into_dlq, consumed, volumes_unknown FROM consumers_groupwindow WHERE start = %s
"""


Taken = tuple[float, float]


def timed(act: Callable[[], Any]) -> Taken:
    """Seconds of the processor, and by the clock."""
    worked, began = time.process_time(), time.perf_counter()
    act()
    return round(time.process_time() - worked, 2), round(time.perf_counter() - began, 2)


def main() -> None:
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection, transaction
    from django.test import Client

    from consumers.models import Cluster, ConsumerGroup, GroupWindow
    from consumers.pipeline.upkeep import prune_rows, retentions
    from tests.bench.site_rows import fill

    seconds: dict[str, Taken] = {}
    seconds["migrate, empty"] = timed(lambda: call_command("migrate", verbosity=0))
    now = datetime.now(UTC)
    fill(GROUPS, QUEUES, now)
    newest = GroupWindow.objects.order_by("-start").values_list("start", flat=True)[0]

    stored = connection.ops.adapt_datetimefield_value

    def copy() -> None:
        for ago in range(10, MINUTES):
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(COPY, [stored(newest - timedelta(minutes=ago)), stored(newest)])

    seconds["the day is written"] = timed(copy)
    rows = GroupWindow.objects.count()
    size = Path(connection.settings_dict["NAME"]).stat().st_size
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(User.objects.create_superuser("ann"))

    def asked(path: str) -> Taken:
        def ask() -> None:
            answer = client.get(path)
            assert answer.status_code == 200, (path, answer.status_code)
            b"".join(answer.streaming_content) if answer.streaming else answer.content

        return timed(ask)

    for path in ("/metrics", "/api/v1/groups/", "/groups/", "/"):
        seconds[path] = asked(path)
    seconds["migrate, nothing to do"] = timed(lambda: call_command("migrate", verbosity=0))
    # What falls out within ten minutes, which is how often it is done; then half of the day at once.
    kept = retentions()
    ten_minutes = now - timedelta(minutes=MINUTES - 10) + kept["windows_60"]
    seconds["ten minutes are forgotten"] = timed(lambda: prune_rows(ten_minutes, kept))
    before = GroupWindow.objects.count()
    half = now - timedelta(minutes=MINUTES // 2) + kept["windows_60"]
    seconds["half a day is forgotten"] = timed(lambda: prune_rows(half, kept))
    forgotten = before - GroupWindow.objects.count()
    seconds["cluster remove"] = timed(lambda: call_command("cluster", "remove", "bench", verbosity=0))
    left = ConsumerGroup.objects.count() + GroupWindow.objects.count() + Cluster.objects.count()
    told = {"groups": GROUPS, "rows": rows, "bytes": size, "forgotten": forgotten, "left": left, "seconds": seconds}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    main()
