"""Repeats: the list over all groups, newest first, one group's, and totals by cause; and GET repeats/ and
groups/{cluster}/{group}/repeats/.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Case, Count, Q, QuerySet, Sum, When
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from consumers.models import GroupKind, RepeatEvent
from consumers.queries.declared import INSIDE, answer, public
from consumers.rest.answers import ListedRows, group_lists
from consumers.rest.requests import Choice, Paging, Ranged
from consumers.rest.schema import made_serializer
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatEvidence
from consumers.words.repeats import evidence_words, repeat_action, repeat_prevention, repeat_unknown_words

# Rows of repeats. Field names are those of REST; each null has its reason beside it.


@dataclass(frozen=True)
class RepeatFilters:
    """`since` and `until` are for the reading that first shows the event: in [since, until).

    RocketMQ's own groups are among those of a named group only. `touching`: also events that began before `since` and
    still went on then.
    """

    cluster: str | None = None
    group: str | None = None
    cause: RepeatCause | None = None
    confidence: Confidence | None = None
    since: datetime | None = None
    until: datetime | None = None
    touching: bool = False


@answer("Messages of one queue, or of a retry topic in one minute, that were redelivered. Offsets are half-open.")
@dataclass(frozen=True)
class RepeatedQueue:
    topic: str
    broker: str | None = field(metadata=public("Null: all queues of a retry topic, or unknown queues"))
    queue_id: int | None
    from_offset: int | None = field(metadata=public("The first offset that may have been redelivered"))
    to_offset: int | None = field(metadata=public("Behind the last one"))
    redelivered_low: int | None
    redelivered_high: int | None
    confidence: Confidence
    unknown: dict[str, str]


@answer(
    "Messages that a group consumed again, with the cause. Numbers count offsets. A null has its reason in `unknown`."
)
@dataclass(frozen=True, kw_only=True)
class RepeatRow:
    """`id` is its name for ever: cluster, group, cause and `began_before`."""

    key: int = field(metadata=INSIDE)
    id: str = field(metadata=public("A permanent name: cluster/group/cause/time"))
    cluster: str
    group: str
    cause: RepeatCause
    confidence: Confidence
    began_after: datetime | None = field(metadata=public("The last poll before it"))
    began_before: datetime = field(metadata=public("The first poll that shows it"))
    last_at: datetime = field(metadata=public("The last poll that shows more of it"))
    queue_count: int = field(
        metadata=public("Queues with redelivered messages. A topic whose queues are unknown counts once")
    )
    redelivered_low: int | None = field(metadata=public("Messages redelivered, at least"))
    redelivered_high: int | None = field(metadata=public("Messages redelivered, at most"))
    evidence: list[dict[str, Any]]
    queues: list[RepeatedQueue] = field(metadata=public("Of each queue, or of each minute of retries"))
    action: str = field(metadata=public("What to do"))
    prevented_by: str = field(metadata=public("What prevents it"))
    judged_at: datetime
    unknown: dict[str, str]

    @property
    def has_unknown_queues(self) -> bool:
        return any(one.broker is None and not one.topic.startswith(RETRY_PREFIX) for one in self.queues)

    @property
    def sentence(self) -> str:
        """The first of its evidence."""
        return str(self.evidence[0]["sentence"]) if self.evidence else ""


@dataclass(frozen=True)
class RepeatPage:
    """`count` events in all, this is page `page` of `pages`, both from 1."""

    rows: list[RepeatRow]
    count: int
    page: int
    pages: int


@dataclass(frozen=True)
class CauseTotal:
    """Sums over the events of a cause: the part that is known is the least of all; `high` null: one is unknown."""

    cause: RepeatCause
    events: int
    low: int
    high: int | None


FORM = "%Y-%m-%dT%H:%M:%S.%fZ"
HOUR = timedelta(hours=1)
# What rules and metrics count as events: a cause that is only possible may be none.
SURE = (Confidence.PROVEN, Confidence.LIKELY)
ALL_QUEUES = gettext_lazy("a retry topic is counted as a whole")
NO_OFFSETS = gettext_lazy("only the number of messages is known")


def filtered(filters: RepeatFilters, *, by_cause: bool = True) -> QuerySet[RepeatEvent]:
    """Newest first; ties by key."""
    found = RepeatEvent.objects.filter(_of_groups(filters)).order_by("-started_at", "pk")
    if filters.since:
        bound = "last_at__gte" if filters.touching else "started_at__gte"
        found = found.filter(**{bound: filters.since})
    if filters.until:
        found = found.filter(started_at__lt=filters.until)
    if filters.confidence:
        found = found.filter(confidence=filters.confidence)
    return found.filter(cause=filters.cause) if by_cause and filters.cause else found


def _of_groups(filters: RepeatFilters) -> Q:
    chosen = Q(group__cluster__name=filters.cluster) if filters.cluster else Q()
    if filters.group:
        return chosen & Q(group__name=filters.group)
    return chosen & ~Q(group__kind=GroupKind.SYSTEM)


def repeat_list(filters: RepeatFilters, *, page: int = 1, page_size: int = 50) -> RepeatPage:
    """One page; a page beyond the last is the last. What is only possible comes last, as each deploy of a group whose
    members do not report what they hold. Two queries."""
    found = filtered(filters).order_by(Case(When(confidence__in=SURE, then=0), default=1), "-started_at", "pk")
    count = found.count()
    pages = max(1, -(-count // page_size))
    page = min(max(page, 1), pages)
    return RepeatPage(repeat_rows(found, (page - 1) * page_size, page_size), count, page, pages)


def repeat_rows(found: QuerySet[RepeatEvent], start: int, size: int) -> list[RepeatRow]:
    rows = found.select_related("group__cluster")[start : start + size]
    return [_row(row) for row in rows]


def cause_totals(filters: RepeatFilters) -> list[CauseTotal]:
    """Of each cause that occurs, in the order of the vocabulary; `filters.cause` itself is ignored. One query."""
    found = filtered(filters, by_cause=False).order_by().values("cause")
    sums: dict[str, Any] = {
        "events": Count("pk"),
        "bounded": Count("redelivered_high"),
        "low": Sum("redelivered_low"),
        "high": Sum("redelivered_high"),
    }
    rows: Any = found.annotate(**sums)
    totals = {row["cause"]: row for row in rows}
    return [
        CauseTotal(cause, row["events"], row["low"] or 0, row["high"] if row["bounded"] == row["events"] else None)
        for cause in RepeatCause
        if (row := totals.get(cause)) is not None
    ]


@dataclass(frozen=True)
class HourOfRepeats:
    """`events`: those of which the cause is proven or likely. `high` null: a bound is unknown."""

    events: int = 0
    low: int = 0
    high: int | None = 0


def repeats_within_hour(now: datetime) -> dict[int, HourOfRepeats]:
    """By group id; groups without any are left out. One query."""
    sums: dict[str, Any] = {
        "sure": Count("pk", filter=Q(confidence__in=SURE)),
        "all": Count("pk"),
        "bounded": Count("redelivered_high"),
        "low": Sum("redelivered_low"),
        "high": Sum("redelivered_high"),
    }
    rows: Any = RepeatEvent.objects.filter(last_at__gt=now - HOUR, started_at__lte=now).order_by().values("group")
    return {
        row["group"]: HourOfRepeats(row["sure"], row["low"] or 0, row["high"] if row["bounded"] == row["all"] else None)
        for row in rows.annotate(**sums)
    }


def event_name(row: RepeatEvent) -> str:
    """A permanent name. `group` and its cluster have to be at hand."""
    group = row.group
    return f"{group.cluster.name}/{group.name}/{row.cause}/{row.started_at.astimezone(UTC).strftime(FORM)}"


def _row(row: RepeatEvent) -> RepeatRow:
    group = row.group
    return RepeatRow(
        key=row.pk,
        id=event_name(row),
        cluster=group.cluster.name,
        group=group.name,
        cause=RepeatCause(row.cause),
        confidence=Confidence(row.confidence),
        began_after=row.began_after,
        began_before=row.started_at,
        last_at=row.last_at,
        queue_count=row.queue_count,
        redelivered_low=row.redelivered_low,
        redelivered_high=row.redelivered_high,
        evidence=[{"code": one["code"], "sentence": evidence_words(one), **one} for one in row.evidence],
        queues=[_part(one) for one in row.parts],
        action=repeat_action(row.cause),
        prevented_by=repeat_prevention(row.cause),
        judged_at=row.judged_at,
        unknown={name: repeat_unknown_words(code) for name, code in row.unknown.items()},
    )


def _part(one: dict[str, Any]) -> RepeatedQueue:
    bound = repeat_unknown_words(one["unknown"]) if one["unknown"] else str(NO_OFFSETS)
    values = {
        "broker": one["broker"],
        "queue_id": one["queue_id"],
        "from_offset": one["from_offset"],
        "to_offset": one["until_offset"],
        "redelivered_low": one["low"],
        "redelivered_high": one["high"],
    }
    whole = str(ALL_QUEUES) if one["topic"].startswith(RETRY_PREFIX) else bound
    reasons = {**dict.fromkeys(values, bound), "broker": whole, "queue_id": whole}
    return RepeatedQueue(
        topic=one["topic"],
        **values,
        confidence=Confidence(one["confidence"]),
        unknown={name: reasons[name] for name, value in values.items() if value is None},
    )


# Repeats as marks on a time axis: one mark for each event.

SHOWN = 200


@dataclass(frozen=True)
class RepeatMark:
    cause: str
    confidence: str
    since: datetime
    until: datetime
    low: int | None
    high: int | None


def repeat_marks(filters: RepeatFilters) -> list[RepeatMark]:
    """Newest first, at most SHOWN. One query."""
    names = ("cause", "confidence", "began_after", "started_at", "last_at", "redelivered_low", "redelivered_high")
    return [
        RepeatMark(cause, confidence, after or started, last, low, high)
        for cause, confidence, after, started, last, low, high in filtered(filters).values_list(*names)[:SHOWN]
    ]


class RepeatsOfGroupParameters(Paging, Ranged):
    """`from` and `to` are for the reading that first shows the event: in [from, to)."""

    cause = Choice([cause.value for cause in RepeatCause], required=False, help_text="Has this cause")
    confidence = Choice([one.value for one in Confidence], required=False, help_text="Its cause is so sure")


class RepeatEvidenceSerializer(serializers.Serializer[Any]):
    """What supports the cause. Beside these the parameters of the code: `client_id`, `messages`, `reset` …"""

    code = serializers.ChoiceField([code.value for code in RepeatEvidence])
    sentence = serializers.CharField()

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        return dict(instance)


RepeatSerializer = made_serializer(RepeatRow, evidence=RepeatEvidenceSerializer(many=True))


def _listed(values: Mapping[str, Any], page: int, page_size: int) -> ListedRows:
    cause, confidence = values.get("cause"), values.get("confidence")
    filters = RepeatFilters(
        cluster=values.get("cluster"),
        group=values.get("group"),
        cause=None if cause is None else RepeatCause(cause),
        confidence=None if confidence is None else Confidence(confidence),
        since=values.get("from"),
        until=values.get("to"),
    )
    found = filtered(filters)
    return ListedRows(repeat_rows(found, (page - 1) * page_size, page_size), found.count())


RepeatListView, GroupRepeatListView = group_lists(
    "repeats",
    RepeatSerializer,
    RepeatsOfGroupParameters,
    _listed,
    of_all="Repeats of all groups, the newest first: one row for each event of a group and cause.",
    of_one="Repeats of one group, the newest first: one row for each event of a cause.",
)
