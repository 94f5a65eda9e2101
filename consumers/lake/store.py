"""The lake's file system, and how a file is added to it: complete or not at all."""

import json
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

# A lake in S3, or in a store that speaks its protocol: what its URL may say, and a client that gives up in time.
#
# pyarrow reads such URLs too, but takes no time limits from them. The URL carries every setting because tasks of a
# Spark cluster open the lake by it. Credentials come from the URL or, better, from where AWS's own tools find them.

# A poll must not wait for much longer than until the next one: an upload that fails is tried once more by pyarrow when
# its stream is dropped.
CONNECT_SECONDS, SILENT_SECONDS, ATTEMPTS = 3.0, 4.0, 2
# Of pyarrow, which has 8: they wait for answers, and do nothing.
IO_THREADS = 16
OPTIONS: dict[str, Callable[[str], str | float | int]] = {
    "region": str,
    "scheme": str,
    "endpoint_override": str,
    "tls_ca_file_path": str,
    "connect_timeout": float,
    "request_timeout": float,
    "max_attempts": int,
}

NO_SUCH_OBJECT = ("AWS Error NO_SUCH_KEY", "AWS Error RESOURCE_NOT_FOUND")


class LakeUrlRefused(ValueError):
    """The URL of the lake says something that is not understood."""


def s3_filesystem(location: str, *, in_parts: bool = False) -> tuple[pafs.S3FileSystem, str]:
    """The client, and the bucket with the folder in it. `in_parts`: for files that are uploaded in several requests."""
    url = urlsplit(location)
    account, _, bucket = url.netloc.rpartition("@")
    if not bucket:
        raise LakeUrlRefused("CONSUMERSCOPE_LAKE names no bucket. Write it as s3://bucket/folder.")
    options = _options(url.query)
    if pa.io_thread_count() < IO_THREADS:
        pa.set_io_thread_count(IO_THREADS)
    attempts = int(options.pop("max_attempts", ATTEMPTS))
    limits = {"connect_timeout": CONNECT_SECONDS, "request_timeout": SILENT_SECONDS}
    if account:
        options["access_key"], options["secret_key"] = map(unquote, account.split(":", 1))
    if endpoint := os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"):
        options.setdefault("endpoint_override", endpoint)
    filesystem = pafs.S3FileSystem(
        **{**limits, **options},
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=attempts),
        # A file of a few MB is one request in place of three. One in parts that cannot be begun so late would be an
        # empty object, once its stream is closed: it is begun where it is opened.
        allow_delayed_open=not in_parts,
    )
    return filesystem, f"{bucket}{unquote(url.path)}"


def _options(query: str) -> dict[str, str | float | int]:
    options = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in OPTIONS:
            raise LakeUrlRefused(f"CONSUMERSCOPE_LAKE has an unknown option {name}. It may have {', '.join(OPTIONS)}.")
        try:
            options[name] = OPTIONS[name](value)
        except ValueError:
            raise LakeUrlRefused(f"CONSUMERSCOPE_LAKE: {name}={value} is no number.") from None
    return options


def is_gone(error: BaseException) -> bool:
    """Whether a file is not there any more. S3 tells of one that was deleted while it was read as of any other
    failure."""
    return isinstance(error, FileNotFoundError) or any(words in str(error) for words in NO_SUCH_OBJECT)


def is_of_the_store(error: BaseException) -> bool:
    """Whether the store did not answer, or refused: that says nothing of what a file holds."""
    return "AWS Error" in str(error)


ROWS_IN_GROUP = 1_000_000
# The file of a whole hour, in the folder of its parts.
COMPACTED = "hour.parquet"
# What is kept for months is packed tightly. A part is read again and again for an hour, and then deleted: it is packed
# as unpacks fastest.
TIGHTLY, QUICKLY = "zstd", "lz4"
# Each request waits for its answer: one after the other, an hour's parts would take minutes.
REQUESTS_AT_ONCE = 16
# pyarrow uploads in parts from 10 MB on, S3 takes parts from 5 MiB on.
LEAST_BYTES_IN_PARTS = 5 * 1024 * 1024


