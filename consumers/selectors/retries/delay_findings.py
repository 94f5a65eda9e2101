"""A broker whose delayed messages do not come when they are due: retries wait on, and no lag shows them."""

from collections.abc import Sequence

from django.utils.translation import gettext, ngettext

from consumers.selectors.measures import age, messages

from .broker_level import BrokerLevel
from .ladder_rows import DelayFinding

# RocketMQ 5.4.0, ScheduleMessageService: what it logs when a round of deliveries fails.
LOGGED = "ScheduleMessageService, executeOnTimeUp exception"


def late_finding(broker: str, late: Sequence[BrokerLevel]) -> DelayFinding:
    """`late`: the levels that are, one at least."""
    worst = max(late, key=_overdue)
    waiting = sum(level.backlog or 0 for level in late)
    words = {"broker": broker, "level": worst.level, "age": age(_overdue(worst)), "messages": messages(waiting)}
    return DelayFinding(
        broker=broker,
        sentence=f"{_what(words)} {_how_much(words, len(late))}",
        cure=gettext(
            "See whether the broker is the master and can store messages (its disk, its load), and look into its log: "
            "a delayed message is delivered by storing it once more, and those behind it wait until that succeeds."
        ),
        facts={
            "levels": sorted(level.level for level in late),
            "overdue_seconds": round(_overdue(worst), 1),
            "waiting_messages": waiting,
        },
        since=worst.next_due_at,
        grep=LOGGED,
    )


def _overdue(level: BrokerLevel) -> float:
    return level.overdue_seconds or 0.0


def _what(words: dict[str, object]) -> str:
    text = gettext(
        "%(broker)s delivers delayed messages late: "
        "the first of level %(level)d was due %(age)s before the newest reading."
    )
    return text % words


def _how_much(words: dict[str, object], levels: int) -> str:
    text = ngettext(
        "%(messages)s wait at the level that is late.", "%(messages)s wait at the %(n)d levels that are late.", levels
    )
    return text % (words | {"n": levels})
