"""Messages per second, by how far offsets moved over the last minute of readings; and where dead letters end.

Two readings of the lake are compared, whatever the number of groups.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.moment import read_moment
from consumers.lake.store import Lake
from consumers.models import Reading
from consumers.selectors.column_lists import as_list
from consumers.selectors.limits import Limits

MINUTE = timedelta(seconds=60)
QUEUE = ["topic", "broker", "queue_id"]
OFFSETS = ("consumer_offset", "broker_offset")


@dataclass(frozen=True)
class Moved:
    """Messages per second between two readings. Absent where an offset of it was not read twice, or went back.

    `consumed`: by group, topic and broker · `produced`: by topic and broker · `dead_letters`: the sum of the broker
    offsets by dead-letter topic and broker. The latter two null where the readings are not kept.
    """

    consumed: Mapping[tuple[str, ...], float] | None = None
    produced: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    dead_letters: Mapping[tuple[str, str], int] | None = None


def moved(lake: Lake, cluster_id: int, cluster: str, now: datetime, limits: Limits) -> Moved:
    """One query, and three files at the most."""
    times = list(
        Reading.objects.filter(cluster=cluster_id, taken_at__gte=limits.read_since(now) - 3 * MINUTE, taken_at__lte=now)
        .order_by("-taken_at")
        .values_list("taken_at", flat=True)
    )
    if not times or times[0] < limits.read_since(now):
        return Moved()
    newest = _offsets(lake, cluster, times[0])
    if newest is None:
        return Moved()
    letters = _dead_letters(lake, cluster, times[0])
    earlier = next((at for at in times if at <= times[0] - MINUTE), None)
    before = _offsets(lake, cluster, earlier) if earlier is not None else None
    if earlier is None or before is None:
        return Moved(dead_letters=letters)
    seconds = (times[0] - earlier).total_seconds()
    consumed = _rates(before, newest, ["group", *QUEUE], "consumer_offset", seconds)
    produced = _rates(_ends(before), _ends(newest), QUEUE, "broker_offset", seconds)
    return Moved(consumed, produced, letters)


def _offsets(lake: Lake, cluster: str, at: datetime) -> pa.Table | None:
    return read_moment(lake, "readings", cluster, at, ["group", *QUEUE, *OFFSETS], pc.scalar(True))


def _ends(rows: pa.Table) -> pa.Table:
    """The groups of a queue share its end."""
    ends = rows.group_by(QUEUE).aggregate([("broker_offset", "max")])
    return ends.rename_columns([*QUEUE, "broker_offset"])


def _rates(
    before: pa.Table, after: pa.Table, key: list[str], column: str, seconds: float
) -> dict[tuple[str, ...], float]:
    """By the key without the queue id. A queue that was never committed, then and now, has moved by nothing."""
    both = after.select([*key, column]).join(
        before.select([*key, column]).rename_columns([*key, "before"]), keys=key, join_type="left outer"
    )
    steps = pc.subtract(both[column], both["before"])
    is_idle = pc.and_(pc.is_null(both[column]), pc.is_null(both["before"]))
    is_known = pc.fill_null(pc.greater_equal(steps, 0), False)
    both = both.append_column("step", pc.if_else(is_known, steps, 0))
    both = both.append_column("untold", pc.cast(pc.invert(pc.or_(is_idle, is_known)), pa.int64()))
    both = both.append_column("known", pc.cast(is_known, pa.int64()))
    place = key[:-1]
    sums = both.group_by(place).aggregate([("step", "sum"), ("untold", "sum"), ("known", "sum")])
    sums = sums.filter(pc.and_(pc.equal(sums["untold_sum"], 0), pc.greater(sums["known_sum"], 0)))
    names = zip(*(as_list(sums[name]) for name in place), strict=True)
    return {name: step / seconds for name, step in zip(names, as_list(sums["step_sum"]), strict=True)}


def _dead_letters(lake: Lake, cluster: str, at: datetime) -> dict[tuple[str, str], int]:
    """A reading without such a file saw no dead-letter topic."""
    rows = read_moment(lake, "dead_letters", cluster, at, ["topic", "broker", "broker_offset"], pc.scalar(True))
    if rows is None:
        return {}
    sums = rows.group_by(["topic", "broker"]).aggregate(
        [("broker_offset", "sum", pc.ScalarAggregateOptions(skip_nulls=False))]
    )
    values = zip(*(as_list(sums[name]) for name in ("topic", "broker", "broker_offset_sum")), strict=True)
    return {(topic, broker): end for topic, broker, end in values if end is not None}
