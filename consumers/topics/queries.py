"""One topic: its brokers, the groups that consume it, and how much is produced. The number of queries is fixed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from django.utils.translation import gettext, gettext_lazy

from consumers.groups.detail import topic_rows
from consumers.groups.listing import shown_groups
from consumers.groups.overlay import Overlay
from consumers.groups.queue_rows import STALE, QueueContext, QueueRow, queue_row
from consumers.groups.rows import TopicRow
from consumers.groups.shown import NOT_READ_YET, ShownGroup
from consumers.models import (
    Broker,
    BrokerStatistic,
    ClientSubscription,
    ConsumerGroup,
    Queue,
    QueueSample,
    QueueSnapshot,
    QueueState,
    State,
    TimeLagKind,
    Topic,
    TopicKind,
)
from consumers.polling.flags import outside_reason, retired_topics
from consumers.queries.declared import answer, public
from consumers.queries.groups import LiveGroups, without_members
from consumers.queries.history import History, group_history
from consumers.queries.limits import BrokerAge, broker_ages, limits
from consumers.queries.queues.overlay import NOT_JUDGED_YET, NOT_SAMPLED, unread_reason
from consumers.vocabulary.states import MASTER, READ, WRITE
from consumers.words.reasons import stored_words


# A topic as its groups and brokers have it. Each null has its reason beside it.
class QueueAccess(StrEnum):
    """What a topic's configuration on one broker lets clients do with its queues. UNEVEN: not the same with each."""

    READ_WRITE = "read_write"
    READ_ONLY = "read_only"
    WRITE_ONLY = "write_only"
    NONE = "none"
    UNEVEN = "uneven"
    UNKNOWN = "unknown"


@answer("A topic on one broker. A null has its reason in `unknown`.", name="TopicBroker")
@dataclass(frozen=True, kw_only=True)
class TopicBroker:
    """`access` is of the topic; a broker that is set to read-only (`broker_writable`) refuses messages all the same."""

    broker: str
    queues: int
    readable_queues: int | None
    writable_queues: int | None
    access: str = field(metadata=public(of=QueueAccess))
    broker_readable: bool | None = field(metadata=public("By the broker's own configuration"))
    broker_writable: bool | None = field(metadata=public("By the broker's own configuration"))
    bytes_per_second: float | None = field(metadata=public("Stored of the topic, in the broker's last minute"))
    taken_at: datetime | None
    unknown: dict[str, str] = field(default_factory=dict)


@answer("A group that consumes the topic. Lag and time lag are of this topic alone.", name="TopicGroup")
@dataclass(frozen=True, kw_only=True)
class TopicGroup:
    """`state` is that of the group as a whole. `queues` is 0 where it subscribes and has no offset yet."""

    group: str
    state: State
    stale: bool = field(metadata=public(STALE))
    state_detail: str
    members: int | None
    expressions: Sequence[str] | None = field(metadata=public("What its present members subscribe to"))
    queues: int
    never_committed_queues: int | None
    lag_messages: int | None
    lag_messages_at_least: int | None
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    time_lag_at: datetime | None
    retired_since: datetime | None = field(metadata=public("No member subscribes to it since"))
    judged_at: datetime | None
    taken_at: datetime | None
    unknown_reason: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@answer("A topic: its brokers, and the groups that consume it. A null has its reason in `unknown`.", name="TopicDetail")
@dataclass(frozen=True, kw_only=True)
class TopicDetail:
    """`produce_rate` is of the newest complete window of a group that has an offset in each queue."""

    cluster: str
    topic: str
    kind: str = field(metadata=public(of=TopicKind))
    first_seen_at: datetime
    queues: int
    produce_rate: float | None = field(metadata=public("Messages per second, by its broker offsets"))
    produce_rate_at: datetime | None = field(metadata=public("The end of the window of the produce rate"))
    brokers: list[TopicBroker]
    groups: list[TopicGroup]
    unknown: dict[str, str] = field(default_factory=dict)


