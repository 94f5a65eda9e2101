"""Times when groups were not read, their members not reported, or nothing evaluated: nobody knows what members did.

Whether they settled is unknown then, and what is counted over an hour or a day with such a time is a lower bound.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, groupby, pairwise
from operator import itemgetter
from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Aggregate, DurationField, ExpressionWrapper, F, Min, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat
from django.db.models.sql.compiler import SQLCompiler

from consumers.models import Client, Cluster, ConsumerGroup, MembershipGap, PipelineRun, Reading
from consumers.polling.record.membership_gaps import unlisted_since
from consumers.polling.record.recorder import longest_silence
from consumers.queries.groups import NAMED_AT_ONCE, brokers_of
from consumers.queries.limits import limits

Span = tuple[datetime, datetime]  # the last reading before such a time, and the first one after it

MARK, TO = ",", "/"

Key = tuple[int, str]  # cluster and broker; the name is empty for the whole cluster


def unread_spans(
    groups: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> Mapping[int, Sequence[Span]]:
    """By group id, in order: times longer than `longest` within [since, until] when the group's cluster, or a broker
    that holds queues of it, was not read, or a broker did not list its members. The time before the first stored
    reading counts as not read.

    Groups that were always read are left out. Four queries, and one for each 500 groups where a broker was not read.
    """
    clusters: dict[int, int] = {}
    found: dict[int, set[Span]] = {}
    columns = ("pk", "cluster", "membership_at", "membership_error", "first_seen_at")
    for pk, cluster, at, error, seen_at in _few(ConsumerGroup.objects.all(), "pk", groups).values_list(*columns):
        if pk in groups:
            clusters[pk] = cluster
            # A time without a complete list that goes on is not stored yet.
            if (begin := unlisted_since(at, error, seen_at, until)) is not None and until - begin > longest:
                found.setdefault(pk, set()).add((max(begin, since), until))
    _add(found, _gaps(groups, since, until, longest, is_listed=False))
    spans = _by_broker(set(clusters.values()), since, until, longest)
    held = brokers_of(groups) if any(broker for _, broker in spans) else {}
    for group, cluster in clusters.items():
        for broker in ("", *held.get(group, ())):
            if unread := spans.get((cluster, broker)):
                found.setdefault(group, set()).update(unread)
    return {group: _joined(own) for group, own in found.items()}


def _joined(spans: Iterable[Span]) -> list[Span]:
    """In order. Those that overlap are one."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return found


def _few(rows: QuerySet, name: str, groups: Collection[int]) -> QuerySet:
    """The rows of these groups. Of many groups others may be among them."""
    return rows.filter(**{f"{name}__in": groups}) if len(groups) <= NAMED_AT_ONCE else rows


def _add(found: dict[int, set[Span]], more: Iterable[tuple[int, Span]]) -> None:
    for group, span in more:
        found.setdefault(group, set()).add(span)


def _gaps(
    groups: Collection[int], since: datetime, until: datetime, longest: timedelta, *, is_listed: bool
) -> Iterator[tuple[int, Span]]:
    """Those that are over, with their groups. One query."""
    rows = MembershipGap.objects.filter(ended_at__gt=since, began_at__lt=until, is_listed=is_listed)
    for group, begin, end in _few(rows, "group", groups).values_list("group", "began_at", "ended_at"):
        if group in groups and end - begin > longest:
            yield group, (max(begin, since), min(end, until))


def _silences(groups: Collection[int], since: datetime, until: datetime) -> Iterator[tuple[int, Span]]:
    """Of members that answered before, with their groups. Two queries."""
    longest = longest_silence()
    yield from _gaps(groups, since, until, longest, is_listed=True)
    for group, begin in (
        _few(_silent(until), "group", groups).order_by().values_list("group").annotate(Min("running_info_at"))
    ):
        if group in groups:
            yield group, (max(begin, since), until)


def _silent(until: datetime) -> QuerySet[Client]:
    """Members that have not answered for too long at that time."""
    spoke_at = until - longest_silence()
    return Client.objects.filter(gone_by=None, running_info_error__isnull=False, running_info_at__lt=spoke_at)


