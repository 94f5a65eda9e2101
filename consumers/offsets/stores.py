"""The offset stores of one group compared: the broker's memory, its file, the clients' files, their memory."""

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow.compute as pc
from django.conf import settings
from django.db.models import Max, Q
from django.utils.translation import gettext, gettext_lazy

from consumers.lake.reader import read_moment
from consumers.lake.store import Lake
from consumers.models import (
    Cluster,
    ConsumerGroup,
    OffsetFile,
    OffsetFileKind,
    Queue,
    QueueSample,
    QueueSnapshot,
    TopicKind,
)
from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.flags import outside_reason
from consumers.queries.declared import unknown_of
from consumers.queries.limits import BrokerAge, Limits, broker_ages, limits
from consumers.queries.queues.overlay import OWN_DEAD_LETTERS, Offsets, offsets, unread_reason
from consumers.queries.queues.starts import start_without_offset
from consumers.stores.exposure import NUMBERS, Exposure, Stored, exposure
from consumers.stores.start import Start
from consumers.vocabulary.offset_files import FileCode
from consumers.vocabulary.states import MASTER, UnknownReason
from consumers.words.offset_files import finding_words, problem_words, row_words
from consumers.words.reasons import stored_words

from .clients import (
    BROKER_FILE,
    BROKER_MEMORY,
    CONSUMER_FILE,
    FileRow,
    GroupOffsets,
    Members,
    OffsetRow,
    StoreRow,
    behind,
    members_of,
)

COLUMNS = ("source", "kind", "broker", "client_id", "topic", "queue_id", "offset", "finding")
FROM_BACKUP = gettext_lazy("read from the backup file, which is one write older")
NO_OFFSET_IN_FILE = gettext_lazy("the file has no offset of this queue")
NOT_KEPT = gettext_lazy("the content of the file is no longer retained")
NO_BROKER = gettext_lazy("the file does not name its broker")

QueueKey = tuple[str, str | None, int]  # topic, broker, queue id


@dataclass(frozen=True)
class Files:
    """`found`: files that may contain the group; `rows`: their offsets, by queue; `kept`: files whose rows
    are stored; `flush_seconds`: how often each broker writes its file, where its configuration was read.
    """

    cluster: Cluster
    found: tuple[OffsetFile, ...]
    rows: dict[QueueKey, list[dict[str, Any]]]
    kept: frozenset[str]
    commit_seconds: float
    flush_seconds: dict[str | None, float]

    @property
    def names_files(self) -> bool:
        return bool(self.cluster.offset_files)

    def file_rows(self) -> list[FileRow]:
        names = FileRow.__dataclass_fields__.keys() - {"findings", "error"}
        return [
            FileRow(
                **{name: getattr(file, name) for name in names},
                findings=[_described(finding) for finding in file.findings],
                error=problem_words(file.error),
            )
            for file in self.found
        ]

    def stores(self, key: QueueKey, is_broadcasting: bool, broker_offset: int | None) -> list[StoreRow]:
        """The stores of a queue by file. Where files should contain the queue but do not, one store that says why."""
        rows = self.rows.get(key, [])
        shown = [self._store(row, broker_offset) for row in rows]
        kinds = {store.kind for store in shown}
        if BROKER_FILE not in kinds and not is_broadcasting:
            shown += self._silent_broker(key[1])
        if is_broadcasting:
            shown += self._silent_consumers({store.source for store in shown})
        return sorted(shown, key=lambda store: (store.kind, store.source or ""))

    def _store(self, row: dict[str, Any], broker_offset: int | None) -> StoreRow:
        file = next(file for file in self.found if file.path == row["source"])
        backup = str(FROM_BACKUP) if file.from_backup else None
        problem = problem_words(file.error)
        stale = gettext("last content before a failed read: %(error)s") % {"error": problem} if problem else None
        return StoreRow(
            kind=row["kind"],
            offset=row["offset"],
            at=file.read_at,
            source=file.path,
            client_id=row["client_id"],
            finding="; ".join(filter(None, (row_words(row["finding"]), backup, stale))) or None,
            persisted_at=file.modified_at,
            usual_period_seconds=self._period(row["kind"], row["broker"]),
            # Nobody consumes from there any more: the distance is nobody's lag.
            lag_messages=None if _is_left_behind(file) else behind(row["offset"], broker_offset),
        )

    def _silent_broker(self, broker: str | None) -> list[StoreRow]:
        files = [file for file in self.found if file.kind == BROKER_FILE and file.broker in (broker, None)]
        if not files:
            return [
                _absent(
                    BROKER_FILE, self._no_file(gettext("no offset file of %(broker)s was found") % {"broker": broker})
                )
            ]
        return [self._silent(file, BROKER_FILE) for file in files]

    def _silent_consumers(self, sources: set[str | None]) -> list[StoreRow]:
        files = [file for file in self.found if file.kind == CONSUMER_FILE]
        if not files:
            return [_absent(CONSUMER_FILE, self._no_file(gettext("no offset file of this group's clients was found")))]
        return [self._silent(file, CONSUMER_FILE) for file in files if file.path not in sources]

    def _no_file(self, otherwise: str) -> str:
        if self.names_files:
            return otherwise
        return gettext(
            "no offset files are configured. To name them: manage.py cluster add %(cluster)s --offset-files GLOB"
        ) % {"cluster": self.cluster.name}

    def _silent(self, file: OffsetFile, kind: str) -> StoreRow:
        return StoreRow(
            kind=kind,
            offset=None,
            at=file.read_at,
            source=file.path,
            client_id=file.client_id,
            finding=problem_words(file.error) or self._why_silent(file),
            persisted_at=file.modified_at,
            usual_period_seconds=self._period(kind, file.broker),
        )

    def _period(self, kind: str, broker: str | None) -> float | None:
        return self.flush_seconds.get(broker) if kind == BROKER_FILE else self.commit_seconds

    def _why_silent(self, file: OffsetFile) -> str:
        if file.kind == BROKER_FILE and file.broker is None:
            return str(NO_BROKER)
        return str(NO_OFFSET_IN_FILE) if file.path in self.kept else str(NOT_KEPT)


