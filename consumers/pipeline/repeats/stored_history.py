"""What the history store has of queues besides their offsets: reports of their owners, and offset files. Read only
where an offset went back, once for each span of time."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake import reader
from consumers.lake.schemas import TIME
from consumers.lake.store import Lake
from consumers.models import QueueSnapshot
from consumers.vocabulary.times import MICROSECOND

from .away_file import FileReading

Place = tuple[str, str, int]
# Files are read every 60 s.
FILES_REACH = timedelta(minutes=10)
PLACE = ("group", "topic", "broker", "queue_id", "client_id", "taken_at")
HELD = (*PLACE, "started_at", "commit_offset", "cached_min", "cached_max")
FILED = (*PLACE, "kind", "modified_at", "offset")
READ = ("group", "topic", "broker", "queue_id", "taken_at", "consumer_offset", "broker_offset", "min_offset")
WHY = ("unknown_reason", "slave_offset")


class HeldReport(NamedTuple):
    """What a member reported of a queue: where it is, the end of what it holds (null: nothing), and when its process
    began (null: it did not say)."""

    client_id: str
    at: datetime
    offset: int
    held_until: int | None
    started_at: datetime | None


class OffsetRead(NamedTuple):
    """What a reading has of a queue. `reason`: why its lag is unknown. `slave_offset`: an older one, of a slave."""

    at: datetime
    offset: int | None
    broker_offset: int | None
    min_offset: int | None
    reason: str | None
    slave_offset: int | None

    @property
    def is_known(self) -> bool:
        return self.offset is not None and self.broker_offset is not None and self.reason is None


class BrokerFiles(NamedTuple):
    """By group and place, oldest first. `missing`: when other brokers' files were read, and not this one's."""

    readings: Mapping[tuple[str, Place], Sequence[FileReading]]
    missing: Sequence[datetime]


@dataclass(frozen=True)
class StoredHistory:
    lake: Lake
    _read: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def held(self, cluster: str, since: datetime, until: datetime) -> Mapping[tuple[str, Place], Sequence[HeldReport]]:
        """By group and place, in (since, until], oldest first."""
        return self._ownership(cluster, since, until)[0]

    def answer_times(
        self, cluster: str, since: datetime, until: datetime
    ) -> Mapping[str, Mapping[str, Sequence[datetime]]]:
        """When members reported what they hold, by group, then by client id; as above."""
        return self._ownership(cluster, since, until)[1]

    def _ownership(self, cluster: str, since: datetime, until: datetime) -> Any:
        key = ("ownership", cluster, since, until)
        if key not in self._read:
            held: dict[tuple[str, Place], list[HeldReport]] = defaultdict(list)
            answer_times: dict[str, dict[str, list[datetime]]] = defaultdict(lambda: defaultdict(list))
            for row in self._rows("ownership", cluster, since, until, HELD, pc.is_null(pc.field("error"))):
                if row["taken_at"] <= since:
                    continue
                times = answer_times[row["group"]][row["client_id"]]
                if times[-1:] != [row["taken_at"]]:
                    times.append(row["taken_at"])
                at = min((one for one in (row["commit_offset"], row["cached_min"]) if one is not None), default=None)
                if at is not None and row["queue_id"] is not None:
                    end = None if row["cached_max"] is None else row["cached_max"] + 1
                    report = HeldReport(row["client_id"], row["taken_at"], at, end, row["started_at"])
                    held[row["group"], _place(row)].append(report)
            self._read[key] = held, answer_times
        return self._read[key]

    def offsets(
        self, cluster: str, brokers: Collection[str], groups: Collection[str], since: datetime, until: datetime
    ) -> Mapping[tuple[str, Place], Sequence[OffsetRead]]:
        """Of the groups' queues on these brokers: by group and place, in [since, until], oldest first."""
        chosen = {"broker": brokers, "group": groups}
        mine = pc.scalar(True)
        for name, values in chosen.items():
            mine &= pc.is_in(pc.field(name), pa.array(sorted(values), pa.string()))
        found = defaultdict(list)
        for row in self._rows("readings", cluster, since, until, (*READ, *WHY), mine):
            read = (row[name] for name in (*READ[4:], *WHY))
            found[row["group"], _place(row)].append(OffsetRead(*read))
        return found

    def broker_files(self, cluster: str, broker: str, away: datetime, until: datetime) -> "BrokerFiles":
        """Of one broker until then, and some minutes from before."""
        key = ("broker_file", cluster, broker, away, until)
        if key not in self._read:
            everyone = pc.is_in(pc.field("kind"), pa.array(["broker_file", "delay_file"]))
            rows = self._rows("stored_offsets", cluster, away - FILES_REACH, until, FILED, everyone)
            own = [row for row in rows if row["broker"] == broker and row["kind"] == "broker_file"]
            missing = sorted({row["taken_at"] for row in rows} - {row["taken_at"] for row in own})
            self._read[key] = BrokerFiles(_filed(own, lambda row: (row["group"], _place(row))), missing)
        return self._read[key]

    def client_files(
        self, cluster: str, since: datetime, until: datetime
    ) -> Mapping[tuple[str, str, Place], Sequence[FileReading]]:
        """Of broadcasting members: by group, client id and place."""
        key = ("consumer_file", cluster, since, until)
        if key not in self._read:
            rows = self._rows(
                "stored_offsets", cluster, since - FILES_REACH, until, FILED, pc.field("kind") == "consumer_file"
            )
            self._read[key] = _filed(rows, lambda row: (row["group"], row["client_id"], _place(row)))
        return self._read[key]

    def _rows(
        self,
        table: str,
        cluster: str,
        since: datetime,
        until: datetime,
        columns: Sequence[str],
        chosen: pc.Expression,
    ) -> list[dict[str, Any]]:
        time = pc.field("taken_at")
        end = until + MICROSECOND
        chosen = chosen & (time >= pa.scalar(since, TIME)) & (time < pa.scalar(end, TIME))

        def rows(files: list[str]) -> pa.Table:
            return reader.dataset(self.lake, table, files).to_table(columns=list(columns), filter=chosen)

        found = reader.steadily(self.lake, lambda: reader.files(self.lake, table, cluster, since, end), rows)
        return sorted(found.to_pylist(), key=lambda row: row["taken_at"])


def broker_offsets(groups: Collection[int]) -> dict[tuple[int, Place], int]:
    """As last read, by group id and place."""
    rows = QueueSnapshot.objects.filter(group__in=groups, broker_offset__isnull=False)
    names = ("group_id", "queue__topic__name", "queue__broker", "queue__queue_id", "broker_offset")
    return {(group, (topic, broker, queue)): end for group, topic, broker, queue, end in rows.values_list(*names)}


def _filed(rows: Sequence[dict[str, Any]], key: Any) -> Mapping[Any, Sequence[FileReading]]:
    found = defaultdict(list)
    for row in rows:
        if row["offset"] is not None and row["modified_at"] is not None:
            found[key(row)].append(FileReading(row["taken_at"], row["modified_at"], row["offset"]))
    return found


def _place(row: Mapping[str, Any]) -> Place:
    return row["topic"], row["broker"], row["queue_id"]
