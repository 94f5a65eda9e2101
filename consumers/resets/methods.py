"""Which way an offset can be moved at all, or why it is left where it is: rules over facts, nothing is asked.

Reasons are stored ones.

A broker moves offsets itself where its useServerSideResetOffset is on (from 5.1.0, by default from 5.2.0:
AdminBrokerProcessor.resetOffset). Otherwise it only tells connected members a time, and moves nothing if there is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from consumers.models import ResetKind, ResetMethod
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason

from .planning.queue_plan import BrokerSetup, GroupSetup, QueueOffsets
from .targets.reset_targets import TARGETS
from .targets.values import QueueKey

# Why connected members cannot be told an offset by a broker that moves none itself.
# It takes a time, works the offsets out itself for all write queues of the topic, and sends them to every member that
# is connected (4.9.7 to 5.4.0, Broker2Client.resetOffset). It refuses if one of these queues has no commit.

# Other clients get the offsets in the Java client's own form; what they make of it is not RocketMQ's to tell.
UNDERSTOOD = "JAVA"


def why_members_cannot_be_told(
    kind: ResetKind, group: GroupSetup, queue: QueueOffsets, clipped: bool, whole_topic: bool
) -> str | None:
    """For a group with members. Null where they can."""
    reason = _why_not_by_time(kind, clipped, whole_topic) or _why_not_understood(group)
    if reason is None and queue.now_offset is None:
        reason = stored_reason(PlanReason.WITHOUT_COMMIT_REFUSED)
    if reason is None:
        return None
    return stored_reason(PlanReason.MEMBERS_NOT_TOLD, broker=queue.key.broker, reason=reason)


def _why_not_by_time(kind: ResetKind, clipped: bool, whole_topic: bool) -> str | None:
    if TARGETS[kind].told_as_ms is None:
        return stored_reason(PlanReason.TARGET_IS_OFFSET)
    if clipped:
        return stored_reason(PlanReason.CLIPPED_IS_OFFSET)
    if not whole_topic:
        return stored_reason(PlanReason.NOT_ALL_QUEUES)
    return None


def _why_not_understood(group: GroupSetup) -> str | None:
    others = sorted(set(group.languages) - {UNDERSTOOD})
    if others:
        return stored_reason(PlanReason.LANGUAGE_UNSURE, languages=others)
    if not group.languages:
        return stored_reason(PlanReason.CLIENTS_UNKNOWN)
    return None


WRITABLE = 2
PUSHED = "CONSUME_PASSIVELY"
POPPED = "CONSUME_POP"


@dataclass(frozen=True)
class LeftOut:
    """The queue is excluded; `reason`, as it is stored, says why, and what to do."""

    reason: str


def method_of(
    kind: ResetKind, group: GroupSetup, queue: QueueOffsets, target: int, clipped: bool, whole_topic: bool
) -> ResetMethod | LeftOut:
    """The method for one queue, whose target is within min..max.

    `whole_topic`: every queue of the topic at this broker is selected, and the topic has no fewer write queues than
    read queues. `together` then decides what all queues of a topic at a broker share.
    """
    broker = group.brokers.get(queue.key.broker)
    if broker is None:
        return LeftOut(stored_reason(PlanReason.BROKER_UNKNOWN, broker=queue.key.broker))
    if reason := _why_not_here(broker, queue):
        return LeftOut(reason)
    if group.members is None:
        return LeftOut(_why_members_unknown(group))
    if target == queue.now_offset:
        return ResetMethod.NOTHING
    if reason := _why_members_hold_it(group, queue.key.topic):
        return LeftOut(reason)
    if broker.server_side:
        return ResetMethod.SERVER
    if reason := _why_not_popped(group, queue.key):
        return LeftOut(reason)
    if not group.members:
        return ResetMethod.COMMIT
    reason = why_members_cannot_be_told(kind, group, queue, clipped, whole_topic)
    return LeftOut(reason) if reason else ResetMethod.CLIENT


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
    return LeftOut(stored_reason(PlanReason.TOLD_TOGETHER, queue=other.queue_id, why=why.reason))


def refusals_of_group(
    group: GroupSetup, *, last_message_model: str | None = None, outside_store: str | None = None
) -> list[str]:
    """Why no offset of the group can be reset at all; empty where some may be.

    `last_message_model` and `outside_store`: what readings know of the group, because it may have no member to report
    it.
    """
    if group.members is None:
        return [_why_members_unknown(group)]
    if group.members and group.message_model is None:
        return [stored_reason(PlanReason.MODEL_UNKNOWN)]
    if (group.message_model or last_message_model) == "BROADCASTING":
        return [stored_reason(PlanReason.BROADCASTING)]
    if outside_store is not None:
        return [stored_reason(PlanReason.OUTSIDE_STORE, store=outside_store)]
    return []


def _why_members_unknown(group: GroupSetup) -> str:
    why = group.members_error or stored_reason(PlanReason.BROKER_SILENT)
    return stored_reason(PlanReason.MEMBERS_UNKNOWN, why=why)


def _why_not_here(broker: BrokerSetup, queue: QueueOffsets) -> str | None:
    if broker.error is not None:
        return stored_reason(PlanReason.BROKER_UNASKABLE, broker=broker.name, error=broker.error)
    if queue.error is not None:
        return stored_reason(PlanReason.QUEUE_UNREADABLE, error=queue.error)
    if broker.permission is None:
        return stored_reason(PlanReason.WRITABLE_UNKNOWN, broker=broker.name)
    if not broker.permission & WRITABLE:
        return stored_reason(PlanReason.READ_ONLY, broker=broker.name, permission=broker.permission)
    if broker.server_side is None:
        return stored_reason(PlanReason.SERVER_SIDE_UNKNOWN, broker=broker.name)
    return None


def _why_members_hold_it(group: GroupSetup, topic: str) -> str | None:
    """Pull consumers continue from their own position, and commit it over the new offset as soon as a message is taken
    (5.4.0, DefaultLitePullConsumerImpl: OFFSET_ILLEGAL moves its pulls, not what it commits).
    """
    if not group.members or group.consume_type in (PUSHED, POPPED):
        return None
    if group.pop_topics is not None and topic in group.pop_topics:
        return None
    if group.consume_type is None:
        return stored_reason(PlanReason.CONSUME_TYPE_UNKNOWN)
    return stored_reason(PlanReason.MEMBERS_PULL, type=group.consume_type)


def _why_not_popped(group: GroupSetup, key: QueueKey) -> str | None:
    """A broker's in-memory state of popped messages takes precedence over a lower offset, and is cleared only by its
    own reset (5.4.0, PopMessageProcessor.getPopOffset).
    """
    if group.pop_topics is None:
        return stored_reason(PlanReason.POP_UNKNOWN, broker=key.broker)
    if key.topic in group.pop_topics or group.consume_type == POPPED:
        return stored_reason(PlanReason.POPPED, broker=key.broker)
    return None
