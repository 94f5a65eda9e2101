"""Why connected members cannot be told an offset by a broker that moves none itself.

It takes a time, works the offsets out itself for all write queues of the topic, and sends them to every member that is
connected (4.9.7 to 5.4.0, Broker2Client.resetOffset). It refuses if one of these queues has no commit.
"""

from django.utils.translation import gettext as _

from consumers.models import ResetKind

from .facts import GroupFacts, QueueFacts

# To the first message, to the end, to a moment: what a broker can work out by itself.
BY_TIME = frozenset({ResetKind.EARLIEST, ResetKind.LATEST, ResetKind.TIME})
# Other clients get the offsets in the Java client's own form; what they make of it is not RocketMQ's to tell.
UNDERSTOOD = "JAVA"


def why_members_cannot_be_told(
    kind: ResetKind, group: GroupFacts, queue: QueueFacts, clipped: bool, whole_topic: bool
) -> str | None:
    """For a group with members. Null where they can."""
    reason = _why_not_by_time(kind, clipped, whole_topic) or _why_not_understood(group)
    if reason is None and queue.now_offset is None:
        reason = _("this queue has no commit yet, and without one of each queue it refuses")
    if reason is None:
        return None
    return _(
        "The broker %(broker)s does not move offsets itself and only tells connected members a time; %(reason)s. Stop "
        "the group and plan anew: then the offset is committed exactly."
    ) % {"broker": queue.key.broker, "reason": reason}


def _why_not_by_time(kind: ResetKind, clipped: bool, whole_topic: bool) -> str | None:
    if kind not in BY_TIME:
        return _("this target is an offset, not a time")
    if clipped:
        return _("a target that was clipped is an offset, not a time")
    if not whole_topic:
        return _("that moves all queues of the topic there, and not all of them were chosen or can be")
    return None


def _why_not_understood(group: GroupFacts) -> str | None:
    others = sorted(set(group.languages) - {UNDERSTOOD})
    if others:
        return _("members written in %s may not understand it") % ", ".join(others)
    if not group.languages:
        return _("it is not known which clients its members use")
    return None
