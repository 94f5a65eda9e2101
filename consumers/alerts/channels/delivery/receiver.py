"""How the receiver of a channel does: when it is tried again, and how long it is left alone. Pure.

One message that is not taken says little of the receiver, and keeps no other from going. A receiver that is not there,
asks for time, or takes nothing of several is left alone for a while, so that all is not lost in trying.
"""

from datetime import datetime, timedelta
from uuid import UUID

from consumers.alerts.channels.kinds.sending import Outcome
from consumers.models import Channel
from consumers.models.channels import SEVERAL

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


COLUMNS = ("failures", "failing_since", "failing_why", "held_until")


def note_outcome(channel: Channel, outcome: Outcome, spread: UUID, now: datetime) -> bool:
    """Sets the COLUMNS of `channel`. Whether the receiver is back: it was given up on, and has taken something."""
    if outcome.ok:
        is_back = channel.failures >= SEVERAL
        begin_anew(channel)
        return is_back
    channel.failures += 1
    channel.failing_since = channel.failing_since or now
    channel.failing_why = outcome.answer
    leaves_alone = outcome.is_away or outcome.asks_for_time
    if leaves_alone or channel.failures >= SEVERAL:
        holds = channel.failures if leaves_alone else channel.failures - SEVERAL + 1
        channel.held_until = now + pause_after(holds, spread, outcome.retry_after_seconds)
    return False


def begin_anew(channel: Channel) -> None:
    """Nothing is known against its receiver."""
    channel.failures, channel.failing_since, channel.failing_why, channel.held_until = 0, None, None, None
