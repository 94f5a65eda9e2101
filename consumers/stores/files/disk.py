"""A file's bytes from one moment, or why they cannot be read; only under folders that the site names."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import glob, has_magic
from pathlib import Path, PurePath

from consumers.vocabulary.offset_files import FileCode

from .problems import FileProblem, Problem
from .stored_file import BACKUP_SUFFIX, FileGlob, StoredFile, is_named_so, kind_by_name

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
    """`known` are paths that were found before: they are looked for again as long as a glob would match them.

    No folder outside of `folders` is looked through."""
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