def _by_broker(
    clusters: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> dict[Key, list[Span]]:
    ends: dict[Key, dict[datetime, datetime]] = {}
    for key, (begin, end) in _unread(clusters, since, until, longest):
        ends.setdefault(key, {})[begin] = end
    return {key: list(spans.items()) for key, spans in ends.items()}


@dataclass(frozen=True)
class PartialReading:
    """That did not read every broker, with the times of the readings before and after it; null where there is none."""

    at: datetime
    before: datetime | None
    after: datetime | None
    brokers: Sequence[Mapping[str, Any]]
    error: str | None

    @property
    def unread(self) -> set[str]:
        """Names of brokers, and the empty one where it read none."""
        names = {broker["name"] for broker in self.brokers if not broker["read"]}
        is_none_read = len(names) == len(self.brokers) and (self.error is not None or not self.brokers)
        return {"", *names} if is_none_read else names


def _unread(
    clusters: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> Iterator[tuple[Key, Span]]:
    """Times longer than `longest` when a cluster, or one of its brokers, was not read. One that goes on comes again
    with each reading, ending there. Two queries: a day has thousands of readings, and few that are not complete.
    """
    rows = Reading.objects.filter(cluster__in=clusters, taken_at__gte=since - longest, taken_at__lte=until)
    at: dict[int, list[datetime]] = {cluster: [] for cluster in clusters}
    joined = rows.order_by().values_list("cluster").annotate(times=JoinedTexts(_text("taken_at")))
    at |= {cluster: _times(_parted(texts)) for cluster, texts in joined}
    for cluster, times in at.items():
        for begin, end in pairwise([since, *times, until]):
            if end - begin > longest:
                yield (cluster, ""), (begin, end)
    partial = rows.filter(complete=False).order_by("cluster", "taken_at")
    columns = partial.values_list("cluster", "taken_at", "brokers", "error")
    for cluster, same in groupby(columns.iterator(), itemgetter(0)):
        readings = [_beside(at[cluster], taken_at, *said) for _, taken_at, *said in same]
        for broker, (begin, end) in _spans_of(readings, since, until):
            if end - begin > longest:
                yield (cluster, broker), (begin, end)


def _beside(times: Sequence[datetime], at: datetime, brokers: Any, error: str | None) -> PartialReading:
    place = bisect_left(times, at)
    before = times[place - 1] if place else None
    after = times[place + 1] if place + 1 < len(times) else None
    return PartialReading(at, before, after, brokers, error)


def _spans_of(readings: Iterable[PartialReading], since: datetime, until: datetime) -> Iterator[tuple[str, Span]]:
    """Of the partial readings of one cluster in order: of each broker that some did not read, from the last reading
    before up to each one after. The empty name: where none was read.
    """
    read_at = since  # the last reading that read any broker
    unread: dict[str, datetime] = {}
    next_at: datetime | None = None
    for one in readings:
        if next_at is None or next_at < one.at:
            # A complete reading came before this one.
            yield from ((name, (begin, next_at or since)) for name, begin in unread.items())
            read_at, unread = one.before or since, {}
        yield from ((name, (begin, one.at)) for name, begin in unread.items())
        names = one.unread
        unread = {name: unread.get(name, read_at) for name in ({*names, *unread} if "" in names else names)}
        if "" not in names:
            read_at = one.at
        next_at = one.after
    yield from ((name, (begin, next_at or until)) for name, begin in unread.items())


class JoinedTexts(Aggregate):
    """All texts in one, with a mark between two. Of a day there are thousands: as rows they take four times as long."""

    template = f"STRING_AGG(%(expressions)s, '{MARK}')"
    output_field = TextField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template=f"GROUP_CONCAT(%(expressions)s, '{MARK}')", **context)


def _parted(texts: str | None) -> list[str]:
    """In the order of the times, which is that of their texts."""
    return sorted(texts.split(MARK)) if texts else []


def _text(column: str) -> Cast:
    return Cast(column, TextField())


def _times(texts: Sequence[str]) -> list[datetime]:
    zone = "" if texts and "+" in texts[0] else "+00:00"  # SQLite has no zones: all its times are UTC
    return [datetime.fromisoformat(text + zone) for text in texts]


def _time(text: str, least: datetime) -> datetime:
    """Not before `least`, which an empty text is."""
    return max(least, *_times([text])) if text else least


def quiet() -> timedelta:
    """For how long a group must be settled before its episode ends."""
    return timedelta(seconds=settings.JUDGE["rebalance_merge_seconds"])


def unwatched_spans(groups: Collection[int], since: datetime, until: datetime) -> Mapping[int, Sequence[Span]]:
    """By group id, in order: times within [since, until] when brokers of the group were not read or did not list its
    members, a member did not answer, or what was read was not evaluated. Groups that were always watched are left out.

    Seven queries, and one for each 500 groups where a broker was not read.
    """
    longest = max(quiet(), timedelta(seconds=limits().late_seconds))
    found = {group: {*spans} for group, spans in unread_spans(groups, since, until, longest).items()}
    _add(found, _silences(groups, since, until))
    gaps = list(_unevaluated(since, until))
    _add(found, ((group, gap) for group in (groups if gaps else ()) for gap in gaps))
    return {group: _joined(own) for group, own in found.items()}


def is_partly_watched(cluster: str | None, group: str | None, since: datetime, until: datetime) -> bool:
    """Whether some group of the cluster, or of any, with this name, or with any, was not watched at some time within
    [since, until]: what is counted over all of them is a lower bound then. As many queries for many groups as for few:
    at most seven, and fewer the sooner such a time is found.

    Groups that wait for their turn to be asked for members are not told from those that are gone, and left out.
    """
    if group is not None:
        of_cluster = {} if cluster is None else {"cluster__name": cluster}
        named = set(ConsumerGroup.objects.filter(name=group, **of_cluster).values_list("pk", flat=True))
        return bool(unwatched_spans(named, since, until))
    longest = max(quiet(), timedelta(seconds=limits().late_seconds))
    clusters = Cluster.objects.filter(name=cluster) if cluster else Cluster.objects.all()
    unread = _unread(set(clusters.values_list("pk", flat=True)), since, until, longest)
    if any(True for _ in chain(unread, _unevaluated(since, until))):
        return True
    lasting = ExpressionWrapper(F("ended_at") - F("began_at"), DurationField())
    gaps = MembershipGap.objects.filter(ended_at__gt=since, began_at__lt=until, group__cluster__in=clusters)
    is_long = Q(is_listed=False, lasting__gt=longest) | Q(is_listed=True, lasting__gt=longest_silence())
    refused = ConsumerGroup.objects.filter(cluster__in=clusters, membership_error__isnull=False)
    silent = _silent(until).filter(group__cluster__in=clusters)
    return (
        gaps.annotate(lasting=lasting).filter(is_long).exists()
        or refused.filter(membership_at__lt=until - longest).exists()
        or silent.exists()
    )


def first_scrape(cluster: str | None) -> datetime | None:
    """The first that is still stored, of the cluster or of any."""
    readings = Reading.objects.filter(cluster__name=cluster) if cluster else Reading.objects.all()
    first: datetime | None = readings.aggregate(first=Min("taken_at"))["first"]
    return first


def longest_of(spans: Sequence[Span]) -> Span:
    return max(spans, key=lambda span: span[1] - span[0])


def _unevaluated(since: datetime, until: datetime) -> Iterator[Span]:
    """After a long pause a run leaves out what lies too long ago. What no run could evaluate yet is no gap. One
    query.
    """
    done = PipelineRun.objects.filter(error=None, finished_at__isnull=False, since__lt=until, until__gt=since)
    spans = done.aggregate(
        spans=JoinedTexts(Concat(_text("since"), Value(TO, output_field=TextField()), _text("until")))
    )["spans"]
    last = ""
    for begin, over in (span.split(TO) for span in _parted(spans)):
        # Of the thousands of a day, each begins where the last one ended.
        if begin > last and (end := _time(last, since)) < (at := _time(begin, since)):
            yield end, at
        last = max(last, over)
    end = _time(last, since)
    if end < limits().judged_since(until):
        yield end, until