# The newest complete window lies within; a pipeline that lags behind by more tells nothing of the present.
LOOKED_BACK = timedelta(minutes=10)
# Groups whose windows are looked at before nothing is known of the topic.
LEADS = 3
NO_OFFSETS = gettext_lazy("no group has an offset in it, so its broker offsets are not scraped")
NOT_CONFIGURED = gettext_lazy("the topic's configuration on this broker was not read")
NO_CONFIG = gettext_lazy("the broker's configuration was not read")
NO_STATISTIC = gettext_lazy("the broker has not counted it")


def find_topic(cluster: str, name: str) -> Topic | None:
    return Topic.objects.select_related("cluster").filter(cluster__name=cluster, name=name).first()


def topic_detail(topic: Topic, *, now: datetime) -> TopicDetail:
    brokers = {broker.name: broker for broker in broker_ages([topic.cluster_id])[topic.cluster_id].brokers}
    queues = list(topic.queues.order_by("broker", "queue_id"))
    produced = newest_produced(topic, queues, now)
    return TopicDetail(
        cluster=topic.cluster.name,
        topic=topic.name,
        kind=topic.kind,
        first_seen_at=topic.first_seen_at,
        queues=len(queues),
        produce_rate=produced.rate,
        produce_rate_at=produced.at,
        brokers=_brokers(topic, queues, brokers, now),
        groups=topic_groups(topic, brokers, now),
        unknown={} if produced.rate is not None else dict.fromkeys(("produce_rate", "produce_rate_at"), produced.why),
    )


# What a topic's configuration on each broker lets clients do, and what the broker as such lets them.


def _brokers(topic: Topic, queues: Sequence[Queue], ages: dict[str, BrokerAge], now: datetime) -> list[TopicBroker]:
    masters = {row.name: row for row in Broker.objects.filter(cluster=topic.cluster_id, broker_id=MASTER)}
    counted = BrokerStatistic.objects.filter(cluster=topic.cluster_id, topic=topic.name, group="")
    statistics = {row.broker: row for row in counted}
    by_broker: dict[str, list[Queue]] = {}
    for queue in queues:
        by_broker.setdefault(queue.broker, []).append(queue)
    return [
        _broker(name, of_broker, masters.get(name), statistics.get(name), ages.get(name), now)
        for name, of_broker in by_broker.items()
    ]


def _broker(
    name: str,
    queues: Sequence[Queue],
    master: Broker | None,
    statistic: BrokerStatistic | None,
    age: BrokerAge | None,
    now: datetime,
) -> TopicBroker:
    readable, writable = ([getattr(queue, field) for queue in queues] for field in ("readable", "writable"))
    permission = master.permission if master else None
    counted = statistic.bytes_per_second if statistic else None
    unread = unread_reason(name, age, now, limits())
    values = {
        "readable_queues": None if None in readable else sum(map(bool, readable)),
        "writable_queues": None if None in writable else sum(map(bool, writable)),
        "broker_readable": None if permission is None else bool(permission & READ),
        "broker_writable": None if permission is None else bool(permission & WRITE),
        "bytes_per_second": None if unread else counted,
        "taken_at": age.last_read_at if age else None,
    }
    no_config = (stored_words(master.config_error) if master else None) or str(NO_CONFIG)
    reasons = {
        **dict.fromkeys(("readable_queues", "writable_queues"), str(NOT_CONFIGURED)),
        **dict.fromkeys(("broker_readable", "broker_writable"), no_config),
        "bytes_per_second": unread or (stored_words(statistic.error) if statistic else None) or str(NO_STATISTIC),
        "taken_at": unread or gettext("not scraped yet"),
    }
    return TopicBroker(
        broker=name,
        queues=len(queues),
        access=access_of(list(zip(readable, writable, strict=True))),
        unknown={field: reasons[field] for field, value in values.items() if value is None},
        **values,  # type: ignore[arg-type]
    )


