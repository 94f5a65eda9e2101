"""The numbers that rules look at, with what a queue has of which nothing special is known."""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

DEFAULTS: dict[str, tuple[str, Any]] = {
    "members": ("int", None),
    "without_members_seconds": ("double", None),
    "is_broadcasting": ("boolean", False),
    "is_pulling": ("boolean", False),
    "is_ghost": ("boolean", False),
    "is_paused": ("boolean", False),
    "is_away": ("boolean", False),
    "habit_limit_seconds": ("double", None),
    "outside_store": ("string", None),
    "has_unlisted_members": ("boolean", False),
    "is_popping": ("boolean", False),
    "unacked_messages": ("bigint", None),
    "owners_known": ("boolean", None),
    "owners_error": ("string", None),
    "owner": ("string", None),
    "owners": ("bigint", None),
    "owner_changed_us": ("bigint", None),
    "in_flight_seen": ("bigint", None),
    "unowned_seconds": ("double", None),
    "cached_min": ("bigint", None),
    "cached_max": ("bigint", None),
    "cached_count": ("bigint", None),
    "orderly": ("boolean", None),
    "last_pull_at": ("timestamp", None),
    "usual_gap_seconds": ("double", None),
    "expires_in_seconds": ("double", None),
    "previous_state": ("string", None),
    "previous_since_us": ("bigint", None),
    "trend_from_seconds": ("double", None),
    "trend_to_seconds": ("double", None),
    "trend_covers_seconds": ("double", None),
}


def with_defaults(numbers: DataFrame, **values: Any) -> DataFrame:
    """`numbers` with the columns that it lacks; `values` stand in for some of the defaults."""
    missing = [name for name in DEFAULTS if name not in numbers.columns]
    return numbers.withColumns(
        {name: F.lit(values.get(name, DEFAULTS[name][1])).cast(DEFAULTS[name][0]) for name in missing}
    )
