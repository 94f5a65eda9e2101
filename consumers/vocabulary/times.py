"""Times as they are stored: as microseconds since 1970 in Arrow, the history store and the kernel, and as texts."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND


def from_microseconds(since_epoch: float) -> datetime:
    return EPOCH + timedelta(microseconds=int(since_epoch))


def iso(at: datetime) -> str:
    """`2026-03-14T02:50:00Z`: a time in what is stored or compared. Sentences write it by the reader's clock."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
