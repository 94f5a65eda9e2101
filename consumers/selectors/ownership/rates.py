"""How many messages per second are consumed of each queue of a group, over its last whole minutes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings

from consumers.lake.one_group import read_group
from consumers.lake.store import Lake
from consumers.models import ConsumerGroup
from consumers.polling.flags import outside_reason
from consumers.selectors.column_lists import as_list
from consumers.selectors.history.series import UNTOLD
from consumers.selectors.overlay import iso
from consumers.vocabulary.unknown import NO_LAG_REASONS
from consumers.words.unknown import reason_words

from .sharing import is_broadcasting

MINUTE = timedelta(minutes=1)
MINUTES = 5
# A pipeline that lags behind by more tells nothing of the present.
LOOKED_BACK = timedelta(minutes=10)
KEPT_BY_MEMBERS = "broadcasting: each member keeps its own offsets"
KEY = ("topic", "broker", "queue_id")
COLUMNS = ("start", *KEY, "kind", "consume_rate", "unknown_reason")
DEAD_LETTERS = "dlq"

QueueKey = tuple[str, str, int]  # topic, broker, queue id


@dataclass(frozen=True)
class Rates:
    """`consumed` by queue: the mean over those minutes of [since, until) in which it is known.

    Null is one whose newest minute is not, for its reason in `reasons`; without a reason nothing was ever committed of
    it, so that nothing was consumed. `why`: why nothing is known of any.
    """

    why: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    consumed: dict[QueueKey, float | None] = field(default_factory=dict)
    reasons: dict[QueueKey, str] = field(default_factory=dict)

    def of(self, queues: Sequence[QueueKey]) -> tuple[float | None, str]:
        """The sum over the queues, and why it is null where it is: one of them is not known."""
        if self.why is not None:
            return None, self.why
        known = 0.0
        for queue in queues:
            rate = self.consumed.get(queue)
            if rate is None and (queue in self.reasons or queue not in self.consumed):
                return None, "of {}/{}/{}: {}".format(*queue, self.reasons.get(queue, "no window of it yet"))
            known += rate or 0.0
        return known, ""

    @cached_property
    def total(self) -> tuple[float | None, str]:
        return self.of(list(self.consumed))


def group_rates(group: ConsumerGroup, now: datetime) -> Rates:
    """Reads the lake's newest windows of the group, and no rows."""
    if is_broadcasting(group):
        return Rates(why=KEPT_BY_MEMBERS)
    if (outside := outside_reason(group)) is not None:
        return Rates(why=outside)
    until = now.replace(second=0, microsecond=0)
    lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
    found = read_group(lake, "windows_60", group.cluster.name, group.name, until - LOOKED_BACK, until, COLUMNS)
    if not found.num_rows:
        return Rates(why=f"no minute since {iso(until - LOOKED_BACK)} is aggregated yet")
    newest = pc.max(found["start"])
    since = newest.as_py() - (MINUTES - 1) * MINUTE
    own = pc.not_equal(found["kind"], DEAD_LETTERS)
    chosen = found.filter(pc.and_(own, pc.greater_equal(found["start"], pa.scalar(since, found["start"].type))))
    return _means(chosen, chosen.filter(pc.equal(chosen["start"], newest)), since, newest.as_py() + MINUTE)


def _means(windows: pa.Table, newest: pa.Table, since: datetime, until: datetime) -> Rates:
    told = {row[:3]: row[3:] for row in _rows(newest, *KEY, "consume_rate", "unknown_reason")}
    means = windows.group_by(list(KEY)).aggregate([("consume_rate", "mean")])
    consumed: dict[QueueKey, float | None] = {}
    reasons: dict[QueueKey, str] = {}
    for topic, broker, queue_id, mean in _rows(means, *KEY, "consume_rate_mean"):
        key = topic, broker, queue_id
        rate, reason = told.get(key, (None, f"no reading of it in the minute before {iso(until)}"))
        if rate is None and reason not in NO_LAG_REASONS:
            reasons[key] = reason_words(reason) if reason else UNTOLD["consume_rate"]
        consumed[key] = None if rate is None else mean
    return Rates(None, since, until, consumed, reasons)


def _rows(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(as_list(table[name]) for name in columns), strict=True)
