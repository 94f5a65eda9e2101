"""The topics, brokers and queues that a reset can select, with the lag of each by the newest scrape."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from consumers.groups.detail import queue_list, topic_rows
from consumers.groups.queue_rows import QueueRow
from consumers.groups.rows import TopicRow
from consumers.models import ConsumerGroup, TopicKind
from consumers.resets.targets.values import QueueKey
from dashboard.pages.common.list_pages import SHORT, whole_number

# More are not listed: they are named by hand, or chosen by their topic and broker.
TOPICS, BROKERS, QUEUES = 100, 100, 200


class WrongPlace(ValueError):
    """str() is one sentence."""


@dataclass(frozen=True)
class TopicBox:
    row: TopicRow
    is_retry: bool
    chosen: bool


@dataclass(frozen=True)
class BrokerBox:
    name: str
    queues: int
    chosen: bool


@dataclass(frozen=True)
class QueueBox:
    row: QueueRow
    place: str
    chosen: bool


@dataclass(frozen=True)
class Where:
    """The first are those with the most lag. `more_…`: how many are not listed.

    `named…`: chosen ones that are not listed. The form sends them again: left out they would be all.
    """

    topics: list[TopicBox]
    brokers: list[BrokerBox]
    queues: list[QueueBox]
    more_topics: int
    more_brokers: int
    more_queues: int
    named: list[str]
    named_brokers: list[str]
    named_queues: list[str]

    @property
    def some_queue_is_chosen(self) -> bool:
        return bool(self.named_queues) or any(box.chosen for box in self.queues)


def where(
    group: ConsumerGroup, topics: Sequence[str], brokers: Sequence[str], queues: Sequence[str], now: datetime
) -> Where:
    """`topics`, `brokers` and `queues` are chosen so far; queues as `place_of` writes them."""
    rows = [row for row in queue_list(group.cluster.name, group.name, now=now) if row.kind != TopicKind.DLQ]
    boxes = [
        TopicBox(row, row.kind == TopicKind.RETRY, row.topic in topics)
        for row in sorted(topic_rows(rows, {}), key=_most_lag)
    ]
    of_brokers = Counter(row.broker for row in rows)
    near = sorted((row for row in rows if not topics or row.topic in topics), key=_most_lag)
    places = [QueueBox(row, place_of(row), place_of(row) in queues) for row in near]
    known = {box.row.topic for box in boxes[:TOPICS]}
    shown_brokers, shown_queues = sorted(of_brokers)[:BROKERS], _chosen_first(places)[:QUEUES]
    return Where(
        topics=boxes[:TOPICS],
        brokers=[BrokerBox(name, of_brokers[name], name in brokers) for name in shown_brokers],
        queues=shown_queues,
        more_topics=max(0, len(boxes) - TOPICS),
        more_brokers=max(0, len(of_brokers) - BROKERS),
        more_queues=max(0, len(places) - QUEUES),
        named=[topic for topic in topics if topic not in known],
        named_brokers=_others(brokers, shown_brokers),
        named_queues=_others(queues, [box.place for box in shown_queues]),
    )


def place_of(row: QueueRow) -> str:
    return f"{row.topic}/{row.broker}/{row.queue_id}"


def queue_of(place: str) -> QueueKey:
    """The reverse of `place_of`. Raises WrongPlace."""
    topic, _first, rest = place.partition("/")
    broker, _second, queue_id = rest.rpartition("/")
    number = whole_number(queue_id, SHORT)
    if not (topic and broker) or number is None:
        raise WrongPlace(_("“%s” is not a queue: write topic/broker/id.") % place)
    return QueueKey(topic, broker, number)


def _others(chosen: Iterable[str], shown: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(chosen) if name not in shown]


def _chosen_first(boxes: Iterable[QueueBox]) -> list[QueueBox]:
    return sorted(boxes, key=lambda box: not box.chosen)


def _most_lag(row: TopicRow | QueueRow) -> tuple[int, str]:
    """Unknown lag first: it may be the worst."""
    return (-row.lag_messages if row.lag_messages is not None else -(2**63), row.topic)
