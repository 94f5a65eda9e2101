"""The topics that a reset of a group covers where nobody selected any."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence

from django.conf import settings
from django.utils.translation import gettext as _

from consumers.models import Broker, ConsumerGroup, Queue, QueueSnapshot, Topic, TopicKind
from consumers.resets.wish import QueueKey, ResetRefused
from consumers.rocketmq.names import is_retry_topic_of, topic_kind


def own_topics(group: ConsumerGroup) -> list[str]:
    """Those with offsets of the group, and those that its members subscribe to: normal ones, by name."""
    with_offsets = QueueSnapshot.objects.filter(group=group).order_by().values("queue__topic").distinct()
    subscribed = [subscription["topic"] for subscription in group.subscriptions]
    normal = Topic.objects.filter(cluster=group.cluster_id, kind=TopicKind.NORMAL)
    names = set(normal.filter(pk__in=with_offsets).values_list("name", flat=True))
    return sorted(names.union(normal.filter(name__in=subscribed).values_list("name", flat=True)))


NAMED = 3


def check_places(
    group: ConsumerGroup,
    topics: Sequence[str] | None,
    brokers: Sequence[str] | None,
    queues: Sequence[QueueKey] | None,
) -> None:
    """Raises ResetRefused. None is all. Whether each queue is there, only its broker can tell."""
    for chosen, what in ((topics, _("topics")), (brokers, _("brokers")), (queues, _("queues"))):
        _check_list(chosen, what)
    named = {*(topics or ()), *(key.topic for key in queues or ())}
    _check_topics(group, named)
    _check_brokers(group, {*(brokers or ()), *(key.broker for key in queues or ())})
    _check_agreement(topics, brokers, queues)
    _check_number(group, named or own_topics(group), brokers, queues)


def _check_list(chosen: Sequence[Hashable] | None, what: str) -> None:
    if chosen is None:
        return
    if not chosen:
        raise ResetRefused(_("No %s are chosen: choose one at least, or leave them out for all.") % what)
    if twice := [str(one) for one, times in Counter(chosen).items() if times > 1]:
        raise ResetRefused(_("Some %(what)s are chosen twice: %(named)s.") % {"what": what, "named": _few(twice)})


def _check_topics(group: ConsumerGroup, names: Collection[str]) -> None:
    kinds = dict(Topic.objects.filter(cluster=group.cluster_id, name__in=names).values_list("name", "kind"))
    if unseen := sorted(set(names) - set(kinds)):
        words = {"named": _few(unseen), "cluster": group.cluster.name}
        raise ResetRefused(_("No reading of %(cluster)s has seen the topic %(named)s: check its name.") % words)
    for name in sorted(names):
        if kinds[name] != TopicKind.NORMAL and (against := _why_not_chosen(group, name)):
            raise ResetRefused(against)


def _why_not_chosen(group: ConsumerGroup, topic: str) -> str | None:
    words = {"topic": topic, "group": group.name}
    if topic_kind(topic) == TopicKind.DLQ:
        return _("%(topic)s holds dead letters, which a group does not consume: send them again instead.") % words
    normal = set(own_topics(group))
    if topic_kind(topic) == TopicKind.RETRY and is_retry_topic_of(topic, group.name, normal):
        return None
    if topic_kind(topic) == TopicKind.RETRY:
        return _("%(topic)s is the retry topic of another group than %(group)s.") % words
    return _("%(topic)s is a topic of RocketMQ's own: it is not reset from here.") % words


def _check_brokers(group: ConsumerGroup, names: Collection[str]) -> None:
    known = set(Broker.objects.filter(cluster=group.cluster_id).values_list("name", flat=True))
    if unseen := sorted(set(names) - known):
        words = {"named": _few(unseen), "cluster": group.cluster.name}
        raise ResetRefused(_("No reading of %(cluster)s has seen the broker %(named)s: check its name.") % words)


def _check_agreement(
    topics: Sequence[str] | None, brokers: Sequence[str] | None, queues: Sequence[QueueKey] | None
) -> None:
    for key in queues or ():
        if (topics is not None and key.topic not in topics) or (brokers is not None and key.broker not in brokers):
            words = {"topic": key.topic, "broker": key.broker, "queue_id": key.queue_id}
            raise ResetRefused(
                _("The queue %(topic)s/%(broker)s/%(queue_id)s is none of the chosen topics and brokers.") % words
            )


def _check_number(
    group: ConsumerGroup,
    topics: Collection[str],
    brokers: Sequence[str] | None,
    queues: Sequence[QueueKey] | None,
) -> None:
    if not topics:
        raise ResetRefused(
            _("The group has no offsets and no subscriptions that readings have seen: choose the topics.")
        )
    if queues is None:
        found = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=topics).exclude(readable=False)
        number = (found if brokers is None else found.filter(broker__in=brokers)).count()
    else:
        number = len(queues)
    check_number(number)


def check_number(queues: int) -> None:
    """Raises ResetRefused."""
    most = settings.RESET_QUEUES_MAX
    if queues > most:
        words = {"n": queues, "most": most}
        raise ResetRefused(
            _("%(n)s queues are more than one reset may move (%(most)s, RESET_QUEUES_MAX): choose topics or brokers.")
            % words
        )


def _few(names: Iterable[str]) -> str:
    listed = list(names)
    more = len(listed) - NAMED
    return ", ".join(listed[:NAMED]) + (_(" and %s more") % more if more > 0 else "")
