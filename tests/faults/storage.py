"""Where things are kept: disks that are full, a database that another holds, files of the lake that are none."""

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import redis

from tests.faults.fault import Fault, Told, history_is_missing, unready
from tests.faults.stage import Stage

NO_MOUNT = "This machine lets nobody mount a small disk"
PIECE = b"\0" * 65536


def no_mount(stage: Stage) -> str | None:
    return None if stage.has_small_disks else NO_MOUNT


def _full(name: str, folder: str, *told: Told) -> Fault:
    @contextmanager
    def made(stage: Stage) -> Iterator[None]:
        ballast = stage.site.home / folder / ".ballast"
        try:
            with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(PIECE)
            yield
        finally:
            ballast.unlink()

    return Fault(f"the disk of {name} is full", made, told, seconds=40.0, missing=no_mount)


@contextmanager
def _redis_full(stage: Stage) -> Iterator[None]:
    """It takes no more, and answers all that only reads. It keeps nothing on a disk."""
    with redis.Redis(unix_socket_path=str(stage.site.home / "redis.sock")) as client:
        client.config_set("maxmemory", "1")
        try:
            yield
        finally:
            client.config_set("maxmemory", "0")


@contextmanager
def _database_held(stage: Stage) -> Iterator[None]:
    """By a writer that does not end, as a backup that somebody left open. Readers go on."""
    path = stage.site.home / "consumerscope.sqlite3"
    with contextlib.closing(sqlite3.connect(path, timeout=240, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            database.execute("ROLLBACK")


def _stray_file(what: str, write: str) -> Fault:
    @contextmanager
    def made(stage: Stage) -> Iterator[None]:
        files = (stage.site.home / "lake" / "readings").rglob("[!.]*.parquet")
        newest = max(files, key=lambda file: file.name)
        stray = newest.with_name(f"stray-{write}.parquet")
        aside = stage.site.home / "lake" / "unreadable" / stray.relative_to(stage.site.home / "lake")
        WRITERS[write](newest, stray)
        try:
            yield
        finally:
            # Somebody looked at it: it is told for as long as it lies there.
            for file in (stray, aside):
                file.unlink(missing_ok=True)

    return Fault(f"{what} lies in the lake", made, (history_is_missing,), seconds=20.0)


def _truncated(newest: Path, stray: Path) -> None:
    stray.write_bytes(newest.read_bytes()[:-200])


def _foreign(_: Path, stray: Path) -> None:
    pq.write_table(pa.table({"name": ["another's"], "price": [7.5]}), stray)


WRITERS = {"truncated": _truncated, "empty": lambda _, stray: stray.touch(), "foreign": _foreign}

STORAGE_FAULTS = (
    _full("the lake", "lake", unready("disk"), unready("history")),
    _full("database and logs", ".", unready("disk")),
    Fault("Redis is full", _redis_full, (unready("redis"), unready("poll_worker")), seconds=40.0),
    Fault("another writer holds the database", _database_held, (unready("poll_worker"),), seconds=70.0),
    _stray_file("a truncated file", "truncated"),
    _stray_file("an empty file", "empty"),
    _stray_file("a foreign file", "foreign"),
)
