"""The lake's file system, and the one way a file gets into it: whole or not at all."""

import os
import uuid
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

ROWS_IN_GROUP = 1_000_000


@dataclass(frozen=True)
class Lake:
    """A folder of any file system that pyarrow knows: a local path, s3://, hdfs://."""

    filesystem: pafs.FileSystem
    root: str
    url: str

    @classmethod
    def at(cls, location: str) -> "Lake":
        if "://" not in location:
            return cls(pafs.LocalFileSystem(), location.rstrip("/"), f"file://{location.rstrip('/')}")
        # Spark and Hadoop say s3a, pyarrow says s3: the same store.
        filesystem, root = pafs.FileSystem.from_uri(location.replace("s3a://", "s3://", 1))
        return cls(filesystem, root.rstrip("/"), location.rstrip("/"))

    def path(self, relative: str) -> str:
        return f"{self.root}/{relative}"

    def write(self, table: pa.Table, relative: str, schema: pa.Schema, row_group_size: int = ROWS_IN_GROUP) -> int:
        """Writes aside, then renames, so that a reader finds the whole file or none. Returns its rows."""
        target = self.path(relative)
        folder, name = target.rsplit("/", 1)
        self.filesystem.create_dir(folder, recursive=True)
        # Readers pass over names that begin with a dot.
        aside = f"{folder}/.{name}.{uuid.uuid4().hex}"
        rows = stored_form(table, schema)
        with parquet_writer(self, aside, rows.schema) as writer:
            writer.write_table(rows, row_group_size=row_group_size)
        self.put_in_place(aside, target)
        return table.num_rows

    def put_in_place(self, aside: str, target: str) -> None:
        """Renames a finished file. Its bytes reach the disk before its name does, so that a power cut leaves the whole
        file or none."""
        if isinstance(self.filesystem, pafs.LocalFileSystem):
            _sync(aside)
        self.filesystem.move(aside, target)
        if isinstance(self.filesystem, pafs.LocalFileSystem):
            _sync(target.rsplit("/", 1)[0])


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


def parquet_writer(lake: Lake, path: str, schema: pa.Schema) -> pq.ParquetWriter:
    """Microsecond times and plain pages, and no Arrow types in the file: what both pyarrow and Spark read as it is."""
    texts = [field.name for field in schema if pa.types.is_dictionary(field.type) or pa.types.is_string(field.type)]
    return pq.ParquetWriter(
        path,
        schema,
        filesystem=lake.filesystem,
        compression="zstd",
        coerce_timestamps="us",
        # Offsets hardly repeat: a dictionary of them costs time and is given up half-way.
        use_dictionary=texts,
        store_schema=False,
    )
