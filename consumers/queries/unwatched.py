"""Times when groups were not read, their members not reported, or nothing evaluated: nobody knows what members did.

Whether they settled is unknown then, and what is counted over an hour or a day with such a time is a lower bound.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from django.conf import settings
from django.db.models import Case, Count, DurationField, ExpressionWrapper, F, Max, Min, Q, QuerySet, TextField, When
from django.db.models.functions import Cast, Substr

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

    Groups that were always read are left out. Three queries, one more for clusters that were not always read
    completely, and one for each 500 groups where a broker was not read.
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
    whole, failed = _reading_times(clusters, since, until, longest)
    read: dict[Key, list[datetime]] = {(cluster, ""): times for cluster, times in whole.items()}
    read |= {(cluster, ""): [since] for cluster in failed}
    columns = ("cluster", "taken_at", "brokers", "error")
    rows = _readings(failed, since, until, longest)
    partly = rows.order_by("taken_at").values_list(*columns).iterator() if failed else ()
    for cluster, at, brokers, error in partly:
        for one in brokers:
            # Nothing was missed of a broker that no earlier reading named.
            times = read.setdefault((cluster, str(one["name"])), [at])
            if one["read"]:
                times.append(at)
        if error is None or any(one["read"] for one in brokers):
            read[cluster, ""].append(at)
    spans = {key: list(_longer([*times, until], longest)) for key, times in read.items()}
    return {key: found for key, found in spans.items() if found}


def _readings(clusters: Collection[int], since: datetime, until: datetime, longest: timedelta) -> QuerySet[Reading]:
    return Reading.objects.filter(cluster__in=clusters, taken_at__gte=since - longest, taken_at__lte=until)


def _reading_times(
    clusters: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> tuple[dict[int, list[datetime]], set[int]]:
    """By cluster when it was read, as often as gaps longer than `longest` can be told by; and the clusters that were
    not always read completely."""
    read: dict[int, list[datetime]] = {cluster: [since] for cluster in clusters}
    failed: set[int] = set()
    rows = _readings(clusters, since, until, longest)
    # Of a day there are thousands of readings: of a minute without a gap the first and the last one tell as much.
    written = "2026-03-01 02:03" if longest >= timedelta(minutes=1) else "2026-03-01 02:03:04.567890"
    together = Substr(Cast("taken_at", TextField()), 1, len(written))
    parts = rows.annotate(together=together).values("cluster", "together").order_by("together")
    ends = parts.annotate(Min("taken_at"), Max("taken_at"), failed=Count("pk", filter=Q(complete=False)))
    for one in ends.iterator():
        read[one["cluster"]] += [one["taken_at__min"], one["taken_at__max"]]
        if one["failed"]:
            failed.add(one["cluster"])
    return read, failed


def _was_broker_unread(cluster: int, since: datetime, until: datetime, longest: timedelta) -> bool:
    """Whether some broker of the cluster, or none at all, was read for longer than `longest`. Ends with the first."""
    rows = _readings([cluster], since, until, longest).order_by("taken_at")
    # What a complete reading says of each broker need not be read.
    brokers = Case(When(complete=False, then=F("brokers")))
    read_at: datetime | None = None
    missing: dict[str, datetime] = {}  # by broker, empty for all of them, when it was read last
    for at, said in rows.values_list("taken_at", brokers).iterator():
        unread = {one["name"] for one in said or () if not one["read"]}
        is_none_read = said is not None and len(unread) == len(said)
        # Nothing was missed of a broker that no earlier reading named.
        missing |= dict.fromkeys(({*unread, ""} if is_none_read else unread) - missing.keys(), read_at or at)
        if any(at - begin > longest for begin in missing.values()):
            return True
        if not is_none_read:
            missing = {name: begin for name, begin in missing.items() if name in unread}
            read_at = at
    return any(until - begin > longest for begin in missing.values())


def _longer(times: Sequence[datetime], longest: timedelta) -> Iterator[Span]:
    return ((before, after) for before, after in pairwise(times) if after - before > longest)


def quiet() -> timedelta:
    """For how long a group must be settled before its episode ends."""
    return timedelta(seconds=settings.JUDGE["rebalance_merge_seconds"])


def unwatched_spans(groups: Collection[int], since: datetime, until: datetime) -> Mapping[int, Sequence[Span]]:
    """By group id, in order: times within [since, until] when brokers of the group were not read or did not list its
    members, a member did not answer, or what was read was not evaluated. Groups that were always watched are left out.

    Six queries, one more for clusters that were not always read completely, and one for each 500 groups where a
    broker was not read.
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
    at most six, and one for each cluster that was not always read completely.

    Groups that wait for their turn to be asked for members are not told from those that are gone, and left out.
    """
    if group is not None:
        of_cluster = {} if cluster is None else {"cluster__name": cluster}
        named = set(ConsumerGroup.objects.filter(name=group, **of_cluster).values_list("pk", flat=True))
        return bool(unwatched_spans(named, since, until))
    longest = max(quiet(), timedelta(seconds=limits().late_seconds))
    clusters = Cluster.objects.filter(name=cluster) if cluster else Cluster.objects.all()
    if any(True for _ in _unevaluated(since, until)):
        return True
    read, failed = _reading_times(set(clusters.values_list("pk", flat=True)), since, until, longest)
    if any(any(_longer([*times, until], longest)) for times in read.values()):
        return True
    if any(_was_broker_unread(cluster, since, until, longest) for cluster in failed):
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


def longest_of(spans: Sequence[Span]) -> Span:
    return max(spans, key=lambda span: span[1] - span[0])


def _unevaluated(since: datetime, until: datetime) -> Iterator[Span]:
    """After a long pause a run leaves out what lies too long ago. What no run could evaluate yet is no gap."""
    done = PipelineRun.objects.filter(error=None, finished_at__isnull=False, since__lt=until, until__gt=since)
    end = since
    for begin, over in done.order_by("since").values_list("since", "until"):
        if begin > end:
            yield end, begin
        end = max(end, over)
    if end < limits().judged_since(until):
        yield end, until
