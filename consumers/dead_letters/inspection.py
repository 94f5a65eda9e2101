"""Fetches one dead-letter message for a person: requested through Redis, pulled without a commit, and audited."""

import json
import time
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from consumers.jobs import acts, asking
from consumers.jobs.asking import Answer, AnswerFailed
from consumers.jobs.hold import connected, masters
from consumers.jobs.permissions import user_may
from consumers.models import ConsumerGroup, DeadLetter
from consumers.polling.registration import NoAccess
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.bodies import BodyKind, Compression, DecodedBody, decoded_body
from consumers.rocketmq.messages.dead import DeadMessage, dead_message
from consumers.rocketmq.messages.stored import SYSTEM_PROPERTIES, StoredMessage
from consumers.rocketmq.names import dlq_topic
from consumers.rocketmq.wire.codes import RocketMQError
from consumers.vocabulary.reasons import AnswerProblem

from .read_queue import reason_of

# The result of fetching a message, and its transfer: as JSON through Redis, never written to disk.
TIMES = ("born_at", "stored_at")


@dataclass(frozen=True)
class MessagePlace:
    """A message of a group: of its dead-letter topic, or of a `topic` that it consumes."""

    cluster: str
    group: str
    broker: str
    queue_id: int
    offset: int
    topic: str | None = None

    def __str__(self) -> str:
        topic = f"{self.topic}/" if self.topic else ""
        return f"{self.cluster}/{self.group}: {topic}{self.broker}/{self.queue_id} at {self.offset}"

    @property
    def stored_in(self) -> str:
        return self.topic or dlq_topic(self.group)


@dataclass(frozen=True)
class Property:
    """`value` is null where the message was fetched without content and the property is the producer's own."""

    name: str
    value: str | None
    is_system: bool


@dataclass(frozen=True)
class Inspection:
    """`body` is null where the message was fetched without content."""

    at: datetime
    message: DeadMessage
    properties: tuple[Property, ...]
    body: DecodedBody | None

    def as_json(self) -> str:
        return json.dumps(asdict(self), default=datetime.isoformat)

    @classmethod
    def of_json(cls, text: str) -> "Inspection":
        document = json.loads(text)
        message = document["message"] | {name: datetime.fromisoformat(document["message"][name]) for name in TIMES}
        return cls(
            at=datetime.fromisoformat(document["at"]),
            message=DeadMessage(**message),
            properties=tuple(Property(**one) for one in document["properties"]),
            body=None if document["body"] is None else _body(document["body"]),
        )


def _body(document: dict[str, Any]) -> DecodedBody:
    kind, compression = document["kind"], document["compression"]
    enums = {
        "kind": None if kind is None else BodyKind(kind),
        "compression": None if compression is None else Compression(compression),
    }
    return DecodedBody(**(document | enums))


# A fetch request in Redis: waiting, then answered or failed; deleted after two minutes.
# Its key contains who asked, and whether for content, so that nobody reads another user's answer or more than they may
# see.
KEPT_SECONDS = 120


@dataclass(frozen=True)
class InspectionKey:
    user_id: int
    with_content: bool
    token: str

    @classmethod
    def made(cls, user_id: int, *, with_content: bool) -> "InspectionKey":
        return cls(user_id, with_content, asking.new_token())

    @classmethod
    def of(cls, text: str) -> "InspectionKey":
        _, _, user_id, seen, token = text.split(":")
        return cls(int(user_id), seen == "content", token)

    def __str__(self) -> str:
        return f"consumerscope:look:{self.user_id}:{'content' if self.with_content else 'facts'}:{self.token}"


def put_question(key: InspectionKey, place: MessagePlace, now: datetime) -> None:
    """Raises RedisDown."""
    asking.put_question(str(key), {"place": asdict(place)}, now, KEPT_SECONDS)


def answer_of(key: InspectionKey, place: MessagePlace) -> Answer[Inspection] | None:
    """None where this user has no such request for this message, or it has expired. Raises RedisDown."""
    return asking.read_answer(str(key), {"place": asdict(place)}, "look", Inspection.of_json)


# Fetches one dead-letter message from a broker, by a pull under a system group's name that commits nothing.

# All calls together: whoever waits would be told after asking.PATIENCE that no worker answers.
LONGEST_SECONDS = 8.0


def fetch_message(place: MessagePlace, now: datetime, *, with_content: bool) -> Inspection:
    """Without content, neither the body nor the values of the producer's own properties are returned.

    Raises AnswerFailed.
    """
    group = ConsumerGroup.objects.select_related("cluster").filter(cluster__name=place.cluster, name=place.group)
    known = group.first()
    if known is None:
        raise AnswerFailed(AnswerProblem.GROUP_GONE, cluster=place.cluster, group=place.group)
    if place.topic and not known.snapshots.filter(queue__topic__name=place.topic).exists():
        raise AnswerFailed(AnswerProblem.NO_OFFSET_IN_TOPIC, topic=place.topic)
    try:
        wire = connected(known.cluster)
        broker = masters(known.cluster, wire).get(place.broker)
        if broker is None:
            raise AnswerFailed(AnswerProblem.NO_MASTER, broker=place.broker)
        return _inspection(wire.run(_message(broker, place)), now, with_content=with_content)
    except (NoAccess, RocketMQError) as error:
        why = str(error) if isinstance(error, NoAccess) else reason_of(error, place.stored_in)
        raise AnswerFailed(AnswerProblem.MESSAGE_NOT_FETCHED, broker=place.broker, error=why) from None


async def _message(broker: BrokerAdmin, place: MessagePlace) -> StoredMessage:
    topic, ends = place.stored_in, time.monotonic() + LONGEST_SECONDS

    def left() -> float:
        return max(0.1, min(settings.POLL_CALL_DEADLINE_SECONDS, ends - time.monotonic()))

    # Older brokers store an event for each pull that is out of range: see QueueCalls.pull.
    least = await broker.min_offset(topic, place.queue_id, deadline_seconds=left())
    end = await broker.max_offset(topic, place.queue_id, deadline_seconds=left())
    if not least <= place.offset < end:
        raise _not_there(place.offset, least, end)
    pulled = await broker.pull(topic, place.queue_id, place.offset, deadline_seconds=left())
    found = next((message for message in pulled.messages if message.queue_offset == place.offset), None)
    if found is None:
        raise AnswerFailed(AnswerProblem.NOT_RETURNED, offset=place.offset, outcome=pulled.outcome)
    return found


def _not_there(offset: int, least: int, end: int) -> AnswerFailed:
    if least >= end:
        return AnswerFailed(AnswerProblem.QUEUE_EMPTY, offset=offset)
    return AnswerFailed(AnswerProblem.OUTSIDE_QUEUE, offset=offset, first=least, last=end - 1)


def _inspection(message: StoredMessage, now: datetime, *, with_content: bool) -> Inspection:
    limit = int(settings.MESSAGE_BODY_SHOWN_BYTES)
    return Inspection(
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


def note_seen(user: Any, what: str, sentence: str, now: datetime) -> None:
    """Audits who requested which content of dead-letter messages."""
    acts.note_seen(DeadLetter, what, user, sentence, now)


# Whether a user may see message bodies; the worker that reads them checks it again.
MAY_SEE = "consumers.view_message_body"


def bodies_not_permitted(cluster: str) -> AnswerFailed:
    return AnswerFailed(AnswerProblem.BODIES_NOT_PERMITTED, permission=MAY_SEE, cluster=cluster)


def may_see(user_id: int, cluster: str) -> bool:
    return user_may(user_id, MAY_SEE, cluster)
