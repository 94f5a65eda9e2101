"""Asks a broker for one dead letter. A pull that commits nothing, under a system group's name: it changes nothing."""

from datetime import datetime

from django.conf import settings

from consumers.dead_letters.index.refusals import reason_of
from consumers.errands.wires import connected, masters
from consumers.models import ConsumerGroup
from consumers.polling.registration.access import NoAccess
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.bodies import decoded_body
from consumers.rocketmq.messages.dead_messages import dead_message
from consumers.rocketmq.messages.message_values import StoredMessage
from consumers.rocketmq.messages.system_properties import SYSTEM_PROPERTIES
from consumers.rocketmq.names import dlq_topic
from consumers.rocketmq.wire.errors import RocketMQError

from .look import Look, MessagePlace, Property


class LookFailed(Exception):
    """str() is one sentence for whoever asked."""


def look_at(place: MessagePlace, now: datetime, *, with_content: bool) -> Look:
    """Without content neither the body nor the values of the producer's own properties leave this function.

    Raises LookFailed.
    """
    group = ConsumerGroup.objects.select_related("cluster").filter(cluster__name=place.cluster, name=place.group)
    known = group.first()
    if known is None:
        raise LookFailed(f"There is no group {place.group!r} in cluster {place.cluster!r}.")
    try:
        wire = connected(known.cluster)
        broker = masters(known.cluster, wire).get(place.broker)
        if broker is None:
            raise LookFailed(f"No master of {place.broker} is known: it may have left the cluster.")
        return _look(wire.run(_message(broker, place)), now, with_content=with_content)
    except (NoAccess, RocketMQError) as error:
        raise LookFailed(f"{place.broker} could not be asked for it: {_reason(error, place)}") from None


def _reason(error: NoAccess | RocketMQError, place: MessagePlace) -> str:
    return str(error) if isinstance(error, NoAccess) else reason_of(error, dlq_topic(place.group))


async def _message(broker: BrokerAdmin, place: MessagePlace) -> StoredMessage:
    topic, seconds = dlq_topic(place.group), settings.POLL_CALL_DEADLINE_SECONDS
    # Older brokers store an event of their own for pulls out of range: see QueueCalls.pull.
    least = await broker.min_offset(topic, place.queue_id, deadline_seconds=seconds)
    end = await broker.max_offset(topic, place.queue_id, deadline_seconds=seconds)
    if not least <= place.offset < end:
        held = f"holds offsets {least} to {end - 1}" if least < end else "holds no message"
        raise LookFailed(f"There is no message at offset {place.offset}: its queue {held}. Older ones have expired.")
    pulled = await broker.pull(topic, place.queue_id, place.offset, deadline_seconds=seconds)
    found = next((message for message in pulled.messages if message.queue_offset == place.offset), None)
    if found is None:
        raise LookFailed(f"The broker gives no message at offset {place.offset}: {pulled.outcome}.")
    return found


def _look(message: StoredMessage, now: datetime, *, with_content: bool) -> Look:
    limit = int(settings.MESSAGE_BODY_SHOWN_BYTES)
    return Look(
        at=now,
        message=dead_message(message),
        properties=tuple(
            Property(
                name, value if with_content or name in SYSTEM_PROPERTIES else None, is_system=name in SYSTEM_PROPERTIES
            )
            for name, value in sorted(message.properties.items())
        ),
        body=decoded_body(message.stored_body, message.sys_flag, limit) if with_content else None,
    )
