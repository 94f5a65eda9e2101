"""Look-ups of a message's attempts: a page or REST requests one, the general worker answers through Redis.

Permission and audit are those of a look at the body of a dead letter: whoever may not see bodies may not look up
messages either, and each request is audited. The answer has no body, and of properties only RocketMQ's own.
"""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from celery import shared_task
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext

from consumers.dead_letters.inspection import (
    KEPT_SECONDS,
    InspectionKey,
    bodies_not_permitted,
    may_see,
)
from consumers.jobs import acts, asking
from consumers.jobs.acts import ActRefused
from consumers.jobs.asking import PATIENCE, Answer, AnswerFailed
from consumers.jobs.hold import Ports, connected, reaching, without_address
from consumers.messages.joined import FoundCopies
from consumers.models import ConsumerGroup, Queue, QueueSnapshot, Topic, TopicKind
from consumers.queries.groups import find_group
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.message_calls import MessageCalls
from consumers.rocketmq.names import retry_topic
from consumers.vocabulary.reasons import AnswerProblem

from .lookup import Brokers, Lookup, LookupLimits, SearchedTopics

LONGEST = 255
# Brokers delete what is older, unless they are set to keep it for longer.
LEAST_SEARCHED = timedelta(days=31)
# deleteWhen is an hour of the day: what is due to go may stay for a day.
SPARE = timedelta(days=2)


@dataclass(frozen=True)
class WantedMessage:
    """`text`: an ID or a key. `topic`: of the original, where it is known."""

    cluster: str
    group: str
    text: str
    topic: str | None = None

    def __str__(self) -> str:
        topic = f" of {self.topic}" if self.topic else ""
        return f"{self.cluster}/{self.group}: {self.text}{topic}"


class LookupRefused(ActRefused):
    """What was asked for is no ID and no key."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.errors = {"message": sentence}


def checked(wanted: WantedMessage) -> WantedMessage:
    """Raises LookupRefused. Keys have no spaces: a space separates them (RocketMQ 5.4.0, MessageConst)."""
    text = wanted.text.strip()
    if not text or len(text) > LONGEST or any(character.isspace() for character in text):
        raise LookupRefused(
            gettext("Enter one message ID or key, without spaces and with at most %(n)s characters.") % {"n": LONGEST}
        )
    return WantedMessage(wanted.cluster, wanted.group, text, wanted.topic or None)


def ask_lookup(user: Any, wanted: WantedMessage, now: datetime) -> InspectionKey:
    """Audits the request. Raises RedisDown. Whoever calls it has seen that the user has MAY_SEE."""
    key = InspectionKey.made(user.pk, with_content=True)
    asking.ask(look_up_message, str(key), {"wanted": vars(wanted)}, now, KEPT_SECONDS)
    acts.note_seen(ConsumerGroup, str(wanted), user, "Looked up the attempts of a message.", now)
    return key


def lookup_answer(key: InspectionKey, wanted: WantedMessage) -> Answer[FoundCopies] | None:
    """None where this user has no such request for this message, or it has expired. Raises RedisDown."""
    return asking.read_answer(str(key), {"wanted": vars(wanted)}, "found", FoundCopies.of_json)


@shared_task(name="consumers.look_up_message")
def look_up_message(key: str, wanted: dict[str, Any]) -> None:
    with asking.answering(key, "found", KEPT_SECONDS) as answer:
        if not may_see(InspectionKey.of(key).user_id, wanted["cluster"]):
            raise bodies_not_permitted(wanted["cluster"])
        answer["found"] = look_up(WantedMessage(**wanted), timezone.now()).as_json()


def wait_for_answer(key: InspectionKey) -> None:
    """Until the worker has answered, or PATIENCE is over. Raises RedisDown."""
    asking.wait_for_answer(str(key), PATIENCE)


def look_up(wanted: WantedMessage, now: datetime) -> FoundCopies:
    """Asks the brokers. Raises AnswerFailed where nothing could be asked at all."""
    group = find_group(wanted.cluster, wanted.group)
    if group is None:
        raise AnswerFailed(AnswerProblem.GROUP_GONE, cluster=wanted.cluster, group=wanted.group)
    with reaching(AnswerProblem.BROKERS_UNREACHABLE):
        wire = connected(group.cluster)
        addresses = Ports.of(group.cluster, wire).addresses
        brokers = Brokers(
            {name: MessageCalls(wire.pool, address) for name, address in addresses.items()},
            {name: BrokerAdmin(wire.pool, address) for name, address in addresses.items()},
            without_address(group.cluster),
        )
        if not addresses:
            raise AnswerFailed(AnswerProblem.NO_BROKER)
        lookup = Lookup(searched_topics(group), brokers, _limits(group, now), now, time.monotonic)
        return wire.run(lookup.found(wanted.text, wanted.topic))


def searched_topics(group: ConsumerGroup) -> SearchedTopics:
    """Those with offsets of the group, and those that its members subscribe to. Three queries."""
    with_offsets = QueueSnapshot.objects.filter(group=group).order_by().values("queue__topic").distinct()
    subscribed = [subscription["topic"] for subscription in group.subscriptions]
    known = Topic.objects.filter(cluster=group.cluster_id)
    kinds = dict(known.filter(pk__in=with_offsets).values_list("name", "kind"))
    kinds |= dict(known.filter(name__in=subscribed).values_list("name", "kind"))
    normal: dict[str, list[str]] = {topic: [] for topic, kind in kinds.items() if kind == TopicKind.NORMAL}
    places = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=normal).order_by("broker")
    for topic, broker in places.values_list("topic__name", "broker").distinct():
        normal[topic].append(broker)
    retries = {topic for topic, kind in kinds.items() if kind == TopicKind.RETRY} | {retry_topic(group.name)}
    return SearchedTopics(group.name, normal, sorted(retries))


def _limits(group: ConsumerGroup, now: datetime) -> LookupLimits:
    reserved = [hours for hours in group.cluster.brokers.values_list("file_reserved_hours", flat=True) if hours]
    kept = timedelta(hours=max(reserved, default=0)) + SPARE
    return LookupLimits(since=now - max(kept, LEAST_SEARCHED), call_seconds=settings.POLL_CALL_DEADLINE_SECONDS)
