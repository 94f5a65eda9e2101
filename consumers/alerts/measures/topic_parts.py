"""Groups' queues of one topic, under the overlay of their brokers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import TextField
from django.db.models.functions import Cast

from consumers.alerts.measured import Column, MeasureSpec, Metric, Series, Unit, number_column
from consumers.groups.late_queues import RANKS
from consumers.groups.overlay import STATES, UNKNOWN_RANK
from consumers.groups.shown import UnknownWord
from consumers.models import (
    ConsumerGroup,
    GroupKind,
    Measure,
    QueueSnapshot,
    QueueState,
    State,
    SubjectKind,
    TimeLagKind,
)
from consumers.polling.flags import retired_topics
from consumers.polling.heads import unfinished_heads
from consumers.queries.limits import BrokerAge
from consumers.queries.queues.overlay import LateTimes, Polled, late_state, polled_seconds, unread_reason
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.states import NO_LAG_REASONS, UnknownReason
from consumers.words.reasons import coded_reason, reason_words
from consumers.words.spans import age

from .scan import HOLDS_NOTHING, GroupScan, silent_groups, why_no_owners, why_nobody_holds, why_outside

SNAPSHOT = (
    *("group_id", "queue_id", "queue__broker", "consumer_offset", "broker_offset", "unknown_reason", "waiting_since"),
    "first_stored_us",
)
JUDGED = (
    *("group_id", "queue_id", "queue__broker", "queue__queue_id", "state", "rule", "since", "time_lag_seconds"),
    "time_lag_kind",
)


class JudgedPart(NamedTuple):
    """A queue's evaluation; `detail` is JSON."""

    group_id: int
    queue_pk: int
    broker: str
    queue_id: int
    state: str
    rule: str
    since: datetime
    time_lag_seconds: float | None
    time_lag_kind: str
    detail: str


@dataclass
class TopicPart:
    """One group's queues of the topic. `lags` are those of queues that have one by their nature; null has its reason.
    `polled`, `waited` (seconds, by polls) and `judged` are by the queue's id. `bound`: why the lag is a lower bound;
    null where it is not.
    """

    place: int
    lags: list[tuple[int, int | None, str]] = field(default_factory=list)  # queue pk, lag, stored reason
    judged: dict[int, JudgedPart] = field(default_factory=dict)
    polled: dict[int, Polled] = field(default_factory=dict)
    waited: dict[int, float | None] = field(default_factory=dict)
    bound: str | None = None

    @property
    def lag_messages(self) -> int | None:
        known = [lag for _, lag, _ in self.lags if lag is not None]
        return sum(known) if known and len(known) == len(self.lags) else None

    @property
    def lag_reason(self) -> str:
        unknown = next((reason for _, lag, reason in self.lags if lag is None), None)
        return (self.bound if unknown is None else None) or reason_words(unknown or NO_LAG_REASONS[0])

    @property
    def time_lag_seconds(self) -> float | None:
        """Zero exactly where the lag is zero; an evaluated zero with a non-zero lag is older: then polls tell."""
        longest: list[float] = []
        for queue, lag, _ in self.lags:
            judged = self.judged.get(queue)
            seconds = 0.0 if lag == 0 else judged.time_lag_seconds if judged is not None and lag else None
            if lag and seconds == 0:
                seconds = self.waited.get(queue)
            if seconds is None:
                return None
            longest.append(seconds)
        return max(longest, default=None)

    @property
    def is_time_lag_bound(self) -> bool:
        """A queue with lag may have waited for longer, or one whose messages its broker hides."""
        lagging = [self.judged.get(queue) for queue, lag, _ in self.lags if lag]
        return self.bound is not None or any(one and one.time_lag_kind == TimeLagKind.AT_LEAST for one in lagging)


