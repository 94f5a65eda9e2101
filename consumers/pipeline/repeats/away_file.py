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
from consumers.vocabulary.times import iso


class FileReading(NamedTuple):
    """What a file held of one queue."""

    taken_at: datetime
    modified_at: datetime
    offset: int


@dataclass(frozen=True)
class AwayFile:
    """`offset`: what the broker began with; null: not known. `modified_at`: ISO 8601. `changed`: how sure it is that
    somebody else wrote the file; null: nothing suggests that. `is_written`: while the broker was away, else an older
    file was put in its place. `was_gone`: it was not there meanwhile, and what is there now holds less. `is_final`:
    nothing else was read of it before the broker answered again."""

    offset: int | None
    modified_at: str
    changed: Confidence | None = None
    is_written: bool = False
    was_gone: bool = False
    is_final: bool = True


def away_file(
    readings: Sequence[FileReading],
    missing: Sequence[datetime],
    from_offset: int,
    unread: Sequence[datetime],
    until: datetime,
    shown: int,
    *,
    is_later: bool = False,
) -> AwayFile | None:
    """`readings`: oldest first. `missing`: when other files were read, and not this one. `unread`: when the broker was
    asked in vain. `shown`: the lowest offset that was seen afterwards. `is_later`: the offset may have been regained by
    then: a file that held as much was written later. None: nothing is known of the file then.

    A broker that has begun again writes its file 10 s later, and may be read later still: what was written meanwhile
    is no less than what it began with, unless the file was replaced or lost.
    """
    found = [one for one in readings if unread[0] <= one.taken_at <= unread[-1]]
    if not found:
        # A file that could not be read may be there all the same: then it holds no less than before.
        was_there = bool(readings) and shown >= readings[-1].offset
        if not readings or was_there or not any(unread[0] <= at <= unread[-1] for at in missing):
            return None
        return AwayFile(None, iso(readings[-1].modified_at), was_gone=True, is_final=False)
    last = found[-1]
    if last.offset >= from_offset and not is_later:
        return AwayFile(None, iso(last.modified_at))
    left = next((one for one in reversed(found) if not unread[0] < one.modified_at < until), None)
    if left is not None and left.offset < from_offset:
        later = [one for one in found if one.taken_at > left.taken_at]
        if any(left.taken_at < at <= unread[-1] for at in missing):
            return AwayFile(None, iso(last.modified_at), was_gone=True, is_final=False)
        if all(one.offset >= left.offset for one in later):
            changed = _older(left, [one for one in readings if one.taken_at < left.taken_at])
            if later and changed is not None:
                changed = Confidence.LIKELY
            return AwayFile(left.offset, iso(left.modified_at), changed, is_final=not later)
    earlier = [one for one in readings if one.taken_at < last.taken_at]
    is_less = any(one.offset > last.offset for one in earlier)
    was_gone = is_less and any(unread[0] <= at < last.taken_at for at in missing)
    changed = Confidence.LIKELY if is_less or not earlier else None
    return AwayFile(None, iso(last.modified_at), changed, is_written=True, was_gone=was_gone)


def _older(last: FileReading, earlier: Sequence[FileReading]) -> Confidence | None:
    newer = {one.modified_at for one in earlier if one.modified_at > last.modified_at}
    if not newer:
        return None
    return Confidence.PROVEN if len(newer) > 1 else Confidence.LIKELY
