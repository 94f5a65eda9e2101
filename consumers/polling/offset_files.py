"""One reading of a cluster's offset files, in its own thread: a mount that hangs must not delay the offsets."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from consumers.stores.files.disk import find_files
from consumers.stores.files.problems import Problem
from consumers.stores.files.read_file import read_offset_file
from consumers.stores.files.stored_file import StoredFile, WrongFileGlob, parse_offset_files
from consumers.vocabulary.offset_files import FileCode

MEBIBYTE = 1024 * 1024
# The total wait for files that are being rewritten. Dozens may be missing at once if a disk is not mounted.
PATIENCE_SECONDS = 3.0


@dataclass(frozen=True)
class FileLimits:
    """Folders, cadence, number and size of files, and how long other work waits for a reading."""

    folders: tuple[str, ...]
    seconds: float = 60.0
    files: int = 200
    mebibytes: float = 64.0
    deadline_seconds: float = 10.0


@dataclass(frozen=True)
class FilesReading:
    """Files found at `taken_at`. `named`: each path with the broker that its glob names; None if the glob
    names none.
    """

    taken_at: datetime
    files: tuple[StoredFile, ...]
    named: dict[str, str | None]


def read_files(
    globs: str, known: Sequence[str], limits: FileLimits, now: datetime, sleep: Callable[[float], None] = time.sleep
) -> FilesReading:
    """`globs` as the cluster's row holds them. Errors in globs or files are results; nothing is raised."""
    try:
        found = find_files(parse_offset_files(globs), known, limits.files, limits.folders)
    except WrongFileGlob as error:
        return FilesReading(now, (StoredFile(Path(globs), error=Problem(FileCode.GLOB, {"detail": str(error)})),), {})
    patience = _Patience(PATIENCE_SECONDS, sleep)
    largest = int(limits.mebibytes * MEBIBYTE)
    read = [read_offset_file(path, now, largest, patience.wait, limits.folders) for path in found.brokers]
    return FilesReading(now, (*read, *found.failures), {str(path): broker for path, broker in found.brokers.items()})


class _Patience:
    """Waits as asked until all its seconds are used up, then not at all."""

    def __init__(self, seconds: float, sleep: Callable[[float], None]) -> None:
        self._left = seconds
        self._sleep = sleep

    def wait(self, seconds: float) -> None:
        if seconds <= self._left:
            self._left -= seconds
            self._sleep(seconds)


class OffsetFileThread:
    """Runs at most one reading at a time. A hanging reading is waited for once, for `deadline_seconds`; later calls
    only check.
    """

    def __init__(self, read: Callable[[Sequence[str], datetime], FilesReading], limits: FileLimits) -> None:
        self._read = read
        self._limits = limits
        self._began: datetime | None = None
        self._pending: Future[FilesReading] | None = None
        self._patience_seconds = 0.0

    def is_due(self, now: datetime) -> bool:
        every = timedelta(seconds=self._limits.seconds)
        return self._pending is None and (self._began is None or now - self._began >= every)

    def begin(self, known: Sequence[str], now: datetime) -> None:
        self._began, self._pending = now, Future()
        self._patience_seconds = self._limits.deadline_seconds
        arguments = (self._pending, known, now)
        threading.Thread(target=self._run, args=arguments, name="offset-files", daemon=True).start()

    def finish(self) -> FilesReading | None:
        """The files; None if no reading was begun. Raises TimeoutError while the reading runs."""
        if self._pending is None:
            return None
        pending = self._pending
        if not wait([pending], self._patience_seconds).done:
            self._patience_seconds = 0.0
            raise TimeoutError
        self._pending = None
        return pending.result()

    def _run(self, pending: "Future[FilesReading]", known: Sequence[str], now: datetime) -> None:
        try:
            pending.set_result(self._read(known, now))
        except Exception as error:
            # The error is raised where the result is requested.
            pending.set_exception(error)