def files_of(group: ConsumerGroup, commit_seconds: float) -> Files:
    """Two queries, plus this group's rows of each reading of files that is the newest of one of them."""
    of_group = Q(group_name=group.name) | ~Q(kind=OffsetFileKind.CONSUMER_FILE)
    found = tuple(OffsetFile.objects.filter(of_group, cluster=group.cluster))
    newest = {file.path: file.read_at for file in found if file.read_at is not None}
    rows: dict[QueueKey, list[dict[str, Any]]] = defaultdict(list)
    kept: set[datetime] = set()
    for read_at in sorted(set(newest.values())):
        read = _read_files(group, read_at)
        if read is not None:
            kept.add(read_at)
        for row in read or ():
            if newest.get(row["source"]) == read_at and row["topic"] is not None and row["queue_id"] is not None:
                rows[row["topic"], row["broker"], row["queue_id"]].append(row)
    there = frozenset(path for path, read_at in newest.items() if read_at in kept)
    return Files(group.cluster, found, rows, there, commit_seconds, flush_seconds(group.cluster))


def flush_seconds(cluster: Cluster) -> dict[str | None, float]:
    """Brokers whose configuration was not read are left out. One query."""
    rows = cluster.brokers.filter(broker_id=MASTER).values_list("name", "flush_offsets_ms")
    return {name: milliseconds / 1000 for name, milliseconds in rows if milliseconds is not None}


def _read_files(group: ConsumerGroup, read_at: datetime) -> list[dict[str, Any]] | None:
    wanted = (pc.field("group") == group.name) & pc.field("kind").isin([BROKER_FILE, CONSUMER_FILE])
    lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
    read = read_moment(lake, "stored_offsets", group.cluster.name, read_at, COLUMNS, wanted)
    return None if read is None else list(read.to_pylist())


def _is_left_behind(file: OffsetFile) -> bool:
    return any(finding["code"] == FileCode.LEFT_BEHIND for finding in file.findings)


def _absent(kind: str, why: str) -> StoreRow:
    return StoreRow(kind=kind, offset=None, at=None, source=None, finding=why)


def _described(finding: dict[str, Any]) -> dict[str, Any]:
    """`name`: the part of the code by which programs know a finding."""
    name = finding["code"].partition(".")[0]
    return {"name": name, **finding, "sentence": finding_words(finding)}


# From each store's value of one queue to its row: every null with its reason.

