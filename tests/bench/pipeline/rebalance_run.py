"""Run as `python -m tests.bench.pipeline.rebalance_run GROUPS CHANGED`: in a home of its own, a site whose readings of
half an hour are in its lake, and in the last minute a member joined some of its groups. Finds their rebalances.
Prints, as a line of JSON, how many seconds it took, and how long DuckDB only reads the same rows."""

import json
import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import django
import duckdb
import numpy as np
import pyarrow as pa

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
UNTIL = datetime(2026, 3, 1, 2, 59, tzinfo=UTC)
SINCE, JOINED = UNTIL - timedelta(seconds=90), UNTIL - timedelta(seconds=60)
EVERY, READINGS = timedelta(seconds=15), 134
QUEUES = 8
# Clients that one reading asks (POLL_RUNNING_INFO_CALLS): those of groups that changed first, the others in turn.
ASKED = 200
TIMES = 5


def main(groups: int, changed: int) -> None:
    from django.core.management import call_command

    from consumers.lake.store import Lake
    from consumers.pipeline.durations import Durations
    from consumers.pipeline.rebalances.run import find_rebalances

    call_command("migrate", verbosity=0)
    lake = Lake.at(f"{os.environ['CONSUMERSCOPE_HOME']}/lake")
    _put_rows(groups, changed)
    for number in range(READINGS):
        _write(lake, groups, changed, number)
    measured: dict[str, Any] = {"seconds": float("inf"), "cpu": float("inf")}
    for _ in range(TIMES):
        began, cpu = time.perf_counter(), time.process_time()
        found = find_rebalances(lake, ["bench"], SINCE, UNTIL, Durations())
        measured["seconds"] = min(measured["seconds"], time.perf_counter() - began)
        measured["cpu"] = min(measured["cpu"], time.process_time() - cpu)
    if found is None or found.topics is None:
        raise SystemExit("No group was found to have changed.")
    measured["rebalances"] = found.events.num_rows
    measured["moved"] = sum(one == QUEUES // 2 for one in found.topics["queues_moved"].to_pylist())
    print(json.dumps(measured | _floor(lake, changed)), flush=True)


def _put_rows(groups: int, changed: int) -> None:
    from consumers.models import Client, ConsumerGroup, Queue
    from tests.bench.site_rows import fill

    fill(groups, QUEUES, UNTIL)
    rows = list(ConsumerGroup.objects.order_by("name"))
    topics = Queue.objects.select_related("topic")
    topics.update(first_seen_at=UNTIL - timedelta(days=30))
    intervals = []
    for number, row in enumerate(rows):
        is_changed = number < changed
        row.members_changed_at = JOINED if is_changed else UNTIL - timedelta(days=1)
        for member in range(2):
            seen = JOINED if is_changed and member else UNTIL - timedelta(days=1)
            intervals.append(_interval(row, member, seen))
    ConsumerGroup.objects.bulk_update(rows, ["members_changed_at"], 500)
    Client.objects.bulk_create(intervals, 5000)


def _interval(group: Any, member: int, seen: datetime) -> Any:
    from consumers.models import Client

    moments = {"seen_since": seen, "last_seen": UNTIL, "started_at": seen - timedelta(seconds=5)}
    return Client(group=group, client_id=_member(member), address=f"10.0.0.{member}:5000", language="JAVA", **moments)


def _member(number: int) -> str:
    return f"10.0.0.{number}@1"


def _write(lake: Any, groups: int, changed: int, reading: int) -> None:
    """One reading: its membership and ownership, and offsets where a run about these moments looks at them."""
    from consumers.lake.schemas import TABLES
    from consumers.lake.store import file_name, hour_folder

    at = UNTIL - (READINGS - reading) * EVERY
    has_joined = at >= JOINED
    tables = {
        "membership": _membership(groups, changed if has_joined else 0, changed),
        "ownership": list(_ownership(groups, changed, has_joined, reading, at)),
        "readings": _offsets(groups, reading) if at >= SINCE - timedelta(seconds=300) else None,
    }
    for name, rows in tables.items():
        if rows is None:
            continue
        table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows, TABLES[name])
        values = {"cluster": pa.array(["bench"] * table.num_rows), "taken_at": pa.array([at] * table.num_rows)}
        for column, filled in values.items():
            if column in table.column_names:
                table = table.drop_columns(column)
            table = table.append_column(column, filled)
        for field in TABLES[name]:
            if field.name not in table.column_names:
                table = table.append_column(field.name, pa.nulls(table.num_rows, field.type))
        lake.write(table, f"{hour_folder(name, 'bench', at)}/{file_name(at)}", TABLES[name])


