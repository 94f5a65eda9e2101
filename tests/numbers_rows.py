"""The columns that rules look at, and what a queue has in them of which nothing special is known."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from consumers.pipeline.kernel.columns import Columns

TEXT, REAL, WHOLE, TRUTH = pa.string(), pa.float64(), pa.int64(), pa.bool_()

DEFAULTS: dict[str, tuple[pa.DataType, Any]] = {
    "members": (WHOLE, None),
    "without_members_seconds": (REAL, None),
    "empty_since_us": (WHOLE, None),
    "is_broadcasting": (TRUTH, False),
    "is_pulling": (TRUTH, False),
    "is_ghost": (TRUTH, False),
    "is_paused": (TRUTH, False),
    "is_away": (TRUTH, False),
    "habit_limit_seconds": (REAL, None),
    "outside_store": (TEXT, None),
    "has_unlisted_members": (TRUTH, False),
    "is_popping": (TRUTH, False),
    "unacked_messages": (WHOLE, None),
    "owners_known": (TRUTH, None),
    "owners_error": (TEXT, None),
    "owner": (TEXT, None),
    "owners": (WHOLE, None),
    "owner_changed_us": (WHOLE, None),
    "in_flight_seen": (WHOLE, None),
    "unowned_seconds": (REAL, None),
    "cached_min": (WHOLE, None),
    "cached_max": (WHOLE, None),
    "cached_count": (WHOLE, None),
    "cached_mib": (WHOLE, None),
    "pull_threshold": (WHOLE, None),
    "pull_threshold_mib": (WHOLE, None),
    "pull_threshold_span": (WHOLE, None),
    "orderly": (TRUTH, None),
    "last_pull_at": (pa.timestamp("us", tz="UTC"), None),
    "usual_gap_seconds": (REAL, None),
    "previous_state": (TEXT, None),
    "previous_since_us": (WHOLE, None),
    "lost_offset": (WHOLE, None),
    "lost_us": (WHOLE, None),
    "reserved_seconds": (REAL, None),
    "allowance_seconds": (REAL, 60.0),
    "behind_seconds": (REAL, 900.0),
}


def as_columns(names: Mapping[str, tuple[pa.DataType, Any]], rows: Sequence[Mapping[str, Any]]) -> Columns:
    """A row for each of `rows`, which give the values that differ from those of `names`."""
    defaults = {name: value for name, (_, value) in names.items()}
    schema = pa.schema([(name, kind) for name, (kind, _) in names.items()])
    return Columns(pa.Table.from_pylist([{**defaults, **row} for row in rows], schema))
