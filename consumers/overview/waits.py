"""How long the first message of a queue has waited, for metrics: from values that are read in bulk."""

from datetime import datetime

from consumers.models import TimeLagKind
from consumers.queries.queues.overlay import polled_seconds

# Seconds and kind; null where unknown.
Wait = tuple[float | None, str | None]
NOT_JUDGED: Wait = (None, None)


def first_wait(
    sample: tuple[int | None, datetime] | None,
    offset: int,
    first_stored_us: int | None,
    read_at: datetime | None,
    judged: Wait,
) -> Wait:
    """By the broker's store time of the message at exactly this offset, else by the evaluation, and by the polls where
    the lag is newer than that: as overlay.time_lag.
    """
    if sample is not None and sample[0] == offset and read_at is not None:
        seconds = (read_at - sample[1]).total_seconds()
        if seconds > 0:
            return seconds, TimeLagKind.EXACT
    if judged[0] == 0 and (polled := polled_seconds(first_stored_us, read_at)) is not None:
        return polled, TimeLagKind.INTERPOLATED
    return judged if judged[0] else NOT_JUDGED
