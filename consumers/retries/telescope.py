"""Volumes of time ranges whose windows lack them: the difference of the readings at both ends.

Two readings tell how far offsets moved between them, whatever was read in between. What came before the first reading
of a range is the one part that no reading can tell: then a number is a lower bound, and says since when it counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow.compute as pc
from django.conf import settings
from django.db.models import Q

from consumers.lake.one_group import read_group
from consumers.lake.reader import read
from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, GroupBroker, Reading
from consumers.polling.flags import retired_topics
from consumers.queries.limits import Limits
from consumers.queries.reset_marks import went_on_since
from consumers.rocketmq.names import DLQ_PREFIX
from consumers.vocabulary.states import UnknownReason

# A page opens no more files than that: of each reading up to two.
MOST_READINGS = 480
COLUMNS = ("taken_at", "topic", "broker", "queue_id", "kind", "consumer_offset", "broker_offset", "min_offset",
           "unknown_reason")  # fmt: skip
DEAD_COLUMNS = ("taken_at", "topic", "broker", "queue_id", "broker_offset", "min_offset")
# With these the lag is not known, but what the broker says of the consumer offset is.
CONSUMER_IS_KNOWN = (
    None,
    UnknownReason.TOPIC_GONE,
    UnknownReason.QUEUE_GONE,
    UnknownReason.NO_BROKER_OFFSET,
    UnknownReason.CONSUMER_AHEAD,
)
OF_CONSUMER = ("out_of_retry", "consumed")


class Moved(NamedTuple):
    """`messages`: at least so many from `since` on, null where nothing is known. `is_whole`: exactly so many, and of
    the whole stretch. `is_since`: exactly so many since then."""

    messages: int | None
    since: datetime
    is_whole: bool
    is_since: bool = False


class _Seen(NamedTuple):
    """One queue at one reading. `offset` is null where it is not known, `is_idle` where there is none yet."""

    at: datetime
    offset: int | None
    least: int | None
    is_idle: bool


QueueKey = tuple[str, str, int]
Queues = dict[QueueKey, list[_Seen]]


@dataclass(frozen=True)
class _Read:
    """Of a stretch: when it was read, by which brokers, and which topics appeared on them meanwhile."""

    times: list[datetime]
    whole: set[datetime]
    appeared: set[tuple[str, str]]


@dataclass
class Telescope:
    """Of one group, up to `now`. The lake is read once for each stretch that is asked for."""

    group: ConsumerGroup
    now: datetime
    limits: Limits
    _left: int = MOST_READINGS
    _stretches: dict[tuple[datetime, datetime], "_Stretch | None"] = field(default_factory=dict)

    def moved(self, name: str, start: datetime, end: datetime, *, is_first: bool) -> Moved | None:
        """How much of the volume `name` moved in [start, end); null where no readings tell.

        `is_first`: nothing before `start` counts, unless it was read right before.
        """
        stretch = self._stretch(start, end)
        return None if stretch is None else stretch.moved(name, is_first=is_first)

    def _stretch(self, start: datetime, end: datetime) -> "_Stretch | None":
        key = start, end
        if key not in self._stretches:
            self._stretches[key] = self._read(start, end)
        return self._stretches[key]

    def _read(self, start: datetime, end: datetime) -> "_Stretch | None":
        readings = Reading.objects.filter(cluster=self.group.cluster_id)
        before = readings.filter(taken_at__lt=start).order_by("-taken_at").values_list("taken_at", flat=True).first()
        reach = timedelta(seconds=self.limits.late_seconds)
        since = start if before is None else before - reach
        rows = list(
            readings.filter(taken_at__gte=since, taken_at__lt=end)
            .order_by("taken_at")
            .values_list("taken_at", "brokers")[: self._left + 1]
        )
        if not any(at >= start for at, _ in rows) or len(rows) > self._left:
            return None
        self._left -= len(rows)
        return _Stretch(self.group, start, end, before, reach, _read_of(rows), since, self.now, self.limits)


@dataclass
class _Stretch:
    group: ConsumerGroup
    start: datetime
    end: datetime
    before: datetime | None
    reach: timedelta
    read: _Read
    since: datetime
    now: datetime
    limits: Limits
    _of_group: list[dict[str, Any]] | None = None

    def moved(self, name: str, *, is_first: bool) -> Moved | None:
        if name in OF_CONSUMER and self._was_reset():
            return None
        queues = self._queues(name)
        # Nothing before the stretch counts, unless its last reading was right before it.
        from_inside = is_first and (self.before is None or self.start - self.before >= self.reach)
        first = next(at for at in self.read.times if at >= self.start)
        since = first if from_inside else self.start
        if not queues:
            is_none = self._ends_are_whole(from_inside) and self._has_no_topic(name)
            return Moved(0, since, not from_inside, True) if is_none else None
        parts = [self._steps(name, key, seen, from_inside, first) for key, seen in queues.items()]
        known = [messages for messages, _ in parts if messages is not None]
        is_exact = all(exact for _, exact in parts) and self._ends_are_whole(from_inside)
        return Moved(sum(known) if known else None, since, is_exact and not from_inside, is_exact)

    def _steps(
        self, name: str, key: QueueKey, seen: Sequence[_Seen], from_inside: bool, first: datetime
    ) -> tuple[int | None, bool]:
        """Messages of one queue, at least, and whether that is all."""
        inside = [one for one in seen if one.at >= self.start]
        earlier = [one for one in seen if one.at < self.start]
        if not inside:
            return None, False
        begin = inside[0] if from_inside else earlier[-1] if earlier else None
        if begin is None or (from_inside and begin.at > first):
            begin, exact = self._beginning(name, key, inside[0])
        else:
            exact = begin.offset is not None or begin.is_idle
        if name == "out_of_retry" and begin.is_idle and not inside[-1].least:
            begin, exact = _Seen(begin.at, 0, 0, False), True
        last = inside[-1]
        exact &= last.at >= self.read.times[-1] - self.reach
        if all(one.is_idle for one in (begin, *inside)):
            return 0, exact
        exact &= not begin.is_idle and last.offset is not None
        values = [one.offset for one in (begin, *inside) if one.offset is not None]
        steps = [later - earlier for earlier, later in pairwise(values)]
        if not values:
            return None, False
        return sum(step for step in steps if step > 0), exact and all(step >= 0 for step in steps)

    def _beginning(self, name: str, key: QueueKey, first: _Seen) -> tuple[_Seen, bool]:
        """Of a queue that was not there before: a topic that was seen to appear began at 0, and a retry topic is
        consumed from there."""
        appeared = (key[0], key[1]) in self.read.appeared
        if appeared and (name not in OF_CONSUMER or (name == "out_of_retry" and not first.least)):
            return _Seen(first.at, 0, 0, False), True
        return first, False

    def _ends_are_whole(self, from_inside: bool) -> bool:
        """Every broker was read at the first reading that counts, and at the last one."""
        times = self.read.times
        first = next(at for at in times if at >= self.start)
        begins = [at for at in times if at == first] if from_inside else [at for at in times if at < self.start]
        ends = [at for at in times if at >= times[-1] - self.reach]
        return any(at in self.read.whole for at in begins) and any(at in self.read.whole for at in ends)

    def _has_no_topic(self, name: str) -> bool:
        """Every broker was asked for its topics, and none has such a topic of the group."""
        if name == "consumed":
            return False
        rows = GroupBroker.objects.filter(group=self.group)
        has = ~Q(retry_permissions={}) if name != "into_dlq" else Q(dlq_permission__isnull=False)
        brokers = set(self.group.cluster.brokers.values_list("name", flat=True))
        return bool(brokers) and not rows.filter(has).exists() and set(rows.values_list("broker", flat=True)) >= brokers

    def _was_reset(self) -> bool:
        """A reset moves offsets, and nobody consumes by it."""
        resets = went_on_since(self.since).filter(started_at__lt=self.end)
        return resets.filter(cluster_name=self.group.cluster.name, group_name=self.group.name).exists()

    def _queues(self, name: str) -> Queues:
        lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
        cluster, group = self.group.cluster.name, self.group.name
        if name == "into_dlq":
            topic = pc.field("topic") == DLQ_PREFIX + group
            dead = read(lake, "dead_letters", cluster, self.since, self.end, DEAD_COLUMNS, topic)
            return _by_queue((row, row["broker_offset"], False) for row in dead.to_pylist())
        if self._of_group is None:
            found = read_group(lake, "readings", cluster, group, self.since, self.end, COLUMNS)
            self._of_group = found.to_pylist()
        retired = retired_topics(self.group, self.now, self.limits.kinds)
        wanted = ("retry",) if name != "consumed" else ("normal", "system")
        rows = [row for row in self._of_group if row["kind"] in wanted and row["topic"] not in retired]
        if name == "into_retry":
            return _by_queue((row, row["broker_offset"], False) for row in rows)
        return _by_queue((row, _consumer(row), row["unknown_reason"] == UnknownReason.NEVER_COMMITTED) for row in rows)


def _read_of(rows: Iterable[tuple[datetime, list[dict[str, Any]]]]) -> _Read:
    read = _Read([], set(), set())
    for at, brokers in rows:
        read.times.append(at)
        if brokers and all(one["read"] for one in brokers):
            read.whole.add(at)
        # A slave may lack what its master has.
        of_masters = [one for one in brokers if one["read"] and not one.get("read_from")]
        read.appeared.update((topic, one["name"]) for one in of_masters for topic in one.get("topics_appeared", ()))
    return read


def _consumer(row: dict[str, Any]) -> int | None:
    offset: int | None = row["consumer_offset"]
    return offset if row["unknown_reason"] in CONSUMER_IS_KNOWN else None


def _by_queue(rows: Iterable[tuple[dict[str, Any], int | None, bool]]) -> Queues:
    queues: Queues = {}
    for row, offset, is_idle in rows:
        key = row["topic"], row["broker"], row["queue_id"]
        queues.setdefault(key, []).append(_Seen(row["taken_at"], offset, row["min_offset"], is_idle))
    return {key: sorted(seen) for key, seen in queues.items()}
