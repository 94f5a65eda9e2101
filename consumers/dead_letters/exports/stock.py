"""Every letter that a group's dead-letter queues hold, read from the brokers from their begin to their end.

One answer of a broker is held at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from consumers.dead_letters.index.places import Ends, Place
from consumers.dead_letters.index.read_queue import DeadQueue
from consumers.dead_letters.index.refusals import reason_of
from consumers.errands.wires import connected, masters
from consumers.models import Cluster
from consumers.polling.registration.access import NoAccess
from consumers.polling.wire import Wire
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.codes import ResponseCode
from consumers.rocketmq.errors import BrokerRefused, RocketMQError
from consumers.rocketmq.message_values import PullOutcome, StoredMessage
from consumers.rocketmq.names import dlq_topic

from .wanted import ExportFailed


@dataclass(frozen=True)
class Piece:
    """What one answer of a broker held. It may be empty."""

    broker: str
    messages: tuple[StoredMessage, ...]


@dataclass(frozen=True)
class Stock:
    """Raises ExportFailed from every step. Letters that come after it began are left out."""

    cluster: Cluster
    group: str
    deadline_seconds: float

    def pieces(self) -> Iterator[Piece]:
        try:
            wire = connected(self.cluster)
            brokers = masters(self.cluster, wire)
            if not brokers:
                raise ExportFailed(f"No broker of {self.cluster} is known: it was not read yet.")
            ends: dict[Place, Ends] = {}
            for name, admin in brokers.items():
                ends |= wire.run(self._ends(name, admin))
            for (name, queue_id), place in sorted(ends.items()):
                queue = DeadQueue(brokers[name], dlq_topic(self.group), queue_id, self.deadline_seconds)
                for messages in self._queue(wire, queue, place):
                    yield Piece(name, messages)
        except NoAccess as error:
            raise ExportFailed(str(error)) from None
        except RocketMQError as error:
            raise ExportFailed(reason_of(error, dlq_topic(self.group))) from None

    async def _ends(self, name: str, admin: BrokerAdmin) -> dict[Place, Ends]:
        """None of a broker without the topic: no message of the group died there."""
        try:
            stats = await admin.topic_stats(dlq_topic(self.group), deadline_seconds=self.deadline_seconds)
        except BrokerRefused as refusal:
            if refusal.code == ResponseCode.TOPIC_NOT_EXIST:
                return {}
            raise
        return {(name, queue.queue_id): Ends(queue.min_offset, queue.max_offset) for queue in stats}

    def _queue(self, wire: Wire, queue: DeadQueue, ends: Ends) -> Iterator[tuple[StoredMessage, ...]]:
        at = ends.min_offset
        while at < ends.broker_offset:
            pulled = wire.run(queue.pull(at))
            found = tuple(m for m in pulled.messages if at <= m.queue_offset < ends.broker_offset)
            if found:
                at = found[-1].queue_offset + 1
            elif pulled.outcome is PullOutcome.MOVED and pulled.next_offset > at:
                # They have expired since: the broker names the next that is there.
                at = pulled.next_offset
            elif pulled.messages:
                return
            else:
                raise ExportFailed(
                    f"{queue.admin.address}: the broker gives no message at offset {at} of queue {queue.queue_id}, "
                    f"which ends at {ends.broker_offset}: {pulled.outcome}."
                )
            yield found
