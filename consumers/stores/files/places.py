"""The files that a cluster's globs name at this moment; a glob that names none, or too many, is an error of its own."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path, PurePath

from consumers.vocabulary.offset_files import FileCode

from .disk import begins_inside, rocksdb_beside
from .problems import Problem
from .stored_file import BACKUP_SUFFIX, FileGlob, StoredFile, kind_by_name

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
