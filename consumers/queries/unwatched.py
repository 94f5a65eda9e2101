"""Times when groups were not read, their members not reported, or nothing evaluated: nobody knows what members did.

Whether they settled is unknown then, and what is counted over an hour or a day with such a time is a lower bound.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, groupby
from operator import itemgetter

from django.conf import settings
from django.db.models import Case, DurationField, ExpressionWrapper, F, Min, Q, QuerySet, TextField, When
from django.db.models.functions import Cast

from consumers.models import Client, Cluster, ConsumerGroup, MembershipGap, PipelineRun, Reading
from consumers.polling.record.membership_gaps import unlisted_since
from consumers.polling.record.recorder import longest_silence
from consumers.queries.groups import NAMED_AT_ONCE, brokers_of
from consumers.queries.limits import limits

Span = tuple[datetime, datetime]  # the last reading before such a time, and the first one after it

Key = tuple[int, str]  # cluster and broker; the name is empty for the whole cluster


def unread_spans(
    groups: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> Mapping[int, Sequence[Span]]:
    """By group id, in order: times longer than `longest` within [since, until] when the group's cluster, or a broker
    that holds queues of it, was not read, or a broker did not list its members. The time before the first stored
    reading counts as not read.

    Groups that were always read are left out. Three queries, and one for each 500 groups where a broker was not read.
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


def _unread(
    clusters: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> Iterator[tuple[Key, Span]]:
    """Times longer than `longest` when a cluster, or one of its brokers, was not read. One that goes on comes again
    with each reading, ending there. One query.
    """
    rows = Reading.objects.filter(cluster__in=clusters, taken_at__gte=since - longest, taken_at__lte=until)
    # What a complete reading says of each broker need not be read.
    said = (Case(When(complete=False, then=Cast(name, TextField()))) for name in ("brokers", "error"))
    read = rows.order_by("cluster", "taken_at").values_list("cluster", _text("taken_at"), *said)
    silent = set(clusters)
    for cluster, readings in groupby(read.iterator(), itemgetter(0)):
        silent.discard(cluster)
        for broker, span in _longer(readings, since, until, longest):
            yield (cluster, broker), span
    if until - since > longest:
        yield from (((cluster, ""), (since, until)) for cluster in silent)


def _longer(
    readings: Iterable[tuple[int, str, str | None, str | None]], since: datetime, until: datetime, longest: timedelta
) -> Iterator[tuple[str, Span]]:
    """Of the readings of one cluster (its key, time, brokers and error as text, null where complete): times without any
    (""), and of each broker that some did not read, from the last reading before up to each one after.
    """
    before = read_at = since  # the last reading, and the last one that read any broker
    unread: dict[str, datetime] = {}
    for _, text, brokers, error in chain(readings, [(0, str(until.astimezone(UTC)), None, None)]):
        at = _time(text)
        if at - before > longest:
            yield "", (before, at)
        if unread:
            yield from ((name, (begin, at)) for name, begin in unread.items() if at - begin > longest)
        before = at
        named = [] if brokers is None else json.loads(brokers)
        names = {one["name"] for one in named if not one["read"]}
        is_none_read = brokers is not None and len(names) == len(named) and (error is not None or not named)
        unread = {name: unread.get(name, read_at) for name in ({"", *names, *unread} if is_none_read else names)}
        if not is_none_read:
            read_at = at


def _text(column: str) -> Cast:
    """Of a day there are thousands of rows: their times are read in a third of the time as texts."""
    return Cast(column, TextField())


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text if "+" in text else f"{text}Z")  # SQLite has no zones: all its times are UTC


def quiet() -> timedelta:
    """For how long a group must be settled before its episode ends."""
    return timedelta(seconds=settings.JUDGE["rebalance_merge_seconds"])


def unwatched_spans(groups: Collection[int], since: datetime, until: datetime) -> Mapping[int, Sequence[Span]]:
    """By group id, in order: times within [since, until] when brokers of the group were not read or did not list its
    members, a member did not answer, or what was read was not evaluated. Groups that were always watched are left out.

    Six queries, and one for each 500 groups where a broker was not read.
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
    at most six, and fewer the sooner such a time is found.

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
    """After a long pause a run leaves out what lies too long ago. What no run could evaluate yet is no gap."""
    done = PipelineRun.objects.filter(error=None, finished_at__isnull=False, since__lt=until, until__gt=since)
    end = since
    for texts in done.order_by("since").values_list(_text("since"), _text("until")).iterator():
        begin, over = map(_time, texts)
        if begin > end:
            yield end, begin
        end = max(end, over)
    if end < limits().judged_since(until):
        yield end, until
