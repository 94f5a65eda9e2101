"""A cluster's offset files, read while its offsets are: compared with the offsets, then recorded."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction

from consumers.lake.reader import read_moment
from consumers.lake.schemas import STORED_OFFSETS, TEXT, TIME
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.models import Client, Cluster, OffsetFile
from consumers.stores.checks import (
    KnownNames,
    MemoryOffsets,
    PresentMembers,
    assign_brokers,
    mark_abandoned,
    mark_unknown_names,
    mark_vanished,
    mark_went_back,
)
from consumers.stores.files.problems import Problem
from consumers.stores.files.read_file import read_offset_file
from consumers.stores.files.stored_file import (
    LONGEST_PATH,
    ROWS,
    StoredFile,
    WrongFileGlob,
    find_files,
    parse_offset_files,
)
from consumers.vocabulary.offset_files import FileCode
from consumers.vocabulary.states import MASTER

from .memory import BrokerMemory, ClusterMemory
from .reading import BrokerReading, OffsetsReading

# One reading of a cluster's offset files, in its own thread: a mount that hangs must not delay the offsets.
MEBIBYTE = 1024 * 1024
# The total wait for files that are being rewritten. Dozens may be missing at once if a disk is not mounted.
PATIENCE_SECONDS = 3.0


@dataclass(frozen=True)
class FileLimits:
    """Folders, cadence, number and size of files, and how long other work waits for a reading."""

    folders: tuple[str, ...]
    seconds: float = 60.0
    files: int = 200
    mebibytes: float = 64.0
    deadline_seconds: float = 10.0


@dataclass(frozen=True)
class FilesReading:
    """Files found at `taken_at`. `named`: each path with the broker that its glob names; None if the glob
    names none.
    """

    taken_at: datetime
    files: tuple[StoredFile, ...]
    named: dict[str, str | None]


def read_files(
    globs: str, known: Sequence[str], limits: FileLimits, now: datetime, sleep: Callable[[float], None] = time.sleep
) -> FilesReading:
    """`globs` as the cluster's row holds them. Errors in globs or files are results; nothing is raised."""
    try:
        found = find_files(parse_offset_files(globs), known, limits.files, limits.folders)
    except WrongFileGlob as error:
        return FilesReading(now, (StoredFile(Path(globs), error=Problem(FileCode.GLOB, {"detail": str(error)})),), {})
    patience = _Patience(PATIENCE_SECONDS, sleep)
    largest = int(limits.mebibytes * MEBIBYTE)
    read = [read_offset_file(path, now, largest, patience.wait, limits.folders) for path in found.brokers]
    return FilesReading(now, (*read, *found.failures), {str(path): broker for path, broker in found.brokers.items()})


class _Patience:
    """Waits as asked until all its seconds are used up, then not at all."""

    def __init__(self, seconds: float, sleep: Callable[[float], None]) -> None:
        self._left = seconds
        self._sleep = sleep

    def wait(self, seconds: float) -> None:
        if seconds <= self._left:
            self._left -= seconds
            self._sleep(seconds)


class OffsetFileThread:
    """Runs at most one reading at a time. A hanging reading is waited for once, for `deadline_seconds`; later calls
    only check.
    """

    def __init__(self, read: Callable[[Sequence[str], datetime], FilesReading], limits: FileLimits) -> None:
        self._read = read
        self._limits = limits
        self._began: datetime | None = None
        self._pending: Future[FilesReading] | None = None
        self._patience_seconds = 0.0

    def is_due(self, now: datetime) -> bool:
        every = timedelta(seconds=self._limits.seconds)
        return self._pending is None and (self._began is None or now - self._began >= every)

    def begin(self, known: Sequence[str], now: datetime) -> None:
        self._began, self._pending = now, Future()
        self._patience_seconds = self._limits.deadline_seconds
        arguments = (self._pending, known, now)
        threading.Thread(target=self._run, args=arguments, name="offset-files", daemon=True).start()

    def finish(self) -> FilesReading | None:
        """The files; None if no reading was begun. Raises TimeoutError while the reading runs."""
        if self._pending is None:
            return None
        pending = self._pending
        if not wait([pending], self._patience_seconds).done:
            self._patience_seconds = 0.0
            raise TimeoutError
        self._pending = None
        return pending.result()

    def _run(self, pending: "Future[FilesReading]", known: Sequence[str], now: datetime) -> None:
        try:
            pending.set_result(self._read(known, now))
        except Exception as error:
            # The error is raised where the result is requested.
            pending.set_exception(error)


# Stores offset files as rows, and their offsets as one history-store file per reading.

logger = logging.getLogger(__name__)

TABLE = "stored_offsets"
# A file that is gone for this long does not return; until then its row says that the file is gone.
GONE_FOR = timedelta(days=7)
FIELDS = (
    "kind", "broker", "client_id", "group_name", "modified_at", "read_at", "rows", "from_backup", "findings", "error",
)  # fmt: skip


