"""How many messages of a group's retry topics wait in the timer wheels of a cluster's brokers."""

from datetime import datetime

from consumers.models import Broker, ConsumerGroup, Topic, TopicKind
from consumers.rocketmq.names import is_retry_topic_of, retry_topic
from consumers.selectors.brokers import ClusterAge
from consumers.selectors.limits import limits
from consumers.selectors.overlay import iso

from .ladder_rows import WheelCount
from .sampled_rungs import sample_holds


def wheel_count(group: ConsumerGroup, age: ClusterAge, brokers: dict[int, Broker], now: datetime) -> WheelCount:
    """`brokers` by their id. A query where a wheel holds something that might be a POP retry's of the group."""
    counts: list[tuple[str, int]] = []
    times: list[datetime] = []
    for of in age.brokers:
        row = brokers[of.id]
        why = of.unread_reason(now, limits()) or _not_counted(row, now)
        if why is not None or row.wheel is None or row.wheel_at is None:
            return _unknown(why or "")
        times.append(row.wheel_at)
        counts += row.wheel.items()
    if not times:
        return _unknown("no broker of the cluster is known yet")
    own = [(topic, count) for topic, count in counts if topic.startswith(retry_topic(group.name))]
    normal = _normal_topics(group, {topic for topic, _ in own})
    found = [count for topic, count in own if is_retry_topic_of(topic, group.name, normal)]
    if any(count < 0 for count in found):
        return _unknown("a broker's own count of its wheel is below zero")
    return WheelCount(messages=sum(found), counted_at=min(times))


def _not_counted(row: Broker, now: datetime) -> str | None:
    if row.wheel_error is not None:
        return f"{row.name} gave no counts of its timer wheel: {row.wheel_error}"
    if row.wheel_at is None:
        return f"the timer wheel of {row.name} has not been asked for yet"
    if now - row.wheel_at > sample_holds():
        return f"the timer wheel of {row.name} has not been read since {iso(row.wheel_at)}"
    return None


def _normal_topics(group: ConsumerGroup, own: set[str]) -> set[str]:
    """Those among the rests of the names, which may be other groups' names too."""
    rests = {topic.removeprefix(retry_topic(group.name))[1:] for topic in own} - {""}
    if not rests:
        return set()
    named = Topic.objects.filter(cluster=group.cluster_id, name__in=rests, kind=TopicKind.NORMAL)
    return set(named.values_list("name", flat=True))


def _unknown(why: str) -> WheelCount:
    return WheelCount(messages=None, counted_at=None, unknown=dict.fromkeys(("messages", "counted_at"), why))
