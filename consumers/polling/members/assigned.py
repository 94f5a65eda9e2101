"""What brokers give to clients that leave the sharing out of queues to them.

Those are concurrent, clustering clients with clientRebalance off (RocketMQ 5.4.0, RebalancePushImpl.clientRebalance).
The broker shares out among the clients that it lists itself.
"""

from dataclasses import asdict, replace

from consumers.polling.brokers.rows import kind_in_group
from consumers.polling.reading import ClientReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.client_values import AssignedQueue
from consumers.rocketmq.errors import RocketMQError

# Those that a broker knows, by their class at the client (5.4.0, QueryAssignmentProcessor).
STRATEGIES = {"AllocateMessageQueueAveragely": "AVG", "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE"}
CLUSTERING = "CLUSTERING"


def topics_asked_for(reading: ClientReading) -> list[str]:
    """The topics of which a broker shares out the queues; none where the client does so itself, or did not speak.

    Such a client subscribes to its own retry topics for popping too, of which most do not exist: they are left out.
    """
    settings = reading.settings or {}
    leaves_it = settings.get("clientRebalance") == "false" and settings.get("messageModel") == CLUSTERING
    if not leaves_it or reading.orderly is not False or reading.strategy not in STRATEGIES:
        return []
    topics = [str(one["topic"]) for one in reading.subscriptions or ()]
    return sorted(topic for topic in topics if kind_in_group(reading.group, topic) != "retry")


async def with_assigned(admin: BrokerAdmin, reading: ClientReading, deadline_seconds: float) -> ClientReading:
    """The reading with what the broker gives its client over all topics. A part of them is no assignment: where one
    is missing there is the reason in its place."""
    queues: list[AssignedQueue] = []
    strategy = STRATEGIES[reading.strategy or ""]
    for topic in topics_asked_for(reading):
        try:
            given = await admin.query_assignment(
                reading.group, topic, reading.client_id, strategy, CLUSTERING, deadline_seconds=deadline_seconds
            )
        except RocketMQError as error:
            return replace(reading, broker_assigned_error=str(error))
        if given is None:
            return replace(reading, broker_assigned_error=f"{admin.address}: it gives {topic} to nobody")
        queues += given
    return replace(reading, broker_assigned=tuple(asdict(queue) for queue in sorted(queues, key=_place)))


def _place(queue: AssignedQueue) -> tuple[str, str, int]:
    return queue.topic, queue.broker, queue.queue_id
