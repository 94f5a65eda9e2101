"""Run as `python -m tests.bench.alerts.metrics_scrapes GROUPS QUEUES`: scrapes /metrics of as many groups, in a
database of its own. Prints, as a line of JSON, seconds of the first scrape and of later ones, until the first piece
and in all, MiB held, lines, and what the same rows cost when nothing is judged."""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
TIMES = 5
MEMBERS = 2
SAID = {"consume_ok_tps": 20.5, "consume_failed_tps": 0.0, "consume_failed_messages": 0, "consume_rt": 3.5}


def main(groups: int, queues: int) -> None:
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", verbosity=0)
    now = datetime.now(UTC)
    _fill(groups, queues, now)
    # Else whoever reads first has to take in what this process wrote.
    connections.close_all()
    # Whoever only fills a database has not loaded what answers requests.
    os.execv(sys.executable, [sys.executable, "-m", "tests.bench.alerts.metrics_scrapes", "scrape", now.isoformat()])


def scrape(filled_at: datetime) -> None:
    # As the web server has at its start.
    import dashboard.wsgi  # noqa: F401
    from dashboard.metrics.exposition import exposition
    from dashboard.metrics.families import scrape as read

    def write() -> Iterator[str]:
        return exposition(read(filled_at).families)

    told: dict[str, Any] = {"before_mib": _most_mib()}
    told["first"], _, told["lines"], characters = _timed(write)
    told |= {"mib": _most_mib(), "text_mib": characters / 2**20}
    told["warm"], told["warm_piece"] = sorted(_timed(write)[:2] for _ in range(TIMES))[TIMES // 2]
    told["floor"] = _timed(_bare_lines)[0]
    print(json.dumps(told), flush=True)


def _timed(write: Callable[[], Iterator[str]]) -> tuple[float, float, int, int]:
    """Seconds in all and until the first piece; lines and characters. No piece is kept."""
    began = time.perf_counter()
    first, lines, characters = None, 0, 0
    for piece in write():
        first = first or time.perf_counter() - began
        lines, characters = lines + piece.count("\n"), characters + len(piece)
    return time.perf_counter() - began, first or 0.0, lines, characters


def _bare_lines() -> Iterator[str]:
    """As many lines of the rows of the same tables."""
    from django.db import connection

    with connection.cursor() as cursor:
        for table, lines in (("consumers_groupstate", 14), ("consumers_grouptotal", 8), ("consumers_client", 4)):
            cursor.execute(f"SELECT * FROM {table}")
            for row in cursor:
                yield "".join(f'metric{{cluster="bench",group="{row[0]}"}} {row[1]}\n' for _ in range(lines))
        for table in ("consumers_queuesnapshot", "consumers_queuestate"):
            cursor.execute(f"SELECT * FROM {table}")
            for row in cursor:
                yield f'metric{{cluster="bench",broker="broker-a",topic="{row[0]}",group="{row[1]}"}} {row[2]}\n'


def _fill(groups: int, queues: int, now: datetime) -> None:
    """Rows of the site, members that have just spoken, and two readings a minute apart in the lake."""
    from consumers.models import Assignment, Client, ConsumerGroup, QueueSnapshot, Reading
    from tests.bench.site_rows import AT_ONCE, fill

    cluster = fill(groups, queues, now)
    Client.objects.bulk_create(
        [
            Client(
                group=group, client_id=f"10.0.0.{member}@{group.pk}", address=f"10.0.0.{member}:5000", language="JAVA",
                seen_since=now, last_seen=now, running_info_at=now, subscriptions=group.subscriptions,
                consume_status={group.subscriptions[0]["topic"]: SAID},
            )
            for group in ConsumerGroup.objects.all()
            for member in range(MEMBERS)
        ],
        AT_ONCE,
    )  # fmt: skip
    ConsumerGroup.objects.update(settled_at=now, members_changed_at=now - timedelta(hours=1))
    held = QueueSnapshot.objects.order_by("pk").values_list("group_id", "queue_id")
    Assignment.objects.bulk_create(
        [
            Assignment(
                group_id=group, queue_id=queue, client_id=f"10.0.0.{n % MEMBERS}@{group}", seen_since=now, last_seen=now
            )
            for n, (group, queue) in enumerate(held)
        ],
        AT_ONCE,
    )
    for at in (now, now - timedelta(seconds=60)):
        _write_reading(cluster.name, at)
    Reading.objects.create(
        cluster=cluster,
        taken_at=now - timedelta(seconds=60),
        complete=True,
        queues=1,
        calls=6,
        bytes=10**6,
        seconds=0.4,
    )


def _write_reading(cluster: str, at: datetime) -> None:
    import pyarrow as pa
    from django.conf import settings

    from consumers.lake.schemas import READINGS
    from consumers.lake.store import Lake, file_name, hour_folder
    from consumers.models import QueueSnapshot

    names = (
        "group__name",
        "queue__topic__name",
        "queue__broker",
        "queue__queue_id",
        "consumer_offset",
        "broker_offset",
    )
    columns = zip(*QueueSnapshot.objects.order_by("group__name", "pk").values_list(*names), strict=True)
    table = pa.table(
        dict(zip(("group", "topic", "broker", "queue_id", "consumer_offset", "broker_offset"), columns, strict=True))
    )
    for name in READINGS.names:
        if name not in table.column_names:
            value = {"cluster": cluster, "taken_at": at, "kind": "normal", "min_offset": 500}.get(name)
            field = READINGS.field(name)
            table = table.append_column(name, pa.repeat(pa.scalar(value, field.type), table.num_rows))
    Lake.at(settings.CONSUMERSCOPE_LAKE).write(
        table, f"{hour_folder('readings', cluster, at)}/{file_name(at)}", READINGS
    )


def _most_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    django.setup()
    if sys.argv[1] == "scrape":
        scrape(datetime.fromisoformat(sys.argv[2]))
    else:
        main(int(sys.argv[1]), int(sys.argv[2]))
