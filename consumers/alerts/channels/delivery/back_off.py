"""When a message that was not taken is tried again, and a channel whose receiver takes nothing. Pure."""

from datetime import datetime, timedelta
from uuid import UUID

FIRST_SECONDS = 5.0
# Who is on call hears of it within a minute of the receiver's return.
LONGEST_SECONDS = 60.0
# What a receiver asks for is heeded up to here.
LONGEST_WISH_SECONDS = 3600.0
SPREAD = 0.25
LONGEST_PAUSE = timedelta(seconds=LONGEST_SECONDS * (1 + SPREAD))
LONGEST_HOLD = timedelta(seconds=LONGEST_WISH_SECONDS)


def pause_after(attempts: int, delivery_id: UUID, wished_seconds: float | None = None) -> timedelta:
    """After so many attempts (from 1): 5 s, doubling up to a minute, each longer by up to a quarter.

    The quarter's share follows from the id, so that messages of many channels to one receiver do not come all at once.
    """
    doubled = min(FIRST_SECONDS * 2.0 ** min(attempts - 1, 30), LONGEST_SECONDS)
    seconds = doubled * (1 + SPREAD * (delivery_id.int % 1009) / 1009)
    wished = min(wished_seconds or 0.0, LONGEST_WISH_SECONDS)
    return timedelta(seconds=max(seconds, wished))


def is_held(until: datetime | None, now: datetime) -> bool:
    """No hold is longer than LONGEST_HOLD: one that seems so was noted by a clock that was set back since."""
    return until is not None and now < until <= now + LONGEST_HOLD
