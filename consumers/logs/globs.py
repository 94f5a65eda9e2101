"""Where a cluster's logs lie, as its operator writes it: `[ZONE=]GLOB[;…]`, and the files that match at this moment."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta, timezone, tzinfo
from glob import glob, has_magic
from hashlib import blake2b
from pathlib import Path, PurePath
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from consumers.vocabulary.logs import LogProblem

LONGEST_PATH = 1000
PACKED = (".gz", ".zip", ".bz2", ".xz", ".zst")

# A zone stands before '=': a path would have a '/' first.
_NAMED = re.compile(r"([^=]*?)=(/.*)", re.DOTALL)
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)")


class WrongLogGlob(ValueError):
    """str() is one sentence: which entry is wrong, and how it should be."""


@dataclass(frozen=True)
class LogGlob:
    """`zone` is None where the entry names none."""

    pattern: str
    zone: str | None = None

    def __str__(self) -> str:
        return self.pattern if self.zone is None else f"{self.zone}={self.pattern}"

    @property
    def folder(self) -> str:
        """The folders before the first `*`: links that lead out of them are not followed."""
        fixed: list[str] = []
        for part in PurePath(self.pattern).parent.parts:
            if has_magic(part):
                break
            fixed.append(part)
        return str(PurePath(*fixed))


@dataclass(frozen=True)
class LogPath:
    path: Path
    glob: LogGlob


@dataclass(frozen=True)
class GlobProblem:
    glob: LogGlob
    code: LogProblem
    params: dict[str, str | int]


@dataclass(frozen=True)
class FoundLogs:
    paths: tuple[LogPath, ...]
    problems: tuple[GlobProblem, ...]


def parse_log_globs(text: str) -> tuple[LogGlob, ...]:
    """The entries in their order; nothing but space and ';' is no entry. Raises WrongLogGlob."""
    globs = tuple(_entry(entry.strip()) for entry in text.split(";") if entry.strip())
    seen: set[str] = set()
    for one in globs:
        if one.pattern in seen:
            raise WrongLogGlob(f"{one.pattern} is named twice: name each glob once.")
        seen.add(one.pattern)
    return globs


def zone_named(name: str) -> tzinfo:
    """`Europe/Berlin`, `UTC` or `+08:00`. Raises WrongLogGlob."""
    if offset := _OFFSET.fullmatch(name):
        hours, minutes = int(offset[2]), int(offset[3])
        if hours < 24 and minutes < 60:
            shift = timedelta(hours=hours, minutes=minutes)
            return timezone(-shift if offset[1] == "-" else shift)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise WrongLogGlob(f"{name or 'An empty name'} is no time zone: write Asia/Shanghai, UTC or +08:00.") from None


def find_logs(globs: Sequence[LogGlob], most: int) -> FoundLogs:
    """Every path once, under the first glob that it matches. Packed files are counted and left alone."""
    paths: dict[str, LogPath] = {}
    problems: list[GlobProblem] = []
    for one in globs:
        matches = sorted(glob(one.pattern)) if has_magic(one.pattern) else [one.pattern]
        packed = [path for path in matches if path.endswith(PACKED)]
        plain = [path for path in matches if not path.endswith(PACKED)]
        usable = [path for path in plain if path.isprintable() and len(path) <= LONGEST_PATH]
        if not matches:
            problems.append(GlobProblem(one, LogProblem.GLOB_NO_FILE, {}))
        if packed:
            problems.append(GlobProblem(one, LogProblem.GLOB_PACKED, {"files": len(packed)}))
        if len(usable) < len(plain):
            problems.append(GlobProblem(one, LogProblem.GLOB_ODD_PATHS, {"longest": LONGEST_PATH}))
        for path in usable:
            if path not in paths and len(paths) >= most:
                problems.append(GlobProblem(one, LogProblem.GLOB_TOO_MANY, {"most": most}))
                break
            paths.setdefault(path, LogPath(Path(path), one))
    return FoundLogs(tuple(paths.values()), tuple(problems))


def _entry(entry: str) -> LogGlob:
    named = _NAMED.fullmatch(entry)
    zone, pattern = (named[1].strip(), named[2].strip()) if named else (None, entry)
    if zone is not None:
        zone_named(zone)
    if wrong := _wrong_pattern(pattern):
        raise WrongLogGlob(f"{entry} {wrong}")
    return LogGlob(pattern, zone)


def _wrong_pattern(pattern: str) -> str | None:
    if not pattern.startswith("/"):
        return "is no absolute path: write it from '/' on, as the general worker sees it."
    if "\0" in pattern or not pattern.isprintable():
        return "holds a character that no path should hold."
    if "**" in pattern:
        return (
            "holds '**', which may walk a whole disk: write one '*' for each folder, as in /logs/*/rocketmq_client.log."
        )
    if pattern.endswith("/") or os.path.isdir(pattern):
        return "names a folder: name the files in it, as in /logs/rocketmq_client.log*."
    if pattern.endswith(PACKED):
        return "names packed files: name the log that is written; packed ones are not read."
    if LogGlob(pattern).folder == "/":
        return "begins at '/': name at least one folder before the first '*'."
    return None


# A log's bytes: opened for reading alone, known by its identity and its head, read in blocks of whole lines.

HEAD_BYTES = 256
BLOCK_BYTES = 4 * 1024 * 1024
TAIL_BYTES = 64 * 1024


class LogUnread(Exception):
    """Why a log cannot be read: a code with its parameters."""

    def __init__(self, code: LogProblem, **params: str | int) -> None:
        super().__init__(code)
        self.problem = {"code": str(code), "params": params}


@dataclass(frozen=True)
class OpenLog:
    descriptor: int
    identity: str
    size: int
    written_at: float  # seconds since 1970

    def head(self, length: int) -> str:
        """A digest of its first bytes: a file that was begun again, or that got a former one's inode, has another."""
        return blake2b(self.read(length, 0), digest_size=16).hexdigest() if length else ""

    def tail(self) -> bytes:
        start = max(0, self.size - TAIL_BYTES)
        return self.read(self.size - start, start)

    def read(self, length: int, start: int) -> bytes:
        """Raises LogUnread."""
        try:
            return os.pread(self.descriptor, length, start)
        except OSError as error:
            raise _unreadable(error) from None


