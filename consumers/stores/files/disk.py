"""A file's bytes from one moment, or why they cannot be read; only under folders that the site names."""

import os
import re
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from glob import has_magic
from pathlib import Path, PurePath

from consumers.stores.files.problems import FileProblem
from consumers.stores.files.stored_file import is_named_so
from consumers.vocabulary.offset_files import FileCode

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
