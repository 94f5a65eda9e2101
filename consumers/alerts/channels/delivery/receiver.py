"""State of a channel's receiver: when to retry it, and how long to pause. Pure.

One refused message says little about the receiver and delays no other message. A receiver that is unreachable, asks for
time, or refuses several messages is paused, so that the queue is not used up by failing attempts.
"""

from datetime import datetime, timedelta
from uuid import UUID

from consumers.alerts.channels.kinds.sending import Outcome
from consumers.models import Channel
from consumers.models.channels import SEVERAL

FIRST_SECONDS = 5.0
# On-call staff are notified within a minute of the receiver's return.
LONGEST_SECONDS = 60.0
# The longest pause that a receiver may ask for.
LONGEST_WISH_SECONDS = 3600.0
SPREAD = 0.25
LONGEST_PAUSE = timedelta(seconds=LONGEST_SECONDS * (1 + SPREAD))
LONGEST_HOLD = timedelta(seconds=LONGEST_WISH_SECONDS)


def pause_after(attempts: int, delivery_id: UUID, wished_seconds: float | None = None) -> timedelta:
    """After so many attempts (from 1): 5 s, doubling up to a minute, each longer by up to a quarter.

    The added part follows from the id, so that many channels with the same receiver do not all retry at once.
    """
    doubled = min(FIRST_SECONDS * 2.0 ** min(attempts - 1, 30), LONGEST_SECONDS)
    seconds = doubled * (1 + SPREAD * (delivery_id.int % 1009) / 1009)
    wished = min(wished_seconds or 0.0, LONGEST_WISH_SECONDS)
    return timedelta(seconds=max(seconds, wished))


def is_held(until: datetime | None, now: datetime) -> bool:
    """No hold is longer than LONGEST_HOLD. A longer one was recorded by a clock that was set back since."""
    return until is not None and now < until <= now + LONGEST_HOLD


COLUMNS = ("failures", "failing_since", "failing_why", "held_until")


def note_outcome(channel: Channel, outcome: Outcome, spread: UUID, now: datetime) -> bool:
    """Sets the COLUMNS of `channel`. Returns whether the receiver is back: it had been given up, and has now taken a
    message.
    """
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
    """Resets the receiver's state: no failure is known."""
    channel.failures, channel.failing_since, channel.failing_why, channel.held_until = 0, None, None, None