NO_OFFSET = gettext_lazy("the broker's memory has no offset of this group")
EACH_ITS_OWN = gettext_lazy("broadcasting: each member continues from its own file")


@dataclass(frozen=True)
class Place:
    """A queue that some store knows. `pk` None: no reading has seen it; `snapshot` None: no reading has seen it for
    this group.
    """

    topic: str
    broker: str | None
    queue_id: int
    pk: int | None
    snapshot: QueueSnapshot | None
    broker_offset: int | None

    @classmethod
    def of(cls, queue: Queue, snapshot: QueueSnapshot | None, broker_offset: int | None) -> "Place":
        return cls(queue.topic.name, queue.broker, queue.queue_id, queue.pk, snapshot, broker_offset)


@dataclass(frozen=True)
class OffsetContext:
    """The values that all queues of a group share. `samples` by the queue's key in the database."""

    group: ConsumerGroup
    brokers: dict[str, BrokerAge]
    members: Members
    files: Files
    samples: dict[int, QueueSample]
    now: datetime
    limits: Limits
    max_age: timedelta


# The broker has no offset, so that nothing can be redelivered from one.
EMPTY = (UnknownReason.NEVER_COMMITTED, UnknownReason.OFFSET_LOST)


def offset_row(place: Place, context: OffsetContext) -> OffsetRow:
    broker = context.brokers.get(place.broker) if place.broker is not None else None
    read = _read(place, broker, context)
    memory = _memory(place, broker, read, context)
    files = context.files.stores(
        (place.topic, place.broker, place.queue_id), context.members.is_broadcasting, read.broker_offset
    )
    exposed = _in_words(_exposure(place, read, memory, files, context))
    start = _start(place, read, context)
    values = {"min_offset": read.min_offset, "broker_offset": read.broker_offset, "would_start_at": start.offset}
    why = {
        "min_offset": read.reason if read.unread and read.reason else gettext("the min offset was not read"),
        "broker_offset": read.reason or gettext("the broker offset was not read"),
        "would_start_at": stored_words(start.reason) or "",
    }
    taken_at = broker.last_read_at if broker else None
    unknown = unknown_of(values, why)
    unknown |= {f"exposure.{name}": exposed.unknown[name] for name in NUMBERS if name in exposed.unknown}
    if taken_at is None:
        unknown["taken_at"] = read.reason or gettext("not read")
    if read.unread:
        unknown["never_committed"] = read.reason or gettext("not read")
    return OffsetRow(
        topic=place.topic,
        broker=place.broker,
        queue_id=place.queue_id,
        kind=kind_in_group(context.group.name, place.topic),
        stores=[memory, *files, *context.members.stores(place.pk, read.broker_offset)],
        exposure=exposed,
        would_start_rule=stored_words(start.rule),
        never_committed=None if read.unread else _is_never_committed(place, read),
        taken_at=taken_at,
        unknown=unknown,
        **values,
    )


def _read(place: Place, broker: BrokerAge | None, context: OffsetContext) -> Offsets:
    if place.snapshot is not None:
        return offsets(place.snapshot, broker, context.now, context.limits)
    unread = unread_reason(place.broker, broker, context.now, context.limits) if place.broker else str(NO_BROKER)
    end = place.broker_offset if unread is None else None
    return Offsets(None, end, None, None, None, None, None, None, unread or str(NO_OFFSET), unread is not None)


def _memory(place: Place, broker: BrokerAge | None, read: Offsets, context: OffsetContext) -> StoreRow:
    return StoreRow(
        kind=BROKER_MEMORY,
        offset=read.consumer_offset,
        at=broker.last_read_at if broker else None,
        source=place.broker,
        finding=read.reason or stored_words(outside_reason(context.group)),
        usual_period_seconds=context.members.commit_seconds,
        lag_messages=behind(read.consumer_offset, read.broker_offset),
    )


def _exposure(place: Place, read: Offsets, memory: StoreRow, files: list[StoreRow], context: OffsetContext) -> Exposure:
    if elsewhere := _elsewhere(context):
        return Exposure(unknown=dict.fromkeys(NUMBERS, elsewhere))
    file = next((store for store in files if store.kind == BROKER_FILE), None)
    return exposure(
        Stored(memory.offset, memory.at, memory.finding, is_empty=read.code in EMPTY),
        Stored(file.offset, file.at, file.finding) if file else Stored(None, None, str(NO_BROKER)),
        context.members.held.get(place.pk, ()) if place.pk is not None else (),
        context.members.no_owner,
        context.now,
        context.max_age,
        read.broker_offset,
    )


