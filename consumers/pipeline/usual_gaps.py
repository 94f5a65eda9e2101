"""How long a group's offsets usually stand still between two moves while it is behind: slow by habit is not stuck.

Learned from the windows of a minute of the last hours, now and then and for some groups at a time: beside the runs,
which then read one number a group. To the minute: what moves more often than that has a usual gap of a minute.
"""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import F, Q

from consumers.lake import reader
from consumers.lake.store import Lake
from consumers.models import GroupState, State

LEARNED_FROM = timedelta(hours=6)
LEARNED_AGAIN = timedelta(minutes=10)
GROUPS_AT_ONCE = 200
# A 95th percentile of fewer is the longest of a few.
LEAST_GAPS = 20
PERCENTILE = 95
MINUTE_US = 60_000_000
QUEUE = ["group", "topic", "broker", "queue_id"]


def learn_usual_gaps(lake: Lake, now: datetime) -> int:
    """Of groups that are behind, those learned longest ago first. Returns how many were looked at."""
    behind = Q(time_lag_seconds__gt=0) | Q(state=State.STALL)
    due = Q(usual_gap_at=None) | Q(usual_gap_at__lte=now - LEARNED_AGAIN)
    order = F("usual_gap_at").asc(nulls_first=True)
    rows = list(
        GroupState.objects.filter(behind & due)
        .select_related("group__cluster")
        .order_by(order, "group_id")[:GROUPS_AT_ONCE]
    )
    by_cluster: dict[str, list[GroupState]] = {}
    for row in rows:
        by_cluster.setdefault(row.group.cluster.name, []).append(row)
    for cluster, states in by_cluster.items():
        learned = usual_gaps(_windows(lake, cluster, [row.group.name for row in states], now))
        for row in states:
            row.usual_gap_seconds, row.usual_gap_at = learned.get(row.group.name), now
    GroupState.objects.bulk_update(rows, ["usual_gap_seconds", "usual_gap_at"], batch_size=GROUPS_AT_ONCE)
    return len(rows)


def _windows(lake: Lake, cluster: str, groups: list[str], now: datetime) -> pa.Table:
    chosen = pc.field("group").isin(sorted(groups)) & (pc.field("kind") != "retry")
    columns = [*QUEUE, "start", "lag_messages", "consume_rate"]
    return reader.read(lake, "windows_60", cluster, now - LEARNED_FROM, now, columns=columns, filter=chosen)


def usual_gaps(windows: pa.Table) -> dict[str, float]:
    """By group the 95th percentile of the seconds between moves of its queues; groups with too few are left out.

    Between two minutes in which a queue moves there must be every minute, each behind and still.
    """
    rows = windows.sort_by([(name, "ascending") for name in (*QUEUE, "start")])
    if not rows.num_rows:
        return {}
    queue = _codes(rows)
    start = rows["start"].cast(pa.int64()).to_numpy()
    rate = pc.fill_null(rows["consume_rate"], np.nan).to_numpy()
    is_behind = pc.fill_null(pc.greater(rows["lag_messages"], 0), False).to_numpy(zero_copy_only=False)
    moves = np.flatnonzero(rate > 0)
    is_broken = ~((rate > 0) | ((rate == 0) & is_behind))
    broken = np.concatenate([[0], np.cumsum(is_broken)])
    first, second = moves[:-1], moves[1:]
    whole = (queue[first] == queue[second]) & is_behind[first] & (broken[first] == broken[second])
    gap = start[second] - start[first]
    whole &= gap == (second - first) * MINUTE_US
    groups = np.array(rows["group"].to_pylist(), object)[first[whole]]
    gaps = gap[whole] / 1e6
    found = {group: gaps[groups == group] for group in set(groups.tolist())}
    return {group: float(np.percentile(one, PERCENTILE)) for group, one in found.items() if len(one) >= LEAST_GAPS}


def _codes(rows: pa.Table) -> np.ndarray:
    """The same number for the rows of the same queue; `rows` are sorted by queue."""
    differs = np.zeros(rows.num_rows, bool)
    for name in QUEUE:
        values = rows[name].combine_chunks()
        differs[1:] |= pc.not_equal(values[1:], values[:-1]).to_numpy(zero_copy_only=False)
    return np.cumsum(differs)
