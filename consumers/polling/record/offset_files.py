"""Stores offset files as rows, and their offsets as one history-store file per reading."""

import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction

from consumers.lake.moment import read_moment
from consumers.lake.paths import file_name, hour_folder
from consumers.lake.schemas import STORED_OFFSETS, TEXT, TIME
from consumers.lake.store import Lake
from consumers.models import Cluster, OffsetFile
from consumers.polling.files.offset_files import FilesReading
from consumers.stores.files.places import LONGEST_PATH
from consumers.stores.files.problems import Problem
from consumers.stores.files.stored_file import ROWS, StoredFile
from consumers.vocabulary.offset_files import FileCode

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
        forget_files(cluster, kept=[str(file.path) for file in reading.files])


def forget_files(cluster: Cluster, kept: Collection[str]) -> None:
    cluster.files.exclude(path__in=kept).delete()


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
