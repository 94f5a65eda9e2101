"""Which way an offset can be moved at all, or why it is left where it is: rules over facts, nothing is asked.

A broker moves offsets itself where its useServerSideResetOffset is on (from 5.1.0, by default from 5.2.0:
AdminBrokerProcessor.resetOffset). Otherwise it only tells connected members a time, and moves nothing if there is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from consumers.models import ResetKind, ResetMethod

from .facts import BrokerFacts, GroupFacts, QueueFacts
from .targets.reset_targets import TARGETS
from .wish import QueueKey

# Why connected members cannot be told an offset by a broker that moves none itself.
# It takes a time, works the offsets out itself for all write queues of the topic, and sends them to every member that
# is connected (4.9.7 to 5.4.0, Broker2Client.resetOffset). It refuses if one of these queues has no commit.

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
    if TARGETS[kind].told_as_ms is None:
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


WRITABLE = 2
PUSHED = "CONSUME_PASSIVELY"
POPPED = "CONSUME_POP"


@dataclass(frozen=True)
class LeftOut:
    """The queue is excluded; `sentence` says why, and what to do."""

    sentence: str


def method_of(
    kind: ResetKind, group: GroupFacts, queue: QueueFacts, target: int, clipped: bool, whole_topic: bool
) -> ResetMethod | LeftOut:
    """The method for one queue, whose target is within min..max.

    `whole_topic`: every queue of the topic at this broker is selected, and the topic has no fewer write queues than
    read queues. `together` then decides what all queues of a topic at a broker share.
    """
    broker = group.brokers.get(queue.key.broker)
    if broker is None:
        return LeftOut(_("No master of the broker %s is known: wait for the next reading.") % queue.key.broker)
    if sentence := _why_not_here(broker, queue):
        return LeftOut(sentence)
    if group.members is None:
        return LeftOut(_why_members_unknown(group))
    if target == queue.now_offset:
        return ResetMethod.NOTHING
    if sentence := _why_members_hold_it(group, queue.key.topic):
        return LeftOut(sentence)
    if broker.server_side:
        return ResetMethod.SERVER
    if sentence := _why_not_popped(group, queue.key):
        return LeftOut(sentence)
    if not group.members:
        return ResetMethod.COMMIT
    sentence = why_members_cannot_be_told(kind, group, queue, clipped, whole_topic)
    return LeftOut(sentence) if sentence else ResetMethod.CLIENT


def together(methods: Mapping[QueueKey, ResetMethod | LeftOut]) -> dict[QueueKey, ResetMethod | LeftOut]:
    """Members are told all queues of a topic at a broker in one call. So if one queue is excluded, none is told; and if
    one moves, queues that are at their target are told as well.
    """
    told = {(key.topic, key.broker) for key, method in methods.items() if method == ResetMethod.CLIENT}
    refused: dict[tuple[str, str], tuple[QueueKey, LeftOut]] = {}
    for key, method in methods.items():
        if isinstance(method, LeftOut):
            refused.setdefault((key.topic, key.broker), (key, method))
    return {key: _settled(key, method, told, refused) for key, method in methods.items()}


def _settled(
    key: QueueKey,
    method: ResetMethod | LeftOut,
    told: set[tuple[str, str]],
    refused: Mapping[tuple[str, str], tuple[QueueKey, LeftOut]],
) -> ResetMethod | LeftOut:
    place = (key.topic, key.broker)
    if place not in told or method not in (ResetMethod.CLIENT, ResetMethod.NOTHING):
        return method
    if place not in refused:
        return ResetMethod.CLIENT
    if method == ResetMethod.NOTHING:
        return method
    other, why = refused[place]
    return LeftOut(
        _("Members are told all queues of the topic at this broker at once, and queue %(queue)s cannot be: %(why)s")
        % {"queue": other.queue_id, "why": why.sentence}
    )


def refusals_of_group(
    group: GroupFacts, *, last_message_model: str | None = None, outside_store: str | None = None
) -> list[str]:
    """Why no offset of the group can be reset at all; empty where some may be.

    `last_message_model` and `outside_store`: what readings know of the group, because it may have no member to report
    it.
    """
    if group.members is None:
        return [_why_members_unknown(group)]
    if group.members and group.message_model is None:
        return [_("The brokers do not tell whether its members share the queues or each read all: try again.")]
    if (group.message_model or last_message_model) == "BROADCASTING":
        return [
            _(
                "It is a broadcasting group: each member keeps offsets of its own in a file beside it, and no broker "
                "can move them. Stop the member and edit or delete its offsets.json."
            )
        ]
    if outside_store is not None:
        return [
            _(
                "Its members keep their offsets in a store of their own (%s), and start from there whatever the "
                "brokers hold: move them there."
            )
            % outside_store
        ]
    return []


def _why_members_unknown(group: GroupFacts) -> str:
    return _("It is not known who is in the group (%s), and how it can be reset depends on that: try again.") % (
        group.members_error or _("a broker did not answer")
    )


def _why_not_here(broker: BrokerFacts, queue: QueueFacts) -> str | None:
    if broker.error is not None:
        return _("The broker %(broker)s cannot be asked: %(error)s") % {"broker": broker.name, "error": broker.error}
    if queue.error is not None:
        return _("The queue cannot be read: %s") % queue.error
    if broker.permission is None:
        return _("The broker %s does not say whether it may be written to: try again.") % broker.name
    if not broker.permission & WRITABLE:
        return _(
            "The broker %(broker)s is set to read-only (brokerPermission=%(permission)s): set it to 6 first, or wait "
            "until whoever did so is done."
        ) % {"broker": broker.name, "permission": broker.permission}
    if broker.server_side is None:
        return _("The broker %s does not say whether it moves offsets itself: try again.") % broker.name
    return None


def _why_members_hold_it(group: GroupFacts, topic: str) -> str | None:
    """Pull consumers continue from their own position, and commit it over the new offset as soon as a message is taken
    (5.4.0, DefaultLitePullConsumerImpl: OFFSET_ILLEGAL moves its pulls, not what it commits).
    """
    if not group.members or group.consume_type in (PUSHED, POPPED):
        return None
    if group.pop_topics is not None and topic in group.pop_topics:
        return None
    if group.consume_type is None:
        return _("The brokers do not tell how its members consume: try again, or stop the group first.")
    return _(
        "Its members pull by themselves (%s), so that each goes on from its own position and commits that over any "
        "other: stop the group first, or let its program seek."
    ) % (group.consume_type)


def _why_not_popped(group: GroupFacts, key: QueueKey) -> str | None:
    """A broker's in-memory state of popped messages takes precedence over a lower offset, and is cleared only by its
    own reset (5.4.0, PopMessageProcessor.getPopOffset).
    """
    if group.pop_topics is None:
        return _(
            "It is not known whether the group pops this topic, and the broker %s does not move offsets itself: "
            "try again, or set its useServerSideResetOffset to true."
        ) % (key.broker)
    if key.topic in group.pop_topics or group.consume_type == POPPED:
        return _(
            "The group pops this topic, and the broker %s does not move offsets itself: set its "
            "useServerSideResetOffset to true first (possible from RocketMQ 5.1.0)."
        ) % (key.broker)
    return None