@dataclass(frozen=True)
class Lake:
    """A folder of any file system that pyarrow knows: a local path, s3://, hdfs://."""

    filesystem: pafs.FileSystem
    root: str
    # What it is opened by again elsewhere. It may hold a password.
    url: str = field(repr=False)

    @classmethod
    def at(cls, location: str) -> "Lake":
        if "://" not in location:
            return cls(pafs.LocalFileSystem(), location.rstrip("/"), f"file://{location.rstrip('/')}")
        if location.startswith(("s3://", "s3a://")):
            filesystem, root = s3_filesystem(location)
            return cls(filesystem, root.rstrip("/"), location)
        filesystem, root = pafs.FileSystem.from_uri(location)
        return cls(filesystem, root.rstrip("/"), location)

    @property
    def is_object_store(self) -> bool:
        """Objects appear whole and have no folders; to rename one is to copy it."""
        return self.filesystem.type_name in ("s3", "gcs", "abfs")

    def path(self, relative: str) -> str:
        return f"{self.root}/{relative}"

    def write(
        self,
        table: pa.Table,
        relative: str,
        schema: pa.Schema,
        row_group_size: int = ROWS_IN_GROUP,
        note: Mapping[str, str] | None = None,
    ) -> int:
        """One file of these rows. Returns their number. `note`: what the file says of them, as Parquet's metadata."""
        rows = stored_form(table, schema)
        with self.new_file(relative, rows.schema) as writer:
            writer.write_table(rows, row_group_size=row_group_size)
            if note:
                writer.add_key_value_metadata(dict(note))
        return table.num_rows

    @contextmanager
    def new_file(self, relative: str, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
        """A file that a reader finds whole once the block has ended. Where the block raises, or the process is killed,
        there is what was there before."""
        target = self.path(relative)
        folder, name = target.rsplit("/", 1)
        compression = TIGHTLY if name == COMPACTED else QUICKLY
        if self.is_object_store:
            with tempfile.TemporaryDirectory(prefix="consumerscope-lake-") as aside_folder:
                aside, local = f"{aside_folder}/{name}", pafs.LocalFileSystem()
                with parquet_writer(local, aside, schema, compression) as writer:
                    yield writer
                with pa.memory_map(aside) as content:
                    self._upload(content.read_buffer(), target)
            return
        self.filesystem.create_dir(folder, recursive=True)
        # Readers pass over names that begin with a dot.
        aside = f"{folder}/.{name}.{uuid.uuid4().hex}"
        try:
            with parquet_writer(self.filesystem, aside, schema, compression) as writer:
                yield writer
            self.put_in_place(aside, target)
        except BaseException:
            # On a full disk every try would leave as much as it still took.
            self.delete_files([aside])
            raise

    def _upload(self, content: pa.Buffer, target: str) -> None:
        """In one call, which nothing interrupts: pyarrow closes a stream that it drops, also after an exception, and
        what the stream got by then would be the object. Of a large file the parts are sent by threads (pyarrow's
        `background_writes`): after one that failed the others make no object, which they do without threads."""
        filesystem = self.filesystem
        if self.filesystem.type_name == "s3" and content.size >= LEAST_BYTES_IN_PARTS:
            filesystem, _ = s3_filesystem(self.url, in_parts=True)
        with filesystem.open_output_stream(target) as stream:
            stream.write(content)

    def put_in_place(self, aside: str, target: str) -> None:
        """Renames a finished file. Its bytes reach the disk before its name does, so that a power cut leaves the whole
        file or none."""
        if isinstance(self.filesystem, pafs.LocalFileSystem):
            _sync(aside)
        self.filesystem.move(aside, target)
        if isinstance(self.filesystem, pafs.LocalFileSystem):
            _sync(target.rsplit("/", 1)[0])

    def make_folder_of(self, target: str) -> None:
        """Objects need none: one that is made would stay as an empty object."""
        if not self.is_object_store:
            self.filesystem.create_dir(target.rsplit("/", 1)[0], recursive=True)

    def delete_files(self, names: Iterable[str]) -> None:
        """One that another process was quicker with is deleted all the same."""

        def delete(name: str) -> None:
            with suppress(FileNotFoundError):
                self.filesystem.delete_file(name)

        with ThreadPoolExecutor(REQUESTS_AT_ONCE if self.is_object_store else 1) as pool:
            list(pool.map(delete, names))


def _sync(path: str) -> None:
    """Of a file its bytes, of a folder its names."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def stored_form(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of `schema`, cast to it; texts that are dictionary-encoded stay so: a file encodes them anyway."""
    columns = [table[name] for name in schema.names]
    return pa.table(
        [
            column if pa.types.is_dictionary(column.type) else column.cast(kind)
            for column, kind in zip(columns, schema.types, strict=True)
        ],
        names=schema.names,
    )


# The columns by which readers pass over row groups. With bounds of all, what is read first of a file is a third longer.
BOUNDED = ("taken_at", "start", "at", "group", "topic", "source")


def parquet_writer(filesystem: pafs.FileSystem, path: str, schema: pa.Schema, compression: str) -> pq.ParquetWriter:
    """Microsecond times and plain pages, and no Arrow types in the file: what both pyarrow and Spark read as it is."""
    texts = [field.name for field in schema if pa.types.is_dictionary(field.type) or pa.types.is_string(field.type)]
    return pq.ParquetWriter(
        path,
        schema,
        filesystem=filesystem,
        compression=compression,
        coerce_timestamps="us",
        # Offsets hardly repeat: a dictionary of them costs time and is given up half-way.
        use_dictionary=texts,
        write_statistics=[name for name in schema.names if name in BOUNDED],
        store_schema=False,
    )


# Free space under the lake. Below the floor no more history is written: a full disk would stop everything else too.

MIB = 1024 * 1024


def free_mib(lake: Lake) -> float | None:
    """Null where the file system does not tell, as object stores do not."""
    if not isinstance(lake.filesystem, pafs.LocalFileSystem):
        return None
    folder = Path(lake.root).resolve()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free / MIB


def below_floor(lake: Lake, floor_mib: float) -> bool:
    free = free_mib(lake)
    return free is not None and free < floor_mib


# Where a table's files lie: `table/cluster=…/date=…/hour=…/name.parquet`: no file is opened to find an hour.
#
# A folder holds an hour of its table. Windows of an hour and of a day are few: a folder of theirs holds a day or a
# month, and has the name of its first hour.

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
# As file_name makes them.
OF_ONE_TIME = re.compile(r"\d{8}T\d{12}\.parquet")
FOLDERS_OF_A_DAY = {"windows_3600"}
FOLDERS_OF_A_MONTH = {"windows_86400"}
# Once a day of theirs is settled, all of it lies in the folder of its first hour (knot_days.py).
SETTLED_BY_DAY = {"knots"}


def folder_start(table: str, at: datetime) -> datetime:
    """When the time begins that the table's folder with `at` holds."""
    hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if table in FOLDERS_OF_A_DAY:
        return hour.replace(hour=0)
    return hour.replace(day=1, hour=0) if table in FOLDERS_OF_A_MONTH else hour


def folder_end(table: str, start: datetime) -> datetime:
    if table in FOLDERS_OF_A_MONTH:
        # No month has more than 31 days.
        return (start + 32 * DAY).replace(day=1)
    return start + (DAY if table in FOLDERS_OF_A_DAY else HOUR)


def hour_folder(table: str, cluster: str, at: datetime) -> str:
    """The folder, relative to the lake, of the hour (or the day, or the month) that holds `at`."""
    start = folder_start(table, at)
    return f"{cluster_folder(table, cluster)}/date={start:%Y-%m-%d}/hour={start:%H}"


def cluster_folder(table: str, cluster: str) -> str:
    return f"{table}/cluster={quote(cluster, safe='')}"


def file_name(at: datetime) -> str:
    """A reading's own file; the same reading written again lands in the same place."""
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%S%f}.parquet"