def known_paths(cluster: Cluster, now: datetime) -> list[str]:
    """The files that were read within the last days, whether or not they still exist."""
    return list(cluster.files.filter(read_at__gt=now - GONE_FOR).values_list("path", flat=True))


def record_files(cluster: Cluster, reading: FilesReading, lake: Lake | None) -> None:
    """Writes the history store first: a row's `read_at` promises that its offsets are there."""
    stored = lake is not None and _write(cluster, reading, lake)
    rows = {row.path: row for row in cluster.files.all()}
    made, changed = [], []
    for file in reading.files:
        row = rows.get(str(file.path))
        if row is None:
            made.append(_fill(OffsetFile(cluster=cluster, path=str(file.path)), file, reading.taken_at, stored))
        else:
            changed.append(_fill(row, file, reading.taken_at, stored))
    with transaction.atomic():
        OffsetFile.objects.bulk_create(made)
        OffsetFile.objects.bulk_update(changed, FIELDS)
        forget_files(cluster, present=[str(file.path) for file in reading.files])


def forget_files(cluster: Cluster, present: Collection[str]) -> None:
    cluster.files.exclude(path__in=present).delete()


def note_silence(cluster: Cluster, seconds: float) -> None:
    """Earlier values stay, with their time. If there were none, the globs themselves become the row."""
    problem = Problem(FileCode.NO_ANSWER, {"seconds": f"{seconds:g}"}).stored()
    if not cluster.files.exists():
        OffsetFile.objects.create(cluster=cluster, path=cluster.offset_files[:LONGEST_PATH])
    cluster.files.exclude(error=problem).update(error=problem)


def _fill(row: OffsetFile, file: StoredFile, taken_at: datetime, stored: bool) -> OffsetFile:
    """A file that was not read or not stored leaves the known values, as of `read_at`, and adds the error."""
    row.kind = file.kind or row.kind
    row.broker = file.broker or row.broker
    row.client_id, row.group_name = file.client_id or row.client_id, file.group or row.group_name
    row.error = None if file.error is None else file.error.stored()
    if file.rows is None:
        return row
    if not stored:
        row.error = Problem(FileCode.NOT_STORED).stored()
        return row
    row.broker, row.client_id, row.group_name = file.broker, file.client_id, file.group
    row.modified_at, row.from_backup, row.rows = file.modified_at, file.from_backup, file.rows.num_rows
    row.findings = [finding.members() for finding in file.findings]
    row.read_at = taken_at
    return row


def _write(cluster: Cluster, reading: FilesReading, lake: Lake) -> bool:
    """Whether the offsets are in the history store; a reading without a row has nothing to write."""
    tables = [file.table() for file in reading.files if file.rows is not None]
    rows = pa.concat_tables(tables) if tables else None
    if rows is None or not rows.num_rows:
        return True
    columns = {
        "cluster": pa.repeat(pa.scalar(cluster.name, TEXT), rows.num_rows),
        "taken_at": pa.repeat(pa.scalar(reading.taken_at, TIME), rows.num_rows),
    }
    for name, values in columns.items():
        rows = rows.append_column(name, values)
    folder = hour_folder(TABLE, cluster.name, reading.taken_at)
    try:
        lake.write(rows, f"{folder}/{file_name(reading.taken_at)}", STORED_OFFSETS)
    except (OSError, pa.ArrowException):
        logger.exception("The offsets of %s's files could not be written to the lake.", cluster)
        return False
    return True


def remembered_files(cluster: Cluster, lake: Lake | None) -> dict[str, StoredFile]:
    """The last read offsets of brokers' files, for a process that has read none yet."""
    if lake is None:
        return {}
    remembered = {}
    columns = ["group", "topic", "queue_id", "offset"]
    for row in cluster.files.filter(kind="broker_file"):
        if row.read_at is None:
            continue
        rows = read_moment(lake, TABLE, cluster.name, row.read_at, columns, pc.field("source") == row.path)
        if rows is not None:
            remembered[row.path] = _remembered(row, rows)
    return remembered


def _remembered(row: OffsetFile, rows: pa.Table) -> StoredFile:
    for name in ("broker", "finding"):
        rows = rows.append_column(name, pa.nulls(rows.num_rows, TEXT))
    return StoredFile(Path(row.path), kind="broker_file", rows=rows.select(ROWS.names), modified_at=row.modified_at)


# What the poll knows of a cluster, to compare its offset files with. None marks a partial reading.

# An older list of members does not prove who left.
MEMBERS_YOUNGER_THAN = timedelta(minutes=10)


def known_names(cluster: Cluster, offsets: OffsetsReading, memory: ClusterMemory, groups: Iterable[str]) -> KnownNames:
    """`groups`: the groups whose members matter."""
    brokers = frozenset(broker.name for broker in offsets.brokers) if offsets.error is None else None
    configured = [_configured(broker, memory) for broker in offsets.brokers]
    topics: frozenset[str] | None = None
    names: frozenset[str] | None = None
    whole = [known for known in configured if known is not None]
    if brokers and len(whole) == len(configured):
        topics = frozenset(name for known in whole for name in known.topics)
        names = frozenset(name for known in whole for name in known.groups)
    return KnownNames(topics, names, brokers, _members(cluster, groups, offsets.taken_at))


