"""Offsets of one group in the cluster's offset files: their rows in the lake, as they were last read."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow.compute as pc
from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext, gettext_lazy

from consumers.lake.moment import read_moment
from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup, OffsetFile, OffsetFileKind
from consumers.vocabulary.offset_files import FileCode
from consumers.words.offset_files import finding_words, problem_words, row_words

from .clients import behind
from .rows import BROKER_FILE, CONSUMER_FILE, FileRow, StoreRow

# RocketMQ 5.4.0, BrokerConfig.flushConsumerOffsetInterval.
BROKER_FILE_SECONDS = 5.0
COLUMNS = ("source", "kind", "broker", "client_id", "topic", "queue_id", "offset", "finding")
FROM_BACKUP = gettext_lazy("read from the backup file, which is one write older")
NO_OFFSET = gettext_lazy("the file has no offset of this queue")
NOT_KEPT = gettext_lazy("the content of the file is no longer retained")
NO_BROKER = gettext_lazy("the file does not name its broker")

QueueKey = tuple[str, str | None, int]  # topic, broker, queue id


@dataclass(frozen=True)
class Files:
    """`found`: files that may contain the group; `rows`: their offsets, by queue; `kept`: files whose rows
    are stored.
    """

    cluster: Cluster
    found: tuple[OffsetFile, ...]
    rows: dict[QueueKey, list[dict[str, Any]]]
    kept: frozenset[str]
    commit_seconds: float

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
        said = [self._store(row, broker_offset) for row in rows]
        kinds = {store.kind for store in said}
        if BROKER_FILE not in kinds and not is_broadcasting:
            said += self._silent_broker(key[1])
        if is_broadcasting:
            said += self._silent_consumers({store.source for store in said})
        return sorted(said, key=lambda store: (store.kind, store.source or ""))

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
            usual_period_seconds=self._period(row["kind"]),
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

    def _silent_consumers(self, spoke: set[str | None]) -> list[StoreRow]:
        files = [file for file in self.found if file.kind == CONSUMER_FILE]
        if not files:
            return [_absent(CONSUMER_FILE, self._no_file(gettext("no offset file of this group's clients was found")))]
        return [self._silent(file, CONSUMER_FILE) for file in files if file.path not in spoke]

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
            usual_period_seconds=self._period(kind),
        )

    def _period(self, kind: str) -> float:
        return BROKER_FILE_SECONDS if kind == BROKER_FILE else self.commit_seconds

    def _why_silent(self, file: OffsetFile) -> str:
        if file.kind == BROKER_FILE and file.broker is None:
            return str(NO_BROKER)
        return str(NO_OFFSET) if file.path in self.kept else str(NOT_KEPT)


def files_of(group: ConsumerGroup, commit_seconds: float) -> Files:
    """One query, plus this group's rows of each reading of files that is the newest of one of them."""
    of_group = Q(group_name=group.name) | ~Q(kind=OffsetFileKind.CONSUMER_FILE)
    found = tuple(OffsetFile.objects.filter(of_group, cluster=group.cluster))
    newest = {file.path: file.read_at for file in found if file.read_at is not None}
    rows: dict[QueueKey, list[dict[str, Any]]] = defaultdict(list)
    kept: set[datetime] = set()
    for read_at in sorted(set(newest.values())):
        read = _read(group, read_at)
        if read is not None:
            kept.add(read_at)
        for row in read or ():
            if newest.get(row["source"]) == read_at and row["topic"] is not None and row["queue_id"] is not None:
                rows[row["topic"], row["broker"], row["queue_id"]].append(row)
    there = frozenset(path for path, read_at in newest.items() if read_at in kept)
    return Files(group.cluster, found, rows, there, commit_seconds)


def _read(group: ConsumerGroup, read_at: datetime) -> list[dict[str, Any]] | None:
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
