"""Consumer offsets of one broker, body after body: what stands as it stood in the last body is not parsed again.

Most groups of most readings stand still. The last body's pieces are kept, and nothing older: memory is bounded by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .offset_tables import (
    CONSUMER_OFFSETS,
    Pieces,
    consumer_offset_pieces,
    consumer_offsets_of_any_form,
    queue_counts,
    queue_numbers,
    table_of_pieces,
)


@dataclass(frozen=True)
class _Last:
    body: bytes
    pieces: Pieces
    table: pa.Table


class OffsetMemory:
    """Called with a body, gives the same as `consumer_offsets_table`.."""

    def __init__(self) -> None:
        self._last: _Last | None = None

    def __call__(self, body: bytes) -> pa.Table:
        last, self._last = self._last, None
        if last is not None and body == last.body:
            self._last = last
            return last.table
        pieces = consumer_offset_pieces(body)
        if pieces is None:
            return consumer_offsets_of_any_form(body)
        table = _brought_up(last, pieces) if last is not None else None
        if table is None:
            table = table_of_pieces(pieces)
        if table is None:
            return consumer_offsets_of_any_form(body)
        self._last = _Last(body, pieces, table)
        return table


def _brought_up(last: _Last, pieces: Pieces) -> pa.Table | None:
    """The last table with the offsets that differ; None where keys or their queues are not the same."""
    if (pieces.topics, pieces.groups) != (last.pieces.topics, last.pieces.groups):
        return None
    pairs = enumerate(zip(pieces.inners, last.pieces.inners, strict=True))
    changed = [place for place, (inner, before) in pairs if inner != before]
    counts = np.array(queue_counts(last.pieces.inners))
    rows = _rows_of(changed, counts)
    numbers = queue_numbers([pieces.inners[place] for place in changed], len(rows))
    if numbers is None or queue_counts(pieces.inners[place] for place in changed) != counts[changed].tolist():
        return None
    table = last.table.combine_chunks()
    queue_ids, offsets = table["queue_id"].to_numpy().copy(), table["consumer_offset"].to_numpy().copy()
    queue_ids[rows], offsets[rows] = numbers
    fresh = {"queue_id": pa.array(queue_ids), "consumer_offset": pa.array(offsets)}
    return pa.table([fresh.get(name, table[name]) for name in CONSUMER_OFFSETS.names], schema=CONSUMER_OFFSETS)


def _rows_of(places: Sequence[int], counts: np.ndarray) -> np.ndarray:
    """The rows of the table that stem from the pieces in these places."""
    chosen = np.zeros(len(counts), bool)
    chosen[list(places)] = True
    return np.flatnonzero(np.repeat(chosen, counts))
