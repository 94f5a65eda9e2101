"""A broker whose delayed messages do not come when they are due: retries wait on, and no lag shows them."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext, ngettext

from consumers.selectors.measures import age, messages

from .ladder_rows import DelayFinding

# RocketMQ 5.4.0, ScheduleMessageService: what it logs when a round of deliveries fails.
LOGGED = "ScheduleMessageService, executeOnTimeUp exception"


def late_finding(broker: str, late: Sequence[tuple[datetime, int, float, int]]) -> DelayFinding:
    """`late`: (due at, level, seconds overdue, messages that wait) of the levels that are late, one at least."""
    due_at, level, overdue, _ = max(late, key=lambda one: one[2])
    waiting = sum(backlog for _, _, _, backlog in late)
    levels = sorted(number for _, number, _, _ in late)
    sentence = gettext(
        "%(broker)s delivers delayed messages late: "
        "the first of level %(level)d was due %(age)s before the newest reading."
    )
    behind = ngettext(
        "%(messages)s wait at the level that is late.",
        "%(messages)s wait at the %(n)d levels that are late.",
        len(late),
    )
    return DelayFinding(
        broker=broker,
        sentence=" ".join(
            [
                sentence % {"broker": broker, "level": level, "age": age(overdue)},
                behind % {"messages": messages(waiting), "n": len(late)},
            ]
        ),
        cure=gettext(
            "See whether the broker is the master and can store messages (its disk, its load), and look into its log: "
            "a delayed message is delivered by storing it once more, and those behind it wait until that succeeds."
        ),
        facts={"levels": levels, "overdue_seconds": round(overdue, 1), "waiting_messages": waiting},
        since=due_at,
        grep=LOGGED,
    )
