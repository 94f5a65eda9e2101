"""A file's bytes, whole and from one moment, or the FileProblem that kept us from them."""

import os
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from .fence import real_path
from .problems import Changed, FileProblem, InRocksDB, Missing, NoFile, NotPermitted, TooLarge

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
                raise TooLarge(
                    f"has {before.st_size / MEBIBYTE:.0f} MiB, more than POLL_OFFSET_FILE_MIB "
                    f"({max_bytes / MEBIBYTE:g}) allows: raise that, if it is an offset file."
                )
            body = file.read(max_bytes + 1)
            after = os.fstat(file.fileno())
    except FileNotFoundError as error:
        raise _missing(path) from error
    except PermissionError as error:
        raise NotPermitted(
            "may not be read by the user that the poll worker runs as: allow it to read the file and enter its folders."
        ) from error
    except OSError as error:
        raise FileProblem(f"could not be read: {error.strerror or error}. Look at its disk or mount.") from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(body) != after.st_size:
        raise Changed("changed while it was read, again and again: something writes it all the time.")
    return body, datetime.fromtimestamp(after.st_mtime, UTC)


def refuse_no_file(path: Path) -> None:
    """A pipe or a device would keep the reader for ever."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise in_rocksdb(path) if os.path.exists(path / ROCKSDB_MARK) else NoFile("is a folder: name the file in it.")
    if not stat.S_ISREG(mode):
        raise NoFile("is neither a file nor a link to one.")


def rocksdb_beside(path: Path) -> Path | None:
    """The RocksDB folder that holds the offsets which this broker file would hold."""
    folders = (path.parent / name for name in ROCKSDB_FOLDERS)
    # A folder that may not be entered is none that we know of: unlike Path.exists, this raises nothing.
    return next((folder for folder in folders if os.path.exists(folder / ROCKSDB_MARK)), None)


def in_rocksdb(folder: Path) -> InRocksDB:
    return InRocksDB(
        f"is not written: the broker's offsets are in RocksDB ({folder}), no JSON is written. "
        "Its memory shows them all the same: name no offset file for it."
    )


def _missing(path: Path) -> FileProblem:
    if path.name == "consumerOffset.json" and (folder := rocksdb_beside(path)):
        return in_rocksdb(folder)
    return Missing(
        "does not exist: is its disk mounted, and is this where the broker (storePathRootDir/config) "
        "or the client (rocketmq.client.localOffsetStoreDir) keeps it?"
    )