def _in_words(exposed: Exposure) -> Exposure:
    unknown = {name: stored_words(why) for name, why in exposed.unknown.items()}
    return replace(exposed, unknown=unknown, notes=tuple(map(stored_words, exposed.notes)))


def _elsewhere(context: OffsetContext) -> str | None:
    """Why members do not resume from the offsets on brokers; None where they do."""
    return str(EACH_ITS_OWN) if context.members.is_broadcasting else stored_words(outside_reason(context.group))


def _is_never_committed(place: Place, read: Offsets) -> bool:
    return read.consumer_offset is None and not read.unread and read.code == UnknownReason.NEVER_COMMITTED


def _start(place: Place, read: Offsets, context: OffsetContext) -> Start:
    kind = kind_in_group(context.group.name, place.topic)
    if kind == TopicKind.DLQ:
        return Start(None, str(OWN_DEAD_LETTERS), str(OWN_DEAD_LETTERS))
    if elsewhere := _elsewhere(context):
        return Start(None, elsewhere, elsewhere)
    if not _is_never_committed(place, read) and read.code != UnknownReason.OFFSET_LOST:
        return _after_commit(read)
    sample = context.samples.get(place.pk) if place.pk is not None else None
    return start_without_offset(kind, context.group.consume_from_where, context.members.start, read, sample)


def _after_commit(read: Offsets) -> Start:
    """A committed offset always takes precedence; an offset out of range is moved by the first pull."""
    if read.consumer_offset is None or read.reason is not None:
        return Start(None, gettext("the committed offset"), read.reason or gettext("the consumer offset was not read"))
    if read.min_offset is not None and read.min_offset > read.consumer_offset:
        return Start(read.min_offset, gettext("the committed offset, moved up to the min offset"))
    return Start(read.consumer_offset, gettext("the committed offset"))


def group_offsets(group: ConsumerGroup, *, now: datetime, topic: str | None = None) -> GroupOffsets:
    """Every queue that any of the stores knows, in order of topic, broker and id. A fixed number of queries."""
    members = members_of(group)
    files = files_of(group, members.commit_seconds)
    bounds = limits()
    context = OffsetContext(
        group=group,
        brokers={broker.name: broker for broker in broker_ages([group.cluster_id])[group.cluster_id].brokers},
        members=members,
        files=files,
        samples={sample.queue_id: sample for sample in QueueSample.objects.filter(group=group, offset=None)},
        now=now,
        limits=bounds,
        max_age=timedelta(seconds=bounds.late_seconds),
    )
    places = _places(group, members, files, topic)
    return GroupOffsets(
        rows=[offset_row(place, context) for place in places],
        files=files.file_rows(),
        names_files=files.names_files,
        is_broadcasting=members.is_broadcasting,
        is_popping=members.is_popping,
        pops=members.pops(),
        pop_unknown=members.pop_unknown() if members.is_popping else None,
        commit_interval_seconds=members.reported_commit_seconds,
    )


def _places(group: ConsumerGroup, members: Members, files: Files, topic: str | None) -> list[Place]:
    """The broker offset of a queue without a snapshot of this group comes from another group's snapshot."""
    places: dict[QueueKey, Place] = {}
    for snapshot in QueueSnapshot.objects.filter(group=group).select_related("queue__topic"):
        queue = snapshot.queue
        places[queue.topic.name, queue.broker, queue.queue_id] = Place.of(queue, snapshot, snapshot.broker_offset)
    seen = {place.pk for place in places.values()}
    held = Queue.objects.filter(pk__in=members.held.keys() - seen).select_related("topic")
    for queue in held.annotate(end=Max("snapshots__broker_offset")):
        places[queue.topic.name, queue.broker, queue.queue_id] = Place.of(queue, None, queue.end)
    for key in files.rows.keys() - places.keys():
        places[key] = Place(*key, pk=None, snapshot=None, broker_offset=None)
    chosen = [place for place in places.values() if topic in (None, place.topic)]
    return sorted(chosen, key=lambda place: (place.topic, place.broker or "", place.queue_id))
