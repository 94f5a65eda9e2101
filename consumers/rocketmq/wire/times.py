"""Java's milliseconds as times."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Nothing that happened is later: what a clock or a field says beyond it is no time.
LAST_MS = 253_402_300_799_000


def time_of(milliseconds: int | None) -> datetime | None:
    """None also for 0, which a Java long holds while there is nothing to tell, and for what no calendar has."""
    if milliseconds is None or not 0 < milliseconds <= LAST_MS:
        return None
    return EPOCH + timedelta(milliseconds=milliseconds)