def topic_parts(scan: GroupScan, topic: str) -> list[TopicPart]:
    """Groups that have offsets of the topic and have not retired it, in the order of the scan. Three queries."""
    of_topic = {"queue__topic__name": topic}
    parts: dict[int, TopicPart] = {}
    gone = _retired(scan, topic)
    snapshots = QueueSnapshot.objects.filter(**of_topic).order_by("queue__broker", "queue__queue_id")
    for group, queue, broker, consumer, end, reason, waiting_since, first_us in snapshots.values_list(*SNAPSHOT):
        if (place := scan.places.get(group)) is None or group in gone:
            continue
        part = parts.setdefault(group, TopicPart(place))
        why = _unread(scan, place, broker) or why_outside(scan.rows[place]) or reason
        lag, no_lag = _lag(consumer, end, why)
        if why not in NO_LAG_REASONS:
            part.lags.append((queue, lag, no_lag))
            part.bound = part.bound or (_bound(scan, place, broker) if lag is not None else None)
        is_unread = _unread(scan, place, broker) is not None
        age = _broker(scan, place, broker)
        part.waited[queue] = polled_seconds(first_us, age.last_read_at if age is not None else None)
        part.polled[queue] = _polled(scan, place, lag, no_lag, None if is_unread else waiting_since)
    states = QueueState.objects.filter(**of_topic).annotate(text=Cast("detail", TextField()))
    for judged in map(JudgedPart._make, states.values_list(*JUDGED, "text")):
        if judged.group_id in parts:
            parts[judged.group_id].judged[judged.queue_pk] = judged
    return sorted(parts.values(), key=lambda part: part.place)


def worst(scan: GroupScan, part: TopicPart) -> tuple[State, JudgedPart | None]:
    """The worst state of a queue on a broker that is not silent; UNKNOWN where one is silent and no state is worse.

    The evaluation is null where only rows give the state, while evaluations are late.
    """
    found: list[tuple[int, datetime, JudgedPart]] = []
    is_any_silent = False
    for queue, judged in part.judged.items():
        broker = _broker(scan, part.place, judged.broker)
        if broker is None or scan.overlay.is_silent(broker):
            is_any_silent = True
        else:
            found.append((RANKS[_shown(scan, part, queue, judged)], judged.since, judged))
    best = min(found, key=lambda one: one[:2], default=None)
    if best is None or (is_any_silent and best[0] >= UNKNOWN_RANK):
        return State.UNKNOWN, None
    state = STATES[best[0]]
    return state, best[2] if best[2].state == state else None


def _shown(scan: GroupScan, part: TopicPart, queue: int, judged: JudgedPart) -> State:
    at, polled = scan.rows[part.place].judged_at, part.polled.get(queue)
    if at is None or polled is None or not scan.is_late(part.place):
        return State(judged.state)
    limits, now = scan.overlay.limits, scan.now
    return late_state(State(judged.state), polled, LateTimes(at, limits.stands_since(now), limits.allowed_since(now)))[
        0
    ]


def _polled(scan: GroupScan, place: int, lag: int | None, no_lag: str, waiting_since: datetime | None) -> Polled:
    row, live = scan.rows[place], scan.overlay.live
    is_stopped, is_excused = row.id in live.stopped, row.id in live.excused
    return Polled(lag, no_lag, waiting_since, row.online, is_stopped, is_excused)


def _lag(consumer: int | None, end: int | None, why: str | None) -> tuple[int | None, str]:
    if why is not None or consumer is None or end is None:
        return None, why or UnknownReason.CONSUMER_OFFSET_UNREAD
    return (end - consumer, "") if consumer <= end else (None, UnknownReason.CONSUMER_AHEAD)


def _unread(scan: GroupScan, place: int, broker: str) -> str | None:
    return unread_reason(broker, _broker(scan, place, broker), scan.now, scan.overlay.limits)


def _bound(scan: GroupScan, place: int, name: str) -> str | None:
    broker = _broker(scan, place, name)
    return None if broker is None else broker.bound_reason(scan.overlay.limits)


def _broker(scan: GroupScan, place: int, name: str) -> BrokerAge | None:
    cluster = scan.overlay.clusters[scan.rows[place].cluster_id]
    return next((broker for broker in cluster.brokers if broker.name == name), None)


def _retired(scan: GroupScan, topic: str) -> set[int]:
    """Groups whose members do not subscribe to the topic any more: their remaining queues there count for nobody."""
    having = QueueSnapshot.objects.filter(queue__topic__name=topic).values("group")
    rows: Iterable[ConsumerGroup] = ConsumerGroup.objects.filter(online=True, pk__in=having)
    return {row.pk for row in rows if topic in retired_topics(row, scan.now, scan.overlay.limits.kinds)}


