"""The lake's file system, and the one way a file gets into it: whole or not at all."""

import uuid
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq


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

    def write(self, table: pa.Table, relative: str, schema: pa.Schema) -> int:
        """Writes aside, then renames, so that a reader finds the whole file or none. Returns its rows."""
        target = self.path(relative)
        folder, name = target.rsplit("/", 1)
        self.filesystem.create_dir(folder, recursive=True)
        # Readers pass over names that begin with a dot.
        aside = f"{folder}/.{name}.{uuid.uuid4().hex}"
        # Microsecond times and plain pages: what both pyarrow and Spark read without conversion.
        pq.write_table(
            table.select(schema.names).cast(schema),
            aside,
            filesystem=self.filesystem,
            compression="zstd",
            coerce_timestamps="us",
        )
        self.filesystem.move(aside, target)
        return table.num_rows
