"""What was chosen, before anybody was asked where it is: read from the reset and from rows."""

from collections.abc import Collection
from dataclasses import dataclass

from consumers.models import ConsumerGroup, Queue, Reset, ResetKind
from consumers.resets.targets.own_topics import own_topics
from consumers.resets.targets.reset_targets import TARGETS
from consumers.resets.wish import QueueKey


@dataclass(frozen=True)
class Choice:
    """`queues` null: all of `topics`, on `brokers` where they are given. `seen`: what rows have of these topics.

    `named`: somebody named these topics or queues, so that one which is not there is a mistake.
    """

    topics: tuple[str, ...]
    brokers: frozenset[str] | None
    queues: tuple[QueueKey, ...] | None
    seen: frozenset[QueueKey]
    named: bool


def choice_of(reset: Reset, group: ConsumerGroup) -> Choice:
    """Raises ResetRefused, where the past has nothing to return to."""
    queues, target = _stored_queues(reset), TARGETS[ResetKind(reset.kind)]
    named = queues is not None or reset.topics is not None or target.names_queues
    if queues is None and (own := target.own_queues(reset)) is not None:
        queues = tuple(key for key in own if _is_within(key, reset.topics, reset.brokers))
        named = target.names_queues
    if queues is not None:
        topics = sorted({key.topic for key in queues})
    else:
        topics = sorted(reset.topics) if reset.topics is not None else own_topics(group)
    brokers = None if reset.brokers is None else frozenset(reset.brokers)
    return Choice(tuple(topics), brokers, queues, _seen(group, topics), named)


def _stored_queues(reset: Reset) -> tuple[QueueKey, ...] | None:
    if reset.queues is None:
        return None
    return tuple(map(QueueKey.told, reset.queues))


def _is_within(key: QueueKey, topics: Collection[str] | None, brokers: Collection[str] | None) -> bool:
    return (topics is None or key.topic in topics) and (brokers is None or key.broker in brokers)


def _seen(group: ConsumerGroup, topics: Collection[str]) -> frozenset[QueueKey]:
    found = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=topics).exclude(readable=False)
    return frozenset(QueueKey(*row) for row in found.values_list("topic__name", "broker", "queue_id"))
