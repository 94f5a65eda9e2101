"""Rows of queues' states as a run found them. Compared by column with what is stored: only differences are written."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import Count, Max, QuerySet

from consumers.lake.schemas import TEXT
from consumers.models import Cluster, ConsumerGroup, GroupState, Queue, QueueState, State
from consumers.pipeline.kernel.columns import GROUP, QUEUE, TOPIC_QUEUE, beside, matches
from consumers.pipeline.kernel.readings import with_encoded_names
from consumers.polling.record.keyed_rows import BATCH, upsert

from .plain_rows import plain_batches
from .slices import floor
from .volumes import HOUR

COMPARED = ["state", "rule", "provisional", "time_lag_seconds", "time_lag_kind"]
GROUP_IDS = pa.schema([("cluster", TEXT), ("group", TEXT), ("group_id", pa.int64())])
QUEUE_IDS = pa.schema(
    [("cluster", TEXT), ("topic", TEXT), ("broker", TEXT), ("queue_id", pa.int32()), ("queue_pk", pa.int64())]
)
QUEUE_FIELDS = ["topic__cluster__name", "topic__name", "broker", "queue_id", "id"]
STATE_KEY = ["group_id", "queue_pk"]
STORED = pa.schema(
    [
        ("group_id", pa.int64()),
        ("queue_pk", pa.int64()),
        ("was_state", TEXT),
        ("was_rule", TEXT),
        ("was_provisional", pa.bool_()),
        ("was_time_lag_seconds", pa.float64()),
        ("was_time_lag_kind", TEXT),
    ]
)
PLACED = pa.schema([STORED.field(name).with_name(name.removeprefix("was_")) for name in STORED.names])


@dataclass
class QueueIds:
    """The keys of queues' rows by their names, kept from run to run of a process: to read a million takes seconds.
    A row never changes its names, and a key is given once: the same number of rows up to the same key are the same."""

    table: pa.Table = field(default_factory=QUEUE_IDS.empty_table)
    of_rows: tuple[object, ...] = ()

    def of(self, clusters: Sequence[str]) -> pa.Table:
        rows = Queue.objects.filter(topic__cluster__name__in=clusters)
        found = Queue.objects.aggregate(count=Count("pk"), newest=Max("pk"))
        named = tuple(Cluster.objects.order_by("pk").values_list("pk", "name"))
        of_rows = (*clusters, *named, found["count"], found["newest"])
        if of_rows != self.of_rows:
            self.table = with_encoded_names(_read(rows, QUEUE_FIELDS, QUEUE_IDS))
            self.of_rows = of_rows
        return self.table


@dataclass
class PlacedNames:
    """Names of a part of the judged queues, the keys that they were looked up in, and those that were found."""

    names: tuple[pa.Table, ...]
    keys: pa.Table


@dataclass
class StateRows:
    """The stored rows of queue states, and the place of each evaluated queue among them. A process remembers them from
    run to run. It reads them again where rows appeared or disappeared, where another process ran, and once an hour."""

    rows: pa.Table = field(default_factory=STORED.empty_table)
    of_clusters: tuple[str, ...] = ()
    judged_at: datetime | None = None
    parts: list[PlacedNames] = field(default_factory=list)

    def taken(self, clusters: Sequence[str], judged_at: datetime) -> pa.Table:
        """For a run that puts back what it leaves: after one that failed half-way they are read again."""
        was, self.judged_at = self.judged_at, None
        is_kept = (
            was is not None
            and self.of_clusters == tuple(clusters)
            and floor(was, HOUR) == floor(judged_at, HOUR)
            and GroupState.objects.aggregate(newest=Max("judged_at"))["newest"] == was
            and self._are_all(was)
        )
        if not is_kept:
            rows = QueueState.objects.filter(group__cluster__name__in=clusters)
            names = ["group_id", "queue_id", "state", "rule", "provisional", "time_lag_seconds", "time_lag_kind"]
            self.rows = _read(rows, names, STORED)
        self.of_clusters = tuple(clusters)
        return self.rows

    def _are_all(self, judged_at: datetime) -> bool:
        """No other process has written or deleted since, even one that ended before the states of groups."""
        found = QueueState.objects.aggregate(count=Count("pk"), newest=Max("judged_at"))
        return found["count"] == self.rows.num_rows and (found["newest"] or judged_at) <= judged_at

    def put_back(self, placed: pa.Table, others: pa.Table, judged_at: datetime) -> None:
        """`placed` were judged, `others` have rows all the same."""
        self.rows = pa.concat_tables([placed.rename_columns(STORED.names), others]).combine_chunks()
        self.judged_at = judged_at

    def forget_after(self, parts: int) -> None:
        """The run before had more of them."""
        del self.parts[parts:]

    def placed(self, part: int, judged: pa.Table, group_ids: pa.Table, queue_ids: pa.Table) -> pa.Table:
        """The keys of each queue of a part, null where it has no row."""
        names = (judged.select(QUEUE), group_ids, queue_ids)
        part_rows = self.parts[part] if part < len(self.parts) else None
        if part_rows is None or any(not one.equals(was) for one, was in zip(names, part_rows.names, strict=True)):
            places = {"group_id": (group_ids, GROUP), "queue_pk": (_of_topics(queue_ids, judged), TOPIC_QUEUE)}
            found = {}
            for name, (keys, key) in places.items():
                place = matches(judged, keys, key)
                found[name] = keys[name].combine_chunks().take(pa.array(place, mask=place < 0))
            part_rows = PlacedNames(names, pa.table(found))
            self.parts[part : part + 1] = [part_rows]
        return part_rows.keys


def _of_topics(queue_ids: pa.Table, judged: pa.Table) -> pa.Table:
    """Those that may be among the judged: of a million keys a few thousand."""
    topics = pc.unique(pc.cast(judged["topic"], pa.string()))
    return queue_ids.filter(pc.is_in(pc.cast(queue_ids["topic"], pa.string()), value_set=topics))


class QueueStateWriting:
    """One run's states, a part of the groups after the other; all queues of a group are in one part.

    `kept`: what the run before this one left in this process. It holds again once `end` was called. `interrupted`: ids
    of groups that were unknown since their last evaluation: no state of theirs has lasted since before.
    """

    def __init__(
        self,
        clusters: Sequence[str],
        judged_at: datetime,
        queue_ids: pa.Table,
        remembered: StateRows | None = None,
        interrupted: Collection[int] = (),
    ) -> None:
        self._interrupted = pa.array(sorted(interrupted), pa.int64())
        self._kept, self._judged_at, self._queue_ids = remembered or StateRows(), judged_at, queue_ids
        self._stored = self._kept.taken(clusters, judged_at)
        groups = ConsumerGroup.objects.filter(cluster__name__in=clusters)
        self._group_ids = _read(groups, ["cluster__name", "name", "id"], GROUP_IDS)
        judged_later = GroupState.objects.filter(judged_at__gt=judged_at).values_list("group_id", flat=True)
        self._later = pa.array(sorted(judged_later), pa.int64())
        self._placed: list[pa.Table] = []

    def write(self, judged: pa.Table) -> int:
        """Returns the number of queues that have rows of the poll. The others are written once they have."""
        placed = self._placed_rows(judged)
        compared = beside(placed, self._stored_of(placed), STATE_KEY)
        begins_anew = pc.is_in(compared["group_id"], value_set=self._interrupted)
        begins_anew = pc.and_(begins_anew, pc.not_equal(compared["state"], State.UNKNOWN.value))
        chosen = pc.or_(_has_changed(compared), begins_anew)
        changed = compared.filter(chosen)
        # A state that stays has its old beginning, whatever its newest evidence reaches back to.
        stays = pc.fill_null(pc.equal(changed["state"], changed["was_state"]), False)
        stays = pc.and_(stays, pc.invert(begins_anew.filter(chosen)))
        _upsert(changed.filter(stays), self._judged_at, keep=["since"])
        _upsert(changed.filter(pc.invert(stays)), self._judged_at)
        self._placed.append(placed.select(PLACED.names).cast(PLACED))
        return placed.num_rows

    def end(self) -> None:
        """Deletes states of queues that the brokers no longer list for the group: their topic, offset or group was
        deleted. What was judged later stays."""
        placed = pa.concat_tables([PLACED.empty_table(), *self._placed]).combine_chunks()
        others = self._stored.filter(pa.array(matches(self._stored, placed, STATE_KEY) < 0))
        is_later = pc.is_in(others["group_id"], value_set=self._later)
        for row in others.filter(pc.invert(is_later)).to_pylist():
            QueueState.objects.filter(group_id=row["group_id"], queue_id=row["queue_pk"]).delete()
        self._kept.put_back(placed, others.filter(is_later), self._judged_at)
        self._kept.forget_after(len(self._placed))

    def _placed_rows(self, judged: pa.Table) -> pa.Table:
        """Without those that have no row of their group or queue, and those that were judged later."""
        keys = self._kept.placed(len(self._placed), judged, self._group_ids, self._queue_ids)
        columns = judged.select(["detail", "since", "time_lag_error_seconds", *COMPARED])
        for name in keys.column_names:
            columns = columns.append_column(name, keys[name])
        is_placed = pc.and_(*(pc.is_valid(column) for column in keys.columns))
        if len(self._later):
            is_later = pc.is_in(keys["group_id"], value_set=self._later)
            is_placed = pc.and_(is_placed, pc.invert(is_later))
        return columns if pc.all(is_placed).as_py() else columns.filter(is_placed)

    def _stored_of(self, placed: pa.Table) -> pa.Table:
        """The stored rows of the same groups: mostly the run before left them at the same place."""
        here = self._stored.slice(sum(part.num_rows for part in self._placed), placed.num_rows)
        if all(here[name].equals(placed[name]) for name in STATE_KEY):
            return here
        return self._stored.filter(pc.is_in(self._stored["group_id"], value_set=pc.unique(placed["group_id"])))


def _read(rows: QuerySet, names: list[str], schema: pa.Schema) -> pa.Table:
    found = [schema.empty_table()]
    for batch in plain_batches(rows, *names):
        columns = zip(zip(*batch, strict=True), schema, strict=True)
        # SQLite has numbers for no and yes.
        found.append(pa.table([pa.array(column).cast(field.type) for column, field in columns], schema=schema))
    return pa.concat_tables(found).combine_chunks()


def _has_changed(compared: pa.Table) -> pa.ChunkedArray:
    changed = pc.is_null(compared["was_state"])
    for name in COMPARED:
        now, was = compared[name], compared[f"was_{name}"]
        # Null beside a value is a difference; null beside null is none.
        differs = pc.coalesce(pc.not_equal(now, was), pc.not_equal(pc.is_null(now), pc.is_null(was)))
        changed = pc.or_(changed, differs)
    return changed


def _upsert(rows: pa.Table, judged_at: datetime, keep: Sequence[str] = ()) -> None:
    """A batch at a time: as Python objects a million rows take a gigabyte."""
    names = ["detail", "time_lag_error_seconds", *COMPARED]
    for start in range(0, rows.num_rows, BATCH):
        batch = rows.slice(start, BATCH)
        columns: dict[str, Sequence[Any]] = {
            "group": batch["group_id"].to_pylist(),
            "queue": batch["queue_pk"].to_pylist(),
            "since": [since or judged_at for since in batch["since"].to_pylist()],
            "judged_at": [judged_at] * batch.num_rows,
            **{name: batch[name].to_pylist() for name in names},
        }
        upsert(QueueState, ["group", "queue"], columns, keep=keep)