def _configured(broker: BrokerReading, memory: ClusterMemory) -> BrokerMemory | None:
    known = memory.slaves.get(broker.read_from) if broker.read_from else memory.brokers.get(broker.name)
    return known if known is not None and known.configured_at is not None else None


def _members(cluster: Cluster, groups: Iterable[str], now: datetime) -> dict[str, PresentMembers]:
    rows = list(cluster.groups.filter(name__in=set(groups)))
    present: dict[int, set[str]] = {row.pk: set() for row in rows}
    for group, client_id in Client.objects.filter(group__in=rows, gone_by=None).values_list("group_id", "client_id"):
        present[group].add(client_id)
    members = {}
    for row in rows:
        whole = row.membership_error is None and row.membership_at is not None
        fresh = row.membership_at is not None and now - row.membership_at <= MEMBERS_YOUNGER_THAN
        members[row.name] = PresentMembers(frozenset(present[row.pk]) if whole and fresh else None, row.message_model)
    return members


def memory_offsets(offsets: OffsetsReading) -> dict[str, MemoryOffsets]:
    """The offsets that each read broker holds in memory. A slave's offsets may be older than its master's file."""
    return {
        broker.name: MemoryOffsets(offsets.taken_at, _committed(broker.rows))
        for broker in offsets.brokers
        if broker.rows is not None and broker.read_from is None
    }


def _committed(rows: pa.Table) -> pa.Table:
    committed = rows.filter(pc.is_valid(rows["consumer_offset"]))
    columns = [committed[name] for name in ("group", "topic", "queue_id", "consumer_offset")]
    return pa.table(columns, names=["group", "topic", "queue_id", "offset"])


class OffsetFilePoller:
    """One per cluster and process. Without globs it only forgets what was recorded before."""

    def __init__(self, cluster: Cluster, limits: FileLimits) -> None:
        self._cluster = cluster
        self._thread = OffsetFileThread(lambda known, now: read_files(cluster.offset_files, known, limits, now), limits)
        self._deadline_seconds = limits.deadline_seconds
        self._before: dict[str, StoredFile] | None = None
        self._memory_before: dict[str, MemoryOffsets] = {}
        self._flush_offsets_ms: dict[str, int | None] = {}

    def begin(self, now: datetime) -> None:
        """Starts a reading if one is due."""
        if not self._thread.is_due(now):
            return
        if self._cluster.offset_files.strip():
            self._thread.begin(known_paths(self._cluster, now), now)
        else:
            forget_files(self._cluster, present=())

    def finish(self, offsets: OffsetsReading, memory: ClusterMemory, lake: Lake | None) -> FilesReading | None:
        """Records what was read since `begin`. Call after the offsets were recorded, so that a failure here costs no
        offsets.
        """
        try:
            reading = self._thread.finish()
        except TimeoutError:
            logger.warning("The offset files of %s are not read after %g s.", self._cluster, self._deadline_seconds)
            note_silence(self._cluster, self._deadline_seconds)
            return None
        if reading is None:
            return None
        judged = self._judge(reading, offsets, memory, lake)
        record_files(self._cluster, judged, lake)
        return judged

    def _judge(
        self, reading: FilesReading, offsets: OffsetsReading, memory: ClusterMemory, lake: Lake | None
    ) -> FilesReading:
        if self._before is None:
            self._before = self._remembered(lake)
        groups = {file.group for file in reading.files if file.group is not None}
        known = known_names(self._cluster, offsets, memory, groups)
        now = memory_offsets(offsets)
        masters = self._cluster.brokers.filter(broker_id=MASTER)
        self._flush_offsets_ms = dict(masters.values_list("name", "flush_offsets_ms"))
        files = assign_brokers(reading.files, reading.named, known.brokers)
        judged = tuple(self._judge_file(file, known, now, reading.taken_at) for file in files)
        if self._before is not None:
            self._before |= {
                str(file.path): file for file in files if file.rows is not None and file.kind == "broker_file"
            }
        self._memory_before = now
        return FilesReading(reading.taken_at, judged, reading.named)

    def _remembered(self, lake: Lake | None) -> dict[str, StoredFile] | None:
        """None while the history store cannot be read: the next reading asks again."""
        try:
            return remembered_files(self._cluster, lake)
        except (OSError, pa.ArrowException):
            logger.exception("What the offset files of %s held before cannot be read from the lake.", self._cluster)
            return None

    def _judge_file(
        self, file: StoredFile, known: KnownNames, memory: dict[str, MemoryOffsets], now: datetime
    ) -> StoredFile:
        before = (self._before or {}).get(str(file.path))
        broker = file.broker or ""
        memory_before, flush = self._memory_before.get(broker), self._flush_offsets_ms.get(broker)
        marked = mark_went_back(file, before, memory.get(broker), memory_before, flush)
        marked = mark_vanished(marked, before, memory.get(broker))
        return mark_abandoned(mark_unknown_names(marked, known), known, now)
