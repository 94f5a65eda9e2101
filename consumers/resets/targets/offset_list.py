"""A list of offsets, queue by queue, as the target of a reset."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from consumers.resets.wish import QueueKey

from .numbers import NOT_AN_OFFSET, ValueRefused, is_offset, whole

FIELDS = frozenset({"topic", "broker", "queue_id", "offset"})
MOST_QUEUES = 2**31


def offset_list(said: Any) -> list[dict[str, Any]]:
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
