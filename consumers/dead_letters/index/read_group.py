"""Asks every broker for the dead letters of one group."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.codes import ResponseCode
from consumers.rocketmq.errors import BrokerRefused, RocketMQError
from consumers.rocketmq.names import dlq_topic

from .places import Calls, Ends, Indexed, Place, kept_from
from .read_queue import DeadQueue, QueueRead, read_queue
from .refusals import reason_of


@dataclass
class GroupRead:
    """`errors` by broker that did not say which queues there are; the other brokers' queues are all in `ends`.

    A queue of `ends` without an entry in `queues` was left for another turn.
    """

    errors: dict[str, str] = field(default_factory=dict)
    ends: dict[Place, Ends] = field(default_factory=dict)
    queues: dict[Place, QueueRead] = field(default_factory=dict)
    kept_from: dict[Place, int] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Nothing is left that another turn could read."""
        return all(place in self.queues and self._is_done(place) for place in self.ends)

    def _is_done(self, place: Place) -> bool:
        read = self.queues[place]
        reached = read.since <= self.kept_from[place] and read.until >= self.ends[place].broker_offset
        return reached or read.error is not None


@dataclass
class Asked:
    """The brokers of a run. One that did not answer is in `silent`, with the reason, and not asked again."""

    admins: Mapping[str, BrokerAdmin]
    deadline_seconds: float
    silent: dict[str, str] = field(default_factory=dict)


async def read_group(asked: Asked, group: str, indexed: dict[Place, Indexed], kept: int, calls: Calls) -> GroupRead:
    topic, read = dlq_topic(group), GroupRead()
    await asyncio.gather(*(_read_ends(asked, broker, topic, read, calls) for broker in asked.admins))
    read.kept_from = kept_from(read.ends, kept)
    for place in sorted(read.ends):
        broker, queue_id = place
        if not calls.left or broker in asked.silent:
            continue
        queue = DeadQueue(asked.admins[broker], topic, queue_id, asked.deadline_seconds)
        found = await read_queue(queue, read.ends[place], read.kept_from[place], indexed.get(place), calls)
        if found.failure is not None:
            _note_silence(asked, broker, found.failure)
            found.error = reason_of(found.failure, topic)
        read.queues[place] = found
    return read


async def _read_ends(asked: Asked, broker: str, topic: str, read: GroupRead, calls: Calls) -> None:
    """The queues of a broker that has the topic; a group whose messages never died there has none."""
    if broker in asked.silent:
        read.errors[broker] = asked.silent[broker]
        return
    calls.take()
    try:
        stats = await asked.admins[broker].topic_stats(topic, deadline_seconds=asked.deadline_seconds)
    except RocketMQError as failure:
        if isinstance(failure, BrokerRefused) and failure.code == ResponseCode.TOPIC_NOT_EXIST:
            return
        _note_silence(asked, broker, failure)
        read.errors[broker] = reason_of(failure, topic)
        return
    for queue in stats:
        read.ends[broker, queue.queue_id] = Ends(queue.min_offset, queue.max_offset)


def _note_silence(asked: Asked, broker: str, failure: RocketMQError) -> None:
    if not isinstance(failure, BrokerRefused):
        asked.silent[broker] = str(failure)
