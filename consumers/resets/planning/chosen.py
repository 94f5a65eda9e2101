"""The selected queues, before any broker is asked for offsets: from the reset and from rows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from consumers.jobs.hold import WithHeartbeat
from consumers.models import ConsumerGroup, Queue, Reset, ResetKind
from consumers.resets.reset_targets import TARGETS
from consumers.resets.target_values import QueueKey, own_topics
from consumers.rocketmq.name_server import QueueRoute, Route
from consumers.rocketmq.wire.codes import BrokerRefused, ResponseCode, RocketMQError
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason


@dataclass(frozen=True)
class Choice:
    """`queues` null: all of `topics`, on `brokers` where they are given. `seen`: rows of these topics.

    `named`: a person named these topics or queues, so that a missing one is an error.
    """

    topics: tuple[str, ...]
    brokers: frozenset[str] | None
    queues: tuple[QueueKey, ...] | None
    seen: frozenset[QueueKey]
    named: bool


def choice_of(reset: Reset, group: ConsumerGroup, with_heartbeat: WithHeartbeat) -> Choice:
    """Raises ResetRefused where the past has nothing to return to."""
    queues, target = _stored_queues(reset), TARGETS[ResetKind(reset.kind)]
    named = queues is not None or reset.topics is not None or target.names_queues
    if queues is None and (own := target.own_queues(reset, with_heartbeat)) is not None:
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
    return tuple(map(QueueKey.of_entry, reset.queues))


def _is_within(key: QueueKey, topics: Collection[str] | None, brokers: Collection[str] | None) -> bool:
    return (topics is None or key.topic in topics) and (brokers is None or key.broker in brokers)


def _seen(group: ConsumerGroup, topics: Collection[str]) -> frozenset[QueueKey]:
    found = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=topics).exclude(readable=False)
    return frozenset(QueueKey(*row) for row in found.values_list("topic__name", "broker", "queue_id"))


Routes = Mapping[str, Route | RocketMQError]


@dataclass(frozen=True)
class Chosen:
    """`keys` exist and can be asked about; `left_out` were selected and cannot be. `refusals`: named queues that do not
    exist. `whole`: topics by broker where every queue is in `keys`, none of them write-only.
    """

    keys: tuple[QueueKey, ...]
    left_out: Mapping[QueueKey, str]
    whole: frozenset[tuple[str, str]]
    refusals: tuple[str, ...]


@dataclass(frozen=True)
class _Gone:
    """The queue does not exist (any more)."""

    reason: str


@dataclass(frozen=True)
class _OutOfReach:
    """Whether the queue exists is unknown."""

    reason: str


def chosen(choice: Choice, routes: Routes) -> Chosen:
    placed = {key: _placed(key, routes[key.topic], choice) for key in _candidates(choice, routes)}
    keys = [key for key, place in placed.items() if isinstance(place, QueueRoute)]
    gone = {key: place.reason for key, place in placed.items() if isinstance(place, _Gone)}
    left_out = {key: place.reason for key, place in placed.items() if isinstance(place, _OutOfReach)}
    refusals = [*_missing_topics(choice, routes), *_missing_brokers(choice, {key.broker for key in [*keys, *left_out]})]
    if choice.queues is not None and choice.named:
        refusals += dict.fromkeys(gone.values())
    elif choice.queues is not None:
        left_out |= gone
    return Chosen(tuple(keys), left_out, _whole(keys, placed), tuple(dict.fromkeys(refusals)))


def _candidates(choice: Choice, routes: Routes) -> list[QueueKey]:
    if choice.queues is not None:
        return list(choice.queues)
    routed = (_queues(topic, routes[topic]) for topic in choice.topics)
    every = {key for keys in routed for key in keys} | choice.seen
    within = (key for key in every if choice.brokers is None or key.broker in choice.brokers)
    return sorted(within)


def _queues(topic: str, route: Route | RocketMQError) -> Iterable[QueueKey]:
    if isinstance(route, RocketMQError):
        return []
    return (QueueKey(topic, of.broker, queue_id) for of in route.queues for queue_id in range(of.read_queues))


def _placed(key: QueueKey, route: Route | RocketMQError, choice: Choice) -> QueueRoute | _Gone | _OutOfReach:
    topic, broker = key.topic, key.broker
    if isinstance(route, RocketMQError):
        if _is_unknown_topic(route):
            return _Gone(stored_reason(PlanReason.TOPIC_ON_NO_BROKER, topic=topic))
        return _OutOfReach(stored_reason(PlanReason.PLACES_UNREAD, topic=topic, error=str(route)))
    there = next((of for of in route.queues if of.broker == key.broker), None)
    if there is None and key in choice.seen:
        return _OutOfReach(stored_reason(PlanReason.NO_ROUTE, topic=topic, broker=broker))
    if there is None:
        return _Gone(stored_reason(PlanReason.NO_QUEUE_THERE, topic=topic, broker=broker))
    if key.queue_id >= there.read_queues:
        place = {"queue_id": key.queue_id, "topic": topic, "broker": broker}
        return _Gone(stored_reason(PlanReason.NO_SUCH_QUEUE_ID, **place, n=there.read_queues))
    return there


def _missing_topics(choice: Choice, routes: Routes) -> list[str]:
    if choice.queues is not None or not choice.named:
        return []
    gone = [topic for topic in choice.topics if _is_unknown_topic(routes[topic])]
    return [stored_reason(PlanReason.TOPIC_ON_NO_BROKER, topic=topic) for topic in gone]


def _missing_brokers(choice: Choice, found: set[str]) -> list[str]:
    if choice.brokers is None or choice.queues is not None:
        return []
    missing = sorted(choice.brokers - found)
    return [stored_reason(PlanReason.BROKER_WITHOUT_TOPICS, broker=broker) for broker in missing]


def _is_unknown_topic(route: Route | RocketMQError) -> bool:
    return isinstance(route, BrokerRefused) and route.code == ResponseCode.TOPIC_NOT_EXIST


def _whole(
    keys: Sequence[QueueKey], placed: Mapping[QueueKey, QueueRoute | _Gone | _OutOfReach]
) -> frozenset[tuple[str, str]]:
    found: dict[tuple[str, str], set[int]] = {}
    for key in keys:
        found.setdefault((key.topic, key.broker), set()).add(key.queue_id)
    routes = {(key.topic, key.broker): place for key, place in placed.items() if isinstance(place, QueueRoute)}
    return frozenset(
        place
        for place, ids in found.items()
        if len(ids) == routes[place].read_queues and routes[place].write_queues <= routes[place].read_queues
    )
