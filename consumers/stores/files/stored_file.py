"""An offset file: where its globs say it is, its kind, its rows in the columns that all stores share, and its bytes
from one moment; only under folders that the site names.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from glob import glob, has_magic
from pathlib import Path, PurePath
from typing import Literal

import pyarrow as pa

from consumers.vocabulary.offset_files import FileCode
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.registration import OptionProblem

from .problems import FileProblem, Finding, Problem

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
    """str() says which entry is wrong and why, as `stored_reason` gives it."""

    def __init__(self, problem: OptionProblem, glob: str, **values: str) -> None:
        super().__init__(stored_reason(problem, glob=glob, **values))


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
    for one in globs:
        if one.pattern in seen:
            raise WrongFileGlob(OptionProblem.GLOB_TWICE, one.pattern)
        seen.add(one.pattern)
    return globs


def _parse_entry(entry: str) -> FileGlob:
    named = _NAMED.fullmatch(entry)
    broker, pattern = (named[1].strip(), named[2].strip()) if named else (None, entry)
    if broker is not None and (not broker or _NO_BROKER_NAME.search(broker)):
        raise WrongFileGlob(OptionProblem.NO_BROKER_NAME, entry)
    if problem := _wrong_pattern(pattern):
        raise WrongFileGlob(problem, entry, **({"suffix": BACKUP_SUFFIX} if problem == OptionProblem.BACKUP else {}))
    return FileGlob(pattern, broker)


def _wrong_pattern(pattern: str) -> OptionProblem | None:
    if not pattern.startswith("/"):
        return OptionProblem.NOT_ABSOLUTE
    if "\0" in pattern:
        return OptionProblem.NUL
    if "**" in pattern:
        return OptionProblem.ANY_FOLDERS
    if pattern.endswith("/"):
        return OptionProblem.FOLDER
    return OptionProblem.BACKUP if pattern.endswith(BACKUP_SUFFIX) else None


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


# A file's bytes from one moment, or why they cannot be read; only under folders that the site names.
# Where offset files may be opened: under folders that the site names, so that a setting of a cluster reaches no
# other.
#
# A link counts as what it leads to. Where that is is never told: whoever reads the sentence may be no administrator.
# A character that a glob takes as it stands: glob.escape writes it so.
_ESCAPED = re.compile(r"\[([*?[])\]")


def real_path(path: Path, folders: Sequence[str]) -> Path:
    """Where a file really is. Raises FileProblem where it may not be opened, whether it is there or not."""
    real = Path(os.path.realpath(path))
    if not is_inside(real, folders):
        raise FileProblem(FileCode.OUTSIDE_FOLDERS, folders=":".join(folders))
    if not is_named_so(path) or not is_named_so(real):
        raise FileProblem(FileCode.LINK_TO_OTHER_NAME)
    return real


def is_inside(real: Path, folders: Sequence[str]) -> bool:
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)


def begins_inside(pattern: str, folders: Sequence[str]) -> bool:
    """Whether the folders before the first `*` of a glob are inside: no other folder is looked through."""
    fixed: list[str] = []
    for part in PurePath(pattern).parts:
        if has_magic(_ESCAPED.sub("", part)):
            break
        fixed.append(_ESCAPED.sub(r"\1", part))
    return is_inside(Path(os.path.realpath(PurePath(*fixed))), folders)


# A file's bytes, whole and from one moment, or the FileProblem that kept us from them.
# Where 5.4.0 keeps offsets in RocksDB: v1, v1 with useSingleRocksDBForAllConfigs, configManagerVersion=v2.
ROCKSDB_FOLDERS = ("consumerOffsets", "metadata", "rdb")

# Every RocksDB has this file.
ROCKSDB_MARK = "CURRENT"

MEBIBYTE = 1024 * 1024


def read_bytes(path: Path, max_bytes: int, folders: Sequence[str]) -> tuple[bytes, datetime]:
    """The body and when it was last written. Raises a FileProblem, never an OSError. `folders`: no others are read."""
    real = real_path(path, folders)
    try:
        refuse_no_file(real)
        with real.open("rb") as file:
            before = os.fstat(file.fileno())
            if before.st_size > max_bytes:
                mib, allowed = round(before.st_size / MEBIBYTE), f"{max_bytes / MEBIBYTE:g}"
                raise FileProblem(FileCode.TOO_LARGE, mib=mib, allowed=allowed)
            body = file.read(max_bytes + 1)
            after = os.fstat(file.fileno())
    except FileNotFoundError as error:
        raise _missing(path) from error
    except PermissionError as error:
        raise FileProblem(FileCode.NOT_PERMITTED) from error
    except OSError as error:
        raise FileProblem(FileCode.UNREADABLE, error=error.strerror or str(error)) from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(body) != after.st_size:
        raise FileProblem(FileCode.CHANGED)
    return body, datetime.fromtimestamp(after.st_mtime, UTC)


def refuse_no_file(path: Path) -> None:
    """A pipe or a device would keep the reader for ever."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise in_rocksdb(path) if os.path.exists(path / ROCKSDB_MARK) else FileProblem(FileCode.IS_FOLDER)
    if not stat.S_ISREG(mode):
        raise FileProblem(FileCode.NO_FILE)


