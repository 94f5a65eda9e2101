"""The lake's file system, and the one way a file gets into it: whole or not at all."""

import os
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from .s3 import s3_filesystem

ROWS_IN_GROUP = 1_000_000
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

    def write(self, table: pa.Table, relative: str, schema: pa.Schema, row_group_size: int = ROWS_IN_GROUP) -> int:
        """One file of these rows. Returns their number."""
        rows = stored_form(table, schema)
        with self.new_file(relative, rows.schema) as writer:
            writer.write_table(rows, row_group_size=row_group_size)
        return table.num_rows

    @contextmanager
    def new_file(self, relative: str, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
        """A file that a reader finds whole once the block has ended. Where the block raises, or the process is killed,
        there is what was there before."""
        target = self.path(relative)
        folder, name = target.rsplit("/", 1)
        if self.is_object_store:
            with tempfile.TemporaryDirectory(prefix="consumerscope-lake-") as aside_folder:
                aside, local = f"{aside_folder}/{name}", pafs.LocalFileSystem()
                with parquet_writer(local, aside, schema) as writer:
                    yield writer
                with pa.memory_map(aside) as content:
                    self._upload(content.read_buffer(), target)
            return
        self.filesystem.create_dir(folder, recursive=True)
        # Readers pass over names that begin with a dot.
        aside = f"{folder}/.{name}.{uuid.uuid4().hex}"
        with parquet_writer(self.filesystem, aside, schema) as writer:
            yield writer
        self.put_in_place(aside, target)

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


def parquet_writer(filesystem: pafs.FileSystem, path: str, schema: pa.Schema) -> pq.ParquetWriter:
    """Microsecond times and plain pages, and no Arrow types in the file: what both pyarrow and Spark read as it is."""
    texts = [field.name for field in schema if pa.types.is_dictionary(field.type) or pa.types.is_string(field.type)]
    return pq.ParquetWriter(
        path,
        schema,
        filesystem=filesystem,
        compression="zstd",
        coerce_timestamps="us",
        # Offsets hardly repeat: a dictionary of them costs time and is given up half-way.
        use_dictionary=texts,
        store_schema=False,
    )
