"""An offset file: where its globs say it is, its kind, and its rows in the columns that all stores share."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Literal

import pyarrow as pa

from .problems import Finding, Problem

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
        ("finding", TEXT),  # what is wrong with this row; null where nothing is
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
    error: Problem | None = None
    broker: str | None = None
    client_id: str | None = None
    group: str | None = None

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


# Names as files hold them. A JSON text may hold characters that no name, database or Parquet file can.
def readable_name(value: object) -> str | None:
    """None where it is no text, empty, or holds what cannot be shown."""
    return value if isinstance(value, str) and value and value.isprintable() else None


def shown(value: object) -> str:
    """A key in a sentence: as it stands where that can be shown, else escaped."""
    return value if isinstance(value, str) and value.isprintable() else ascii(value)


# Where a cluster's offset files lie, as its operator writes it: globs split by ';', each with its broker if known.
#
# `broker-a=/data/a/config/consumerOffset.json;/data/clients/*/*/offsets.json`
BACKUP_SUFFIX = ".bak"

# A broker's name stands before '=': what a path would have, and a broker's name has not, ends the search for one.
_NAMED = re.compile(r"([^/=]*)=(.*)", re.DOTALL)

_NO_BROKER_NAME = re.compile(r"[\s*?\[\]@]")


class WrongFileGlob(ValueError):
    """str() is one sentence: which entry is wrong, and how it should be."""


@dataclass(frozen=True)
class FileGlob:
    """`broker` is None where the entry names none."""

    pattern: str
    broker: str | None = None

    def __str__(self) -> str:
        return self.pattern if self.broker is None else f"{self.broker}={self.pattern}"


def parse_offset_files(text: str) -> tuple[FileGlob, ...]:
    """The entries in their order; nothing but space and ';' is no entry. Raises WrongFileGlob."""
    globs = tuple(_parse_entry(entry.strip()) for entry in text.split(";") if entry.strip())
    seen: set[str] = set()
    for glob in globs:
        if glob.pattern in seen:
            raise WrongFileGlob(f"{glob.pattern} is named twice: name each glob of offset files once.")
        seen.add(glob.pattern)
    return globs


def _parse_entry(entry: str) -> FileGlob:
    named = _NAMED.fullmatch(entry)
    broker, pattern = (named[1].strip(), named[2].strip()) if named else (None, entry)
    if broker is not None and (not broker or _NO_BROKER_NAME.search(broker)):
        raise WrongFileGlob(f"{entry} has no broker's name before its '=': write BROKER=/path/to/consumerOffset.json.")
    if wrong := _wrong_pattern(pattern):
        raise WrongFileGlob(f"{entry} {wrong}")
    return FileGlob(pattern, broker)


def _wrong_pattern(pattern: str) -> str | None:
    if not pattern.startswith("/"):
        return "is no absolute path: write it from '/' on, as the poll worker sees it."
    if "\0" in pattern:
        return "holds a character that no path can hold."
    if "**" in pattern:
        return "holds '**', which may walk a whole disk: write one '*' for each folder, as in /*/*/offsets.json."
    if pattern.endswith("/"):
        return "names a folder: name the files in it, as in /config/consumerOffset.json."
    if pattern.endswith(BACKUP_SUFFIX):
        return f"names a backup: name the file itself, its {BACKUP_SUFFIX} is read where the file cannot be."
    return None


# Which of the three kinds a file is: by its name. A file with another name is none, and is never opened.
BY_NAME: dict[str, Kind] = {
    "consumerOffset.json": "broker_file",
    "delayOffset.json": "delay_file",
    "offsets.json": "consumer_file",
}

NAMES = "consumerOffset.json, delayOffset.json or offsets.json"


def kind_by_name(path: Path) -> Kind | None:
    return BY_NAME.get(path.name)


def is_named_so(path: Path) -> bool:
    """Like an offset file or its backup."""
    return path.name.removesuffix(BACKUP_SUFFIX) in BY_NAME


def may_name_one(pattern: str) -> bool:
    """Whether a glob can match an offset file by the last part of it."""
    return any(fnmatchcase(name, PurePath(pattern).name) for name in BY_NAME)
