"""Offsets of a broker's file that went back: below what the same file held before, or below the broker's memory.

A broker resumes from its file. An offset there that is lower than it should be is consumed again from there on.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa

from consumers.stores.files.stored_file import StoredFile

from .marks import mark
from .queue_keys import Numbers, QueueKeys

# Brokers write their memory every 5 s (flushConsumerOffsetInterval); twice that was surely written.
UNWRITTEN = timedelta(seconds=10)


@dataclass(frozen=True)
class MemoryOffsets:
    """A broker's own offsets at `taken_at`. `rows`: group, topic, queue_id, offset."""

    taken_at: datetime
    rows: pa.Table


def mark_went_back(
    file: StoredFile, before: StoredFile | None, memory: MemoryOffsets | None, memory_before: MemoryOffsets | None
) -> StoredFile:
    """`before`: the file as last read. `memory`, `memory_before`: at this and at an earlier reading; None: not read."""
    if file.rows is None or file.kind != "broker_file":
        return file
    offsets, queues = Numbers.of(file.rows["offset"]), QueueKeys.of(file.rows)
    held = queues.look_up(before.rows if before else None)
    now = queues.look_up(memory.rows if memory else None)
    earlier = queues.look_up(memory_before.rows if memory_before else None)
    lower = held.above(offsets)
    # What is below the earlier memory, but not below today's, was reset meanwhile.
    behind = earlier.above(offsets) & now.above(offsets) & ~lower & _was_written_since(file, memory_before)

    def say_lower(at: int) -> str:
        offset, before_it = offsets.values[at], held.values[at]
        cause = _cause(file, int(offset), int(before_it), int(now.values[at]) if now.known[at] else None)
        return f"{offset} is lower than {before_it}, which this file held before: {cause}"

    def say_behind(at: int) -> str:
        assert memory_before is not None
        return (
            f"{offsets.values[at]} is lower than {earlier.values[at]}, which the broker's memory held at "
            f"{memory_before.taken_at:%H:%M:%S} UTC, before this file was written: edited, or not this broker's file."
        )

    return mark(mark(file, lower, "went_back", say_lower), behind, "behind_memory", say_behind)


def _cause(file: StoredFile, offset: int, held: int, memory: int | None) -> str:
    again = f"{held - offset} messages are consumed again if the broker starts from it."
    if file.from_backup:
        return f"it is the offset of its backup, which is older. {again}"
    if memory is None:
        return f"edited, restored from an older copy, or reset (the broker's memory is not known). {again}"
    if memory >= held:
        return f"edited or restored, as the broker's memory holds {memory} and will be written over it. {again}"
    return "the broker's memory went back too, as after a reset."


def _was_written_since(file: StoredFile, memory: MemoryOffsets | None) -> bool:
    return memory is not None and file.modified_at is not None and file.modified_at >= memory.taken_at + UNWRITTEN
