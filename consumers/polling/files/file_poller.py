"""A cluster's offset files beside its offsets: read meanwhile, then held against them, then recorded."""

import logging
from datetime import datetime

import pyarrow as pa

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.memory import ClusterMemory
from consumers.polling.reading import OffsetsReading
from consumers.polling.record.offset_files import (
    forget_files,
    known_paths,
    note_silence,
    record_files,
    remembered_files,
)
from consumers.stores.known_names import KnownNames, mark_abandoned, mark_unknown_names
from consumers.stores.owners import assign_brokers
from consumers.stores.stored_file import StoredFile
from consumers.stores.vanished import mark_vanished
from consumers.stores.went_back import MemoryOffsets, mark_went_back

from .file_facts import known_names, memory_offsets
from .offset_files import FileLimits, FilesReading, OffsetFileThread, read_files

logger = logging.getLogger(__name__)


class OffsetFilePoller:
    """One per cluster and process. Without globs it does nothing but forget what was recorded before."""

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
        """Records what was read since `begin`, after the offsets were recorded: a failure here costs them nothing."""
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
        """None while the lake cannot be read: then the next reading asks again."""
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
