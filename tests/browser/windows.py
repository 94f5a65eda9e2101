"""Windows of queues for the lake, a minute each."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pyarrow as pa

from consumers.lake.schemas import WINDOWS
from consumers.lake.store import Lake
from consumers.lake.windows import put_window
from consumers.models import ConsumerGroup

MINUTE = timedelta(minutes=1)


def put_windows(
    lake: Lake,
    group: ConsumerGroup,
    since: datetime,
    lags: Mapping[int, Sequence[int | None]],
    reason: str,
    topic: str = "Orders",
    brokers: Sequence[str] = ("broker-a",),
) -> None:
    """`lags` by queue id, oldest first; None is unknown for `reason`. The queues lie on the brokers in turn.

    One call a group and lake folder: windows that are there already are replaced.
    """
    rows = window_rows(group, since, lags, reason, topic, brokers)
    put_rows(lake, group.cluster.name, rows)


def put_rows(lake: Lake, cluster: str, rows: Sequence[dict[str, object]]) -> None:
    by_start: dict[datetime, list[dict[str, object]]] = {}
    for row in rows:
        start = row["start"]
        assert isinstance(start, datetime)
        by_start.setdefault(start, []).append(row)
    for start, of_start in by_start.items():
        put_window(lake, "windows_60", cluster, start, pa.Table.from_pylist(of_start, schema=WINDOWS))


def window_rows(
    group: ConsumerGroup,
    since: datetime,
    lags: Mapping[int, Sequence[int | None]],
    reason: str,
    topic: str = "Orders",
    brokers: Sequence[str] = ("broker-a",),
) -> list[dict[str, object]]:
    return [
        {
            "cluster": group.cluster.name,
            "start": since + number * MINUTE,
            "step_seconds": 60,
            "group": group.name,
            "topic": topic,
            "broker": brokers[queue_id % len(brokers)],
            "queue_id": queue_id,
            "kind": "normal",
            "lag_messages": lag,
            "time_lag_kind": "unknown",
            "readings": 0 if lag is None else 4,
            "unknown_reason": reason if lag is None else None,
        }
        for queue_id, of_queue in lags.items()
        for number, lag in enumerate(of_queue)
    ]
