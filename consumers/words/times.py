"""Times as people write them into addresses, forms and calls."""

from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime
from django.utils.functional import lazy

from .spans import local

# Nearer an end of the calendar, what is counted from a time would be none.
FIRST_YEAR, LAST_YEAR = 1970, 2999
EXAMPLE = datetime(2026, 3, 14, 6, 0, tzinfo=UTC)


def read_time(text: str) -> datetime | None:
    """In UTC where it names no zone; null where it is no time of these years."""
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    if at is None or not FIRST_YEAR <= at.year <= LAST_YEAR:
        return None
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def example_time() -> str:
    """How a time is entered as the reader's clock says it: `2026-03-14 08:00+02:00`."""
    return local(EXAMPLE).isoformat(" ", "minutes").removesuffix("+00:00")


# In labels that are made once for all readers.
EXAMPLE_TIME = lazy(example_time, str)()