@dataclass(frozen=True)
class TopicScan:
    """`parts[i]` belongs to `scan.rows[i]`, whose subjects are parts of the topic; `whole` has all groups."""

    whole: GroupScan
    scan: GroupScan
    parts: Sequence[TopicPart]
    topic: str

    @classmethod
    def of(cls, whole: GroupScan, topic: str) -> "TopicScan":
        parts = topic_parts(whole, topic)
        rows = [whole.rows[part.place] for part in parts]
        subjects = [replace(whole.subjects[part.place], kind=SubjectKind.TOPIC, topic=topic) for part in parts]
        return cls(whole, GroupScan(whole.overlay, whole.explainer, rows, subjects), parts, topic)


# For how long a member of each group has held its oldest unfinished message.

Head = tuple[datetime, str, str, int, str]  # since, topic, broker, queue id, client id
COLUMNS = ("group_id", "head_since", "queue__topic__name", "queue__broker", "queue__queue_id", "client_id")


def blocked(scan: GroupScan) -> Column:
    """Two queries."""
    return blocked_column(scan, longest_held(scan.now), silent_groups())


def blocked_column(scan: GroupScan, heads: Mapping[int, Head], silent: Mapping[int, str]) -> Column:
    """`heads` by group id, the oldest of each; `silent`: groups with a member that has not reported the messages it
    holds.
    """
    values = [_seconds(scan, place, heads, silent) for place in range(len(scan.rows))]

    def since(place: int) -> datetime | None:
        head = heads.get(scan.rows[place].id)
        return head[0] if head is not None else None

    def words(value: float, head: Head | None) -> str:
        if head is None:
            return coded_reason(AlertEvidence.NOTHING_HELD)
        _, topic, broker, queue_id, client_id = head
        where = f"{topic}/{broker}/{queue_id}"
        return coded_reason(AlertEvidence.HELD, client=client_id, place=where, held_seconds=value)

    column = number_column(values, lambda place: _reason(scan, place, silent), age, since=since)

    def evidence(place: int) -> str:
        value = values[place]
        return column.reason(place) if value is None else words(value, heads.get(scan.rows[place].id))

    return Column(
        values,
        column.reason,
        evidence,
        since,
        # Whoever is silent may hold an older message.
        is_bound=lambda place: scan.rows[place].id in silent,
        absent=lambda place: why_no_owners(scan.rows[place]),
    )


def longest_held(now: datetime, **of_heads: Any) -> dict[int, Head]:
    """The oldest held message of each user group; `of_heads` filters the queues. One query."""
    rows = unfinished_heads(0, now, kind=GroupKind.USER).filter(**of_heads)
    found = rows.order_by("-head_since", "-pk").values_list(*COLUMNS)
    return {group: head for group, *head in found}


def _seconds(scan: GroupScan, place: int, heads: Mapping[int, Head], silent: Mapping[int, str]) -> float | None:
    row = scan.rows[place]
    if _why_unknown(scan, place) is not None:
        return None
    head = heads.get(row.id)
    if head is not None:
        return (scan.now - head[0]).total_seconds()
    return None if row.id in silent else 0.0


def _why_unknown(scan: GroupScan, place: int) -> str | None:
    row = scan.rows[place]
    if reason := scan.unread_reason(place) or why_nobody_holds(row):
        return reason
    return scan.members_reason(place) if row.members is None else None


def _reason(scan: GroupScan, place: int, silent: Mapping[int, str]) -> str:
    who = silent.get(scan.rows[place].id)
    return _why_unknown(scan, place) or coded_reason(AlertEvidence.HELD_UNREPORTED, client=who)


def _blocked_of_topic(of: TopicScan) -> Column:
    return blocked_column(of.scan, longest_held(of.scan.now, queue__topic__name=of.topic), silent_groups())


MEASURES = (
    MeasureSpec(
        code=Measure.BLOCKED,
        unit=Unit.SECONDS,
        is_age=True,
        reads={SubjectKind.GROUP: blocked, SubjectKind.TOPIC: _blocked_of_topic},
        metric=Metric(
            "blocked_seconds",
            "How long the oldest message that a member holds has not been finished.",
            UnknownWord.HELD_MESSAGES_UNKNOWN,
            ("members",),
            bound="at_least",
        ),
        series=Series("consumerscope_group_blocked_seconds", HOLDS_NOTHING),
    ),
)
