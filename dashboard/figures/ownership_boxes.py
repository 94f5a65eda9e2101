"""The stretches of one kind in the ownership picture, as few rectangles as there can be."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from consumers.ownership.rows import Holding, TimelineQueue, TimelineRun


class Box(NamedTuple):
    """The same cells of queues that stand under each other; cells and rows are counted from 0, ends excluded."""

    first: int
    last: int
    top: int
    bottom: int


def placed(queue: TimelineQueue) -> Iterator[tuple[int, int, TimelineRun]]:
    """Each run with its first cell and the one behind its last."""
    first = 0
    for run in queue.runs:
        yield first, first + run.cells, run
        first += run.cells


def boxes(queues: Sequence[TimelineQueue], holding: Holding) -> dict[str, list[Box]]:
    """All runs of one kind by their reason, empty where they have none. Equal ones under each other are one box."""
    found: dict[str, list[Box]] = {}
    growing: dict[tuple[str, int, int], int] = {}
    for row in range(len(queues) + 1):
        here = _of_kind(queues[row], holding) if row < len(queues) else set()
        for key in [key for key in growing if key not in here]:
            reason, first, last = key
            found.setdefault(reason, []).append(Box(first, last, growing.pop(key), row))
        growing |= dict.fromkeys(here - growing.keys(), row)
    return found


def _of_kind(queue: TimelineQueue, holding: Holding) -> set[tuple[str, int, int]]:
    return {(run.reason or "", first, last) for first, last, run in placed(queue) if run.holding is holding}