def access_of(queues: Sequence[tuple[bool | None, bool | None]]) -> QueueAccess:
    """`queues`: of each, whether it is readable and writable."""
    if any(None in queue for queue in queues):
        return QueueAccess.UNKNOWN
    kinds = set(queues)
    if len(kinds) != 1:
        return QueueAccess.UNEVEN
    return {
        (True, True): QueueAccess.READ_WRITE,
        (True, False): QueueAccess.READ_ONLY,
        (False, True): QueueAccess.WRITE_ONLY,
    }.get(kinds.pop(), QueueAccess.NONE)  # type: ignore[arg-type]


# The groups with an offset in the topic, and those whose members subscribe to it.


def topic_groups(topic: Topic, brokers: dict[str, BrokerAge], now: datetime) -> list[TopicGroup]:
    """Worst state first, then the most lag."""
    snapshots: dict[int, list[QueueSnapshot]] = {}
    for row in QueueSnapshot.objects.filter(queue__topic=topic).select_related("queue__topic").order_by("queue__pk"):
        snapshots.setdefault(row.group_id, []).append(row)
    expressions: dict[int, set[str]] = {}
    present = ClientSubscription.objects.filter(group__cluster=topic.cluster_id, topic=topic.name, gone_by=None)
    for group, expression in present.values_list("group", "expression").distinct():
        expressions.setdefault(group, set()).add(expression)
    ids = sorted({*snapshots, *expressions})
    if not ids:
        return []
    states: dict[int, dict[int, QueueState]] = {}
    for state in QueueState.objects.filter(group__in=ids, queue__topic=topic):
        states.setdefault(state.group_id, {})[state.queue_id] = state
    samples: dict[int, dict[int, QueueSample]] = {}
    for sample in QueueSample.objects.filter(group__in=ids, queue__topic=topic):
        samples.setdefault(sample.group_id, {})[sample.queue_id] = sample
    live = LiveGroups.at(now, limits(), pk__in=ids)
    shown = sorted(shown_groups(Overlay.at(now, ids), ids), key=lambda one: one.group.name)
    rows = [
        _group(
            one,
            topic.name,
            _queue_rows(one, snapshots.get(one.group.pk, ()), states, samples, brokers, live, now),
            sorted(expressions.get(one.group.pk, ())),
            now,
        )
        for one in shown
    ]
    order = list(type(rows[0].state))
    return sorted(rows, key=lambda row: (order.index(row.state), -(row.lag_messages_at_least or 0)))


def _queue_rows(
    shown: ShownGroup,
    snapshots: Iterable[QueueSnapshot],
    states: dict[int, dict[int, QueueState]],
    samples: dict[int, dict[int, QueueSample]],
    brokers: dict[str, BrokerAge],
    live: LiveGroups,
    now: datetime,
) -> list[QueueRow]:
    """Without owners, which the page of the group has."""
    group = shown.group
    context = QueueContext(
        name=group.name,
        judged=getattr(group, "judged", None),
        brokers=brokers,
        owners={},
        no_owner_reason=str(NOT_SAMPLED),
        now=now,
        limits=limits(),
        retired=retired_topics(group, now, limits().kinds),
        outside=stored_words(outside_reason(group)),
        samples=samples.get(group.pk, {}),
        online=group.online,
        stopped_since=live.stopped.get(group.pk),
        without_members=without_members(group),
        is_excused=group.pk in live.excused,
        consume_from_where=group.consume_from_where,
    )
    own = states.get(group.pk, {})
    return [queue_row(snapshot, own.get(snapshot.queue_id), context) for snapshot in snapshots]


def _group(
    shown: ShownGroup, topic: str, queues: Sequence[QueueRow], reported: Sequence[str], now: datetime
) -> TopicGroup:
    group, state = shown.group, shown.verdict
    row = next(iter(topic_rows(queues, retired_topics(group, now, limits().kinds))), None)
    members = shown.shown("members")
    expressions = _expressions(group, topic, reported, members)
    no_members = shown.members_reason
    values = {
        "members": members,
        "expressions": expressions,
        "judged_at": None if shown.judged is None else shown.judged.judged_at,
        "taken_at": shown.shown("taken_at"),
    }
    why = {
        "judged_at": str(NOT_JUDGED_YET),
        "taken_at": str(NOT_READ_YET),
        "members": no_members,
        "expressions": no_members if members is None else gettext("no member has reported its subscriptions"),
    }
    return TopicGroup(
        group=group.name,
        state=state.state,
        stale=state.stale,
        state_detail=state.sentence,
        queues=len(queues),
        **values,
        **_sums(row),  # type: ignore[arg-type]
        unknown=(row.unknown if row else dict.fromkeys(SUMS, _no_offset()))
        | {name: why[name] for name, value in values.items() if value is None},
    )