def rocksdb_beside(path: Path) -> Path | None:
    """The RocksDB folder that holds the offsets which this broker file would hold."""
    folders = (path.parent / name for name in ROCKSDB_FOLDERS)
    # A folder that may not be entered is none that we know of: unlike Path.exists, this raises nothing.
    return next((folder for folder in folders if os.path.exists(folder / ROCKSDB_MARK)), None)


def in_rocksdb(folder: Path) -> FileProblem:
    return FileProblem(FileCode.IN_ROCKSDB, folder=str(folder))


def _missing(path: Path) -> FileProblem:
    if path.name == "consumerOffset.json" and (folder := rocksdb_beside(path)):
        return in_rocksdb(folder)
    return FileProblem(FileCode.MISSING)


BROKER_FILE = "consumerOffset.json"
LONGEST_PATH = 1000


@dataclass(frozen=True)
class FoundFiles:
    """`brokers`: each path with the broker that its glob names, None where it names none."""

    brokers: dict[Path, str | None]
    failures: tuple[StoredFile, ...]


def find_files(globs: Sequence[FileGlob], known: Iterable[str], most: int, folders: Sequence[str]) -> FoundFiles:
    """`known` are paths that were found before. They are looked for again as long as a glob would match them. No folder
    outside `folders` is searched."""
    brokers: dict[Path, str | None] = {}
    failures: list[StoredFile] = []
    remembered = list(known)
    for entry in globs:
        if not begins_inside(entry.pattern, folders):
            failures.append(_failure(entry, FileCode.GLOB_OUTSIDE_FOLDERS, folders=":".join(folders)))
            continue
        every = sorted({*_matches(entry.pattern), *(path for path in remembered if _would_match(path, entry))})
        matched = [path for path in every if kind_by_name(Path(path)) is not None]
        if len(matched) < len(every):
            failures.append(_failure(entry, FileCode.GLOB_OTHER_NAMES))
        usable = [path for path in matched if _is_usable(path)]
        if not every:
            failures.append(_failure(entry, FileCode.GLOB_NO_FILE))
        if len(usable) < len(matched):
            failures.append(_failure(entry, FileCode.GLOB_ODD_PATHS, longest=LONGEST_PATH))
        for path in map(Path, usable):
            if path in brokers or len(brokers) < most:
                brokers[path] = brokers.get(path) or entry.broker
            else:
                failures.append(_failure(entry, FileCode.GLOB_TOO_MANY, most=most))
                break
    return FoundFiles(brokers, tuple({failure.path: failure for failure in failures}.values()))


def _matches(pattern: str) -> Iterator[str]:
    """Also of files that are away at this moment, but have a backup, and of those that RocksDB stands in for."""
    if not has_magic(pattern):
        yield pattern
        return
    yield from glob(pattern)
    yield from (backup.removesuffix(BACKUP_SUFFIX) for backup in glob(pattern + BACKUP_SUFFIX))
    if PurePath(pattern).name == BROKER_FILE:
        for folder in glob(str(PurePath(pattern).parent)):
            if rocksdb_beside(path := Path(folder, BROKER_FILE)):
                yield str(path)


def _would_match(path: str, entry: FileGlob) -> bool:
    return PurePath(path).match(entry.pattern)


def _is_usable(path: str) -> bool:
    return path.isprintable() and len(path) <= LONGEST_PATH


def _failure(entry: FileGlob, code: FileCode, **params: str | int) -> StoredFile:
    error = Problem(code, {"path": entry.pattern, **params})
    return StoredFile(Path(entry.pattern), kind=kind_by_name(Path(entry.pattern)), error=error, broker=entry.broker)
