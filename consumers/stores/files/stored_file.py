"""An offset file as it was read: its rows in the columns that all stores share, or the reason why there are none."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

import pyarrow as pa

from consumers.stores.checks.findings import Finding

Kind = Literal["broker_file", "delay_file", "consumer_file"]

TIME = pa.timestamp("us", tz="UTC")
TEXT = pa.string()

STORED = pa.schema(
    [
        ("kind", TEXT),
        ("source", TEXT),  # the path of the file, also where its backup was read in its place
        ("modified_at", TIME),
        ("broker", TEXT),  # null where neither path nor content tells
        ("client_id", TEXT),
        ("group", TEXT),
        ("topic", TEXT),
        ("queue_id", pa.int32()),
        ("offset", pa.int64()),
        ("finding", TEXT),
    ]
)
# What a row has of its own; the other columns are the file's.
ROWS = pa.schema([STORED.field(name) for name in ("broker", "group", "topic", "queue_id", "offset", "finding")])


@dataclass(frozen=True)
class StoredFile:
    """One file. Where `error` is set nothing was read. `broker` is None for a consumer file: each row names its own."""

    path: Path
    kind: Kind | None = None
    rows: pa.Table | None = None  # ROWS
    modified_at: datetime | None = None
    from_backup: bool = False
    findings: tuple[Finding, ...] = ()
    error: str | None = None
    broker: str | None = None
    client_id: str | None = None
    group: str | None = None
    problem: str | None = field(default=None, compare=False)  # the error's name, for programs

    def table(self) -> pa.Table:
        """The rows in STORED's columns."""
        rows = self.rows if self.rows is not None else ROWS.empty_table()
        own = {
            "kind": pa.scalar(self.kind, TEXT),
            "source": pa.scalar(str(self.path), TEXT),
            "modified_at": pa.scalar(self.modified_at, TIME),
            "client_id": pa.scalar(self.client_id, TEXT),
        }
        columns = {name: pa.repeat(value, rows.num_rows) for name, value in own.items()}
        for name in ROWS.names:
            columns[name] = rows[name]
        if self.broker is not None:
            columns["broker"] = pa.repeat(pa.scalar(self.broker, TEXT), rows.num_rows)
        return pa.table([columns[name] for name in STORED.names], schema=STORED)

    def with_findings(self, *findings: Finding) -> "StoredFile":
        return replace(self, findings=(*self.findings, *findings))