def _membership(groups: int, joined: int, changed: int) -> list[dict[str, Any]]:
    common = {"complete": True, "consume_type": "CONSUME_PASSIVELY", "message_model": "CLUSTERING"}
    return [
        {"group": f"group-{number:05d}", "members": 2 if number < joined or number >= changed else 1, **common}
        for number in range(groups)
    ]


def _ownership(groups: int, changed: int, has_joined: bool, reading: int, at: datetime) -> Iterator[dict[str, Any]]:
    """Of the groups that changed in each reading, of the others in turn."""
    in_turn = max(ASKED // 2 - changed, 0)
    others = range(changed, groups)
    asked = [*range(changed), *(others[(reading * in_turn + n) % len(others)] for n in range(in_turn) if others)]
    for number in dict.fromkeys(asked):
        members = 2 if has_joined or number >= changed else 1
        for queue in range(QUEUES):
            yield {
                "group": f"group-{number:05d}",
                "client_id": _member(queue % members),
                "topic": f"Topic{number:05d}",
                "broker": "broker-a" if queue % 2 == 0 else "broker-b",
                "queue_id": queue // 2,
                "commit_offset": 1000 + 100 * reading,
                "dropped": False,
                "last_pull_at": at,
                "started_at": SINCE - timedelta(days=2),
                "strategy": "AllocateMessageQueueAveragely",
                "subscription": f"Topic{number:05d} TAG *",
            }


def _offsets(groups: int, reading: int) -> pa.Table:
    number = np.arange(groups * QUEUES)
    count = len(number)
    return pa.table(
        {
            "group": [f"group-{one:05d}" for one in number // QUEUES],
            "topic": [f"Topic{one:05d}" for one in number // QUEUES],
            "broker": [("broker-a", "broker-b")[one] for one in number % QUEUES % 2],
            "queue_id": pa.array(number % QUEUES // 2, pa.int32()),
            "kind": ["normal"] * count,
            "consumer_offset": pa.array(np.full(count, 1000 + 100 * reading)),
            "broker_offset": pa.array(np.full(count, 1010 + 100 * reading)),
            "min_offset": pa.array(np.zeros(count, np.int64)),
        }
    )


def _floor(lake: Any, changed: int) -> dict[str, Any]:
    """The same columns and rows of the same files."""
    from consumers.lake import reader
    from consumers.pipeline.rebalances.tables import OWNERSHIP_COLUMNS, READINGS_COLUMNS

    reach = SINCE - timedelta(seconds=1800)
    wanted = {
        "membership": (reach, ["*"]),
        "ownership": (reach, OWNERSHIP_COLUMNS),
        "readings": (JOINED - timedelta(seconds=75), READINGS_COLUMNS),
    }
    last, files, rows = f"group-{changed - 1:05d}", 0, 0
    best = float("inf")
    with duckdb.connect(config={"threads": os.cpu_count() or 1}) as connection:
        for _ in range(TIMES):
            began, files, rows = time.perf_counter(), 0, 0
            for table, (since, columns) in wanted.items():
                names = reader.files(lake, table, "bench", since, UNTIL)
                chosen = ", ".join(column if column == "*" else f'"{column}"' for column in columns)
                query = f'SELECT {chosen} FROM read_parquet($files) WHERE "group" <= $last AND taken_at >= $since'
                params = {"files": names, "last": last, "since": since}
                rows += connection.sql(query, params=params).to_arrow_table().num_rows
                files += len(names)
            best = min(best, time.perf_counter() - began)
    return {"floor": best, "files": files, "rows": rows}


if __name__ == "__main__":
    django.setup()
    main(*(int(word) for word in sys.argv[1:3]))
