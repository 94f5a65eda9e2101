"""Which queues a plan is about: what was chosen, held against where the topics are now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from consumers.resets.wish import QueueKey
from consumers.rocketmq.name_server import QueueRoute, Route
from consumers.rocketmq.wire.codes import ResponseCode
from consumers.rocketmq.wire.errors import BrokerRefused, RocketMQError

from .choice import Choice

Routes = Mapping[str, Route | RocketMQError]


@dataclass(frozen=True)
class Chosen:
    """`keys` are there and can be asked about; `left_out` were chosen, and cannot be. `refusals`: what was named and
    does not exist. `whole`: topics by broker of which every queue is in `keys`, none of them for writing alone."""

    keys: tuple[QueueKey, ...]
    left_out: Mapping[QueueKey, str]
    whole: frozenset[tuple[str, str]]
    refusals: tuple[str, ...]


@dataclass(frozen=True)
class _Gone:
    """It does not exist (any more)."""

    sentence: str


@dataclass(frozen=True)
class _OutOfReach:
    """Whether it exists is not known."""

    sentence: str


def chosen(choice: Choice, routes: Routes) -> Chosen:
    placed = {key: _placed(key, routes[key.topic], choice) for key in _candidates(choice, routes)}
    keys = [key for key, place in placed.items() if isinstance(place, QueueRoute)]
    gone = {key: place.sentence for key, place in placed.items() if isinstance(place, _Gone)}
    left_out = {key: place.sentence for key, place in placed.items() if isinstance(place, _OutOfReach)}
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
    words = {"topic": key.topic, "broker": key.broker, "queue_id": key.queue_id}
    if isinstance(route, RocketMQError):
        if _is_unknown_topic(route):
            return _Gone(_("The topic %s is on no broker any more.") % key.topic)
        return _OutOfReach(
            _("Where the queues of %(topic)s are could not be read: %(error)s") % (words | {"error": route})
        )
    there = next((of for of in route.queues if of.broker == key.broker), None)
    if there is None and key in choice.seen:
        return _OutOfReach(
            _("Name servers list no queue of %(topic)s on %(broker)s: it is down, or the topic was taken off it.")
            % words
        )
    if there is None:
        return _Gone(_("There is no queue of %(topic)s on %(broker)s.") % words)
    if key.queue_id >= there.read_queues:
        words["n"] = there.read_queues
        return _Gone(_("There is no queue %(queue_id)s of %(topic)s on %(broker)s: it has %(n)s to read.") % words)
    return there


def _missing_topics(choice: Choice, routes: Routes) -> list[str]:
    if choice.queues is not None or not choice.named:
        return []
    gone = [topic for topic in choice.topics if _is_unknown_topic(routes[topic])]
    return [_("The topic %s is on no broker any more.") % topic for topic in gone]


def _missing_brokers(choice: Choice, found: set[str]) -> list[str]:
    if choice.brokers is None or choice.queues is not None:
        return []
    missing = sorted(choice.brokers - found)
    return [_("There is no queue of the chosen topics on %s.") % broker for broker in missing]


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