def is_within(name: str, since: datetime, until: datetime) -> bool:
    """False where a file's name says that all its rows are of a time outside [since, until)."""
    base = name.rsplit("/", 1)[1]
    return not OF_ONE_TIME.fullmatch(base) or file_name(since) <= base < file_name(until)


def folders_between(table: str, since: datetime, until: datetime) -> Iterator[datetime]:
    """The start of every folder of the table that has a moment in [since, until)."""
    start = folder_start(table, since)
    while start < until:
        yield start
        start = folder_end(table, start)


# How the files of an hour and of its parts are laid out, and which parts the hour says it is made of.

# A page asks for one group of thousands: of a small row group little is decoded in vain. A file tells of each row group
# in its footer, though, which is read whole.
LEAST_ROWS_IN_GROUP = 8_000
MOST_ROW_GROUPS = 500
NOTE = "consumerscope.parts"


def rows_in_group(rows: int) -> int:
    """How many rows a row group of a file of so many should have."""
    return max(LEAST_ROWS_IN_GROUP, -(-rows // MOST_ROW_GROUPS))


# Sixty parts make an hour that is not over: of each, little should be decoded for one group, and a bucket of many
# groups should find few pieces in each.
LEAST_ROWS_IN_PART_GROUP = 4_000
MOST_ROW_GROUPS_OF_PART = 80


def rows_in_part_group(rows: int) -> int:
    """How many rows a row group of the file of a minute should have that has so many."""
    return max(LEAST_ROWS_IN_PART_GROUP, -(-rows // MOST_ROW_GROUPS_OF_PART))


def parts_note(names: Iterable[str]) -> dict[str, str]:
    """What the file says of its parts, as Parquet's metadata."""
    return {NOTE: json.dumps(sorted(names))}


def merged_parts(lake: Lake, name: str) -> set[str] | None:
    """Returns the names of the parts that a compacted file was made of. Returns None where the file does not name them:
    then it holds all parts beside it. A window or a knot that comes late is written into the compacted file, which then
    names no parts."""
    note = (pq.read_metadata(name, filesystem=lake.filesystem).metadata or {}).get(NOTE.encode())
    return set(json.loads(note)) if note is not None else None
