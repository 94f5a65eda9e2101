"""How a channel's receiver does: whether it takes anything, and until when it is left alone. Pure.

One message that is not taken says little of the receiver, and keeps no other from going. A receiver that is not there,
asks for time, or takes nothing of several is left alone for a while, so that all is not lost in trying.
"""

from datetime import datetime
from uuid import UUID

from consumers.models import Channel
from consumers.models.channels import SEVERAL

from .back_off import pause_after
from .outcome import Outcome

COLUMNS = ("failures", "failing_since", "failing_why", "held_until")


def stands(channel: Channel, outcome: Outcome, spread: UUID, now: datetime) -> bool:
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