@contextmanager
def opened(path: Path, folder: str) -> Iterator[OpenLog]:
    """Raises LogUnread: also for a link that leads out of `folder`, and for whatever is no file."""
    real = os.path.realpath(path)
    if not Path(real).is_relative_to(os.path.realpath(folder)):
        raise LogUnread(LogProblem.LINK_OUTSIDE)
    try:
        # Without O_NONBLOCK a pipe would keep the reader until somebody writes.
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise LogUnread(LogProblem.NO_FILE) from None
    except PermissionError:
        raise LogUnread(LogProblem.NOT_PERMITTED) from None
    except OSError as error:
        raise _unreadable(error) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise LogUnread(LogProblem.NO_FILE)
        yield OpenLog(descriptor, f"{status.st_dev}:{status.st_ino}", status.st_size, status.st_mtime)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class Block:
    """Whole lines. `unended`: a part of a line that is longer than any block, `begins`: its first."""

    start: int
    body: bytes
    unended: bool = False
    begins: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.body)


def blocks(log: OpenLog, start: int, most_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """From `start`, up to `most_bytes` and the size at its opening. A last line without an end waits."""
    limit = min(log.size, start + most_bytes)
    inside = False
    while start < limit:
        body = log.read(min(block_bytes, limit - start), start)
        if not body:
            return  # it was cut meanwhile
        whole = body.rfind(b"\n") + 1
        if whole:
            yield Block(start, body if whole == len(body) else body[:whole])
            start += whole
            inside = False
        elif len(body) == block_bytes:
            yield Block(start, body, unended=True, begins=not inside)
            start += len(body)
            inside = True
        else:
            return


def _unreadable(error: OSError) -> LogUnread:
    return LogUnread(LogProblem.UNREADABLE, error=error.strerror or str(error))
