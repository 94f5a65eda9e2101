"""A broker's offset file while the broker was away: what it held of a queue, and whether somebody else wrote it.

A broker that stops in order writes its file last, with all that it has in memory; one that crashes leaves an older one.
It moves the file to `.bak` before it writes, and what it leaves in between is read from there: an older time alone may
be that of the last write but one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from consumers.vocabulary.repeats import Confidence


class FileReading(NamedTuple):
    """What a file held of one queue."""

    taken_at: datetime
    modified_at: datetime
    offset: int


@dataclass(frozen=True)
class AwayFile:
    """`modified_at`: ISO 8601. `changed`: how sure it is that not the broker wrote it; null: nothing suggests that.
    `is_written`: while the broker was away, else an older file was put in its place."""

    offset: int
    modified_at: str
    changed: Confidence | None = None
    is_written: bool = False


def away_file(
    readings: Sequence[FileReading], from_offset: int, unread: Sequence[datetime], until: datetime
) -> AwayFile | None:
    """`readings`: oldest first. `unread`: when the broker was asked in vain. None: the file was not read then."""
    found = [one for one in readings if unread[0] <= one.taken_at <= unread[-1]]
    if not found:
        return None
    last = found[-1]
    earlier = [one for one in readings if one.taken_at < last.taken_at]
    is_written = unread[0] < last.modified_at < until
    changed = _changed(last, earlier, from_offset, is_written)
    return AwayFile(last.offset, f"{last.modified_at:%Y-%m-%dT%H:%M:%S.%fZ}", changed, is_written)


def _changed(
    last: FileReading, earlier: Sequence[FileReading], from_offset: int, is_written: bool
) -> Confidence | None:
    if last.offset >= from_offset:
        return None
    if is_written:
        # A broker that begins writes what it read: no less than was there before.
        is_less = any(one.offset > last.offset for one in earlier)
        return Confidence.PROVEN if is_less else Confidence.LIKELY
    newer = {one.modified_at for one in earlier if one.modified_at > last.modified_at}
    if not newer:
        return None
    return Confidence.PROVEN if len(newer) > 1 else Confidence.LIKELY
