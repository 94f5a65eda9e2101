"""Times as microseconds since 1970, as Arrow, the history store and the kernel have them."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND


def from_microseconds(since_epoch: float) -> datetime:
    return EPOCH + timedelta(microseconds=int(since_epoch))
