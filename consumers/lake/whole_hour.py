"""The file of a whole hour: how it is laid out, and which parts it says it is made of."""

import json
from collections.abc import Iterable

import pyarrow.parquet as pq

from .store import Lake

# A page asks for one group of thousands: of a small row group little is decoded in vain. A file tells of each row group
# in its footer, though, which is read whole.
LEAST_ROWS_IN_GROUP = 8_000
MOST_ROW_GROUPS = 500
NOTE = "consumerscope.parts"


def rows_in_group(rows: int) -> int:
    """How many rows a row group of a file of so many should have."""
    return max(LEAST_ROWS_IN_GROUP, -(-rows // MOST_ROW_GROUPS))


def parts_note(names: Iterable[str]) -> dict[str, str]:
    """What the file says of its parts, as Parquet's metadata."""
    return {NOTE: json.dumps(sorted(names))}


def merged_parts(lake: Lake, name: str) -> set[str] | None:
    """The names of the parts; None where the file does not tell: then all that stand beside it are in it.

    A window or a knot that comes late is put into the whole itself, which then tells no more.
    """
    note = (pq.read_metadata(name, filesystem=lake.filesystem).metadata or {}).get(NOTE.encode())
    return set(json.loads(note)) if note is not None else None
