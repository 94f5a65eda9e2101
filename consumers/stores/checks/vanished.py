"""Offsets that a broker's file held and holds no more, while nothing says that they were deleted.

A member of a group without an offset starts where its ConsumeFromWhere says: it may skip or repeat everything.
"""

import numpy as np

from consumers.stores.files.stored_file import StoredFile

from .findings import Finding, listed
from .marks import place
from .queue_keys import QueueKeys
from .went_back import MemoryOffsets


def mark_vanished(file: StoredFile, before: StoredFile | None, memory: MemoryOffsets | None) -> StoredFile:
    """What the broker's memory has lost too was deleted by the broker, and is no finding. There is no row to mark."""
    if file.rows is None or file.kind != "broker_file" or before is None or before.rows is None:
        return file
    queues = QueueKeys.of(before.rows)
    gone = queues.known & ~queues.look_up(file.rows).known
    held = queues.look_up(before.rows)
    if memory is not None:
        gone &= queues.look_up(memory.rows).known
    cause = (
        "edited, as the broker's memory still has it and will write it again."
        if memory is not None
        else "edited, or deleted by the broker (its memory is not known)."
    )
    found = []
    for at in np.flatnonzero(gone & held.known).tolist():
        where = place(before.rows, at)
        sentence = f"The offset of {where}, {held.values[at]} before, is gone from the file: {cause}"
        found.append(Finding("vanished", where, sentence))
    return file.with_findings(*listed(found))