def _expressions(
    group: ConsumerGroup, topic: str, reported: Sequence[str], members: int | None
) -> Sequence[str] | None:
    """Null where members may subscribe to it and nobody knows: neither they nor a broker has reported any topic."""
    if reported:
        return reported
    if members is None or (members and not group.subscriptions):
        return None
    return sorted({one["expression"] for one in group.subscriptions if one["topic"] == topic}) if members else ()


SUMS = ("never_committed_queues", "lag_messages_at_least", "time_lag_seconds", "time_lag_at", "retired_since")


def _no_offset() -> str:
    return gettext("the group has no offset in it yet")


def _sums(row: TopicRow | None) -> dict[str, object]:
    if row is None:
        nothing: dict[str, object] = dict.fromkeys(("lag_messages", *SUMS))
        return nothing | {"time_lag_kind": TimeLagKind.UNKNOWN, "unknown_reason": _no_offset()}
    return {name: getattr(row, name) for name in ("lag_messages", "time_lag_kind", "unknown_reason", *SUMS)}


# How much is produced: by the windows of a group that has an offset in each queue.


@dataclass(frozen=True)
class Produced:
    """Messages per second in the window that ends at `at`; null for the reason in `why`."""

    rate: float | None
    at: datetime | None
    why: str = ""


def newest_produced(topic: Topic, queues: Sequence[Queue], now: datetime) -> Produced:
    history = produced_history(topic, now - LOOKED_BACK, now, now)
    if history is None:
        return Produced(None, None, str(NO_OFFSETS))
    rates = produced_rates(history, queues)
    complete = [number for number, point in enumerate(rates) if point.at is not None]
    if not complete:
        return Produced(None, None, gettext("no minute of the last 10 is aggregated yet"))
    return rates[complete[-1]]


def produced_history(topic: Topic, since: datetime, until: datetime, now: datetime) -> History | None:
    """The queues of the topic by the group with an offset in most of them; null where no group has one."""
    committed = QueueSnapshot.objects.filter(queue__topic=topic).order_by("group__name")
    counts = Counter(committed.exclude(consumer_offset=None).values_list("group__name", flat=True))
    found: History | None = None
    for name, _queues in counts.most_common(LEADS):
        found = group_history(
            topic.cluster.name, name, since=since, until=until, now=now, by="queue", named={"topic": topic.name}
        )
        if found is not None and found.series:
            break
    return found


def produced_rates(history: History, queues: Sequence[Queue]) -> list[Produced]:
    """Of each window; unknown where it is of one queue, as a part of a sum is no sum. `at` null: not complete yet."""
    step = timedelta(seconds=history.step_seconds)
    places = {(series.broker, series.queue_id) for series in history.series}
    missing = [
        queue for queue in queues if queue.readable is not False and (queue.broker, queue.queue_id) not in places
    ]
    size = max((len(series.points) for series in history.series), default=0)
    found = []
    for number in range(size):
        points = [series.points[number] for series in history.series]
        at = points[0].at + step if any(point.complete for point in points) else None
        lacking = next((point for point in points if point.produce_rate is None), None)
        if missing:
            why = gettext("no window of %(broker)s / %(queue_id)s") % vars(missing[0])
        else:
            why = "" if lacking is None else lacking.unknown_reason or lacking.unknown.get("produce_rate", "")
        rate = None if missing or lacking is not None else sum(point.produce_rate or 0.0 for point in points)
        found.append(Produced(rate, at, why))
    return found
