"""Values of reset targets as forms and REST send them, checked and made what `Reset.value` stores, in JSON's own types.

Whole numbers may come as text. Each check raises ValueRefused, which says what is allowed.
"""

import math
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.resets.wish import QueueKey, ResetRefused

DAY_SECONDS = 86_400
LONGEST_SECONDS = 3_650 * DAY_SECONDS
NOT_AN_OFFSET = gettext_lazy("%(said)s is no offset: write a whole number, 0 or more.")
# Longer ones do not fit into a broker's 64 bits.
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


class ValueRefused(ResetRefused):
    """What was typed is wrong in itself, whatever the cluster says."""


def whole(said: Any) -> int | None:
    """Null for everything else: a truth, a fraction, words."""
    if isinstance(said, str) and _WHOLE.fullmatch(said.strip()):
        return int(said)
    return said if isinstance(said, int) and not isinstance(said, bool) else None


def is_offset(number: int) -> bool:
    return 0 <= number < 2**63


def moment_of(value: str) -> datetime:
    """The time that is stored as the value of TIME and MOMENT."""
    return datetime.fromisoformat(value)


def nothing(said: Any, now: datetime) -> None:
    if said not in (None, ""):
        raise ValueRefused(_("This target needs no value: leave it out."))


def time(said: Any, now: datetime) -> str:
    at = _parsed_time(said)
    if at > now:
        raise ValueRefused(_("The time %s lies ahead: messages that are not stored yet cannot be chosen.") % said)
    if at < datetime(1970, 1, 2, tzinfo=UTC):
        raise ValueRefused(_("The time %s is from before computers counted it: choose the earliest instead.") % said)
    return at.isoformat()


def _parsed_time(said: Any) -> datetime:
    wrong = _("%s is no time: write it as 2026-03-14T02:13:00Z, with its zone.") % (said if said else _("Nothing"))
    if not isinstance(said, str):
        raise ValueRefused(wrong)
    try:
        at = datetime.fromisoformat(said.strip())
        if at.tzinfo is None:
            raise ValueRefused(_("The time %s does not say its zone: add Z for UTC, or +02:00.") % said)
        return at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueRefused(wrong) from error


def offset(said: Any, now: datetime) -> int:
    number = whole(said)
    if number is None or not is_offset(number):
        raise ValueRefused(NOT_AN_OFFSET % {"said": said})
    return number


def shift(said: Any, now: datetime) -> int:
    number = whole(said)
    if number is None or not is_offset(abs(number)):
        raise ValueRefused(_("%s is no number of messages: write a whole one, below 0 to go back.") % said)
    if number == 0:
        raise ValueRefused(_("A shift by 0 messages moves nothing: say how many, below 0 to go back."))
    return number


def skip_older(said: Any, now: datetime) -> float:
    try:
        seconds = math.nan if isinstance(said, bool) else float(said)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueRefused(
            _("%(said)s is no age: write seconds, more than 0 and at most %(most)s (ten years).")
            % {"said": said, "most": LONGEST_SECONDS}
        )
    return seconds


def copy(said: Any, now: datetime) -> str:
    if not isinstance(said, str) or not said:
        raise ValueRefused(_("Name the group of the same cluster whose offsets are to be copied."))
    return said


def restore(said: Any, now: datetime) -> str:
    try:
        return str(UUID(str(said)))
    except ValueError as error:
        raise ValueRefused(_("%s is not the id of a reset.") % said) from error


# A list of offsets, queue by queue.

FIELDS = frozenset({"topic", "broker", "queue_id", "offset"})
MOST_QUEUES = 2**31


def offset_list(said: Any, now: datetime) -> list[dict[str, Any]]:
    """[{topic, broker, queue_id, offset}], as it came. Raises ValueRefused, naming the entry by its number from 1."""
    if not isinstance(said, list) or not said:
        raise ValueRefused(_("List at least one queue with its offset: topic, broker, queue_id and offset of each."))
    if len(said) > settings.RESET_QUEUES_MAX:
        words = {"n": len(said), "most": settings.RESET_QUEUES_MAX}
        raise ValueRefused(_("%(n)s queues are listed, and at most %(most)s may be (RESET_QUEUES_MAX).") % words)
    entries = [_entry(number, entry) for number, entry in enumerate(said, start=1)]
    seen: dict[QueueKey, int] = {}
    for number, entry in enumerate(entries, start=1):
        if (first := seen.setdefault(QueueKey.told(entry), number)) != number:
            raise ValueRefused(
                _("The entries %(first)s and %(second)s name the same queue, %(topic)s/%(broker)s/%(queue_id)s.")
                % {"first": first, "second": number, **entry}
            )
    return entries


def _entry(number: int, said: Any) -> dict[str, Any]:
    if not isinstance(said, dict) or set(said) != FIELDS:
        raise ValueRefused(_("Entry %s must have topic, broker, queue_id and offset, and nothing else.") % number)
    queue_id, offset = whole(said["queue_id"]), whole(said["offset"])
    for name in ("topic", "broker"):
        if not isinstance(said[name], str) or not said[name]:
            raise ValueRefused(_("Entry %(number)s names no %(name)s.") % {"number": number, "name": name})
    if queue_id is None or not 0 <= queue_id < MOST_QUEUES:
        raise ValueRefused(
            _("Entry %(number)s: %(said)s is no queue id.") % {"number": number, "said": said["queue_id"]}
        )
    if offset is None or not is_offset(offset):
        why = NOT_AN_OFFSET % {"said": said["offset"]}
        raise ValueRefused(_("Entry %(number)s: %(why)s") % {"number": number, "why": why})
    return {"topic": said["topic"], "broker": said["broker"], "queue_id": queue_id, "offset": offset}
