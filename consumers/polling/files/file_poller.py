"""A cluster's offset files, read while its offsets are: compared with the offsets, then recorded."""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.store import Lake
from consumers.models import Client, Cluster
from consumers.polling.memory import BrokerMemory, ClusterMemory
from consumers.polling.reading import BrokerReading, OffsetsReading
from consumers.polling.record.offset_files import (
    forget_files,
    known_paths,
    note_silence,
    record_files,
    remembered_files,
)
from consumers.stores.checks.compared import MemoryOffsets, assign_brokers, mark_vanished, mark_went_back
from consumers.stores.checks.known_names import KnownNames, PresentMembers, mark_abandoned, mark_unknown_names
from consumers.stores.files.stored_file import StoredFile

from .offset_files import FileLimits, FilesReading, OffsetFileThread, read_files

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


logger = logging.getLogger(__name__)


class OffsetFilePoller:
    """One per cluster and process. Without globs it only forgets what was recorded before."""

    def __init__(self, cluster: Cluster, limits: FileLimits) -> None:
        self._cluster = cluster
        self._thread = OffsetFileThread(lambda known, now: read_files(cluster.offset_files, known, limits, now), limits)
        self._deadline_seconds = limits.deadline_seconds
        self._before: dict[str, StoredFile] | None = None
        self._memory_before: dict[str, MemoryOffsets] = {}

    def begin(self, now: datetime) -> None:
        """Starts a reading if one is due."""
        if not self._thread.is_due(now):
            return
        if self._cluster.offset_files.strip():
            self._thread.begin(known_paths(self._cluster, now), now)
        else:
            forget_files(self._cluster, kept=())

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
        marked = mark_went_back(file, before, memory.get(broker), self._memory_before.get(broker))
        marked = mark_vanished(marked, before, memory.get(broker))
        return mark_abandoned(mark_unknown_names(marked, known), known, now)
