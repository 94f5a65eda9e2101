"""The repeats of a run: what its offsets, rebalances and windows show, written as events.

Offsets first: whether a rebalance explains a repeat depends on whether its offset was set back. In an ordinary run,
where nothing came again, five queries find that out.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa
from django.db.models import Q

from consumers.lake.store import Lake
from consumers.models import Client, ConsumerGroup, GroupWindow, LogEvent, Reading, Rebalance, RepeatEvent
from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.segments import MICROSECONDS, MINUTE_US
from consumers.pipeline.repeat_rows import FoundSpan, write_repeats
from consumers.pipeline.slices import MINUTE, floor
from consumers.polling.members.membership import pop_answers
from consumers.polling.record.recorder import HISTORY_ERROR
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.logs import LogCode
from consumers.vocabulary.repeats import RepeatSource
from consumers.vocabulary.states import BROADCASTING, POPPING
from consumers.vocabulary.times import MICROSECOND, from_microseconds, microseconds

from .broadcast import broadcast_parts
from .fallen import ListenerReport, RetryMinute, sent_back_part
from .logged import CLOCKS_DIFFER_US, CODES, RETRY_DELAY_US, SHUTDOWN_LASTS_US, LoggedLine, with_lines, without_lines
from .moved_queues import moved_parts
from .parts import RepeatPart
from .returned import absences
from .set_back import fallen_parts, reset_parts

# Of a run: more lines add nothing to events that have some.
MOST_LINES = 20_000
BATCH_SETTING = "consumeMessageBatchMaxSize"


def find_repeats(
    lake: Lake,
    clusters: Sequence[str],
    since: datetime,
    until: datetime,
    falls: pa.Table | None,
    rebalanced: pa.Table | None,
    durations: Durations,
) -> int:
    """How many events the range has. `falls`: of kernel/falls.py; `rebalanced`: spans of groups whose rebalances were
    found, of rebalances/tables.py, written before."""
    merge, longest = durations.repeat_merge_seconds, durations.repeat_longest_seconds
    after, minutes = _again_after(since, durations), _minutes(since, until)
    # A minute has the time of its last reading: those that are so many minutes apart may be a poll further apart.
    retry_merge = durations.repeat_retry_merge_seconds + durations.poll_seconds
    lately = minutes[0] - timedelta(seconds=retry_merge)
    spans = {
        RepeatSource.OFFSETS: (after, until),
        RepeatSource.REBALANCES: (after, until),
        RepeatSource.RETRIES: (lately, minutes[1]),
    }
    stored = _with_events(clusters, spans)
    offsets = _offset_spans(lake, clusters, after, until, falls, durations, stored[RepeatSource.OFFSETS])
    count = write_repeats(RepeatSource.OFFSETS, _with_logs(offsets), merge, longest, until)
    moved = [] if rebalanced is None else list(_rebalance_spans(rebalanced, until, durations))
    looked_at = stored[RepeatSource.REBALANCES] - {span.group for span in moved}
    moved += _again(RepeatSource.REBALANCES, looked_at, after, until)
    count += write_repeats(RepeatSource.REBALANCES, _with_logs(moved), merge, longest, until)
    reach = timedelta(seconds=durations.reach_seconds)
    retried = _retry_spans(clusters, *minutes, reach, stored[RepeatSource.RETRIES])
    return count + write_repeats(RepeatSource.RETRIES, _with_logs(retried), retry_merge, longest, until)


def _again(source: RepeatSource, groups: Collection[int], after: datetime, until: datetime) -> Iterator[FoundSpan]:
    """What earlier runs found of groups that this one found nothing new of: their lines may have been read since."""
    if not groups:
        return
    after_us, until_us = microseconds(after), microseconds(until)
    parts: dict[int, list[RepeatPart]] = {}
    rows = RepeatEvent.objects.filter(source=source, group__in=groups, last_at__gt=after, started_at__lt=until)
    for row in rows:
        found = (without_lines(RepeatPart.of_stored(row.cause, part)) for part in row.parts)
        parts.setdefault(row.group_id, []).extend(part for part in found if after_us < part.at_us < until_us)
    for group, of_group in parts.items():
        yield FoundSpan(group, after, until, of_group)


def _with_logs(spans: Iterable[FoundSpan]) -> list[FoundSpan]:
    """With what logs say of their parts. Two queries, none where nothing was found."""
    found = list(spans)
    times = [us for span in found for part in span.parts for us in (part.after_us or part.at_us, part.at_us)]
    if not times:
        return found
    since, until = (
        from_microseconds(min(times) - RETRY_DELAY_US),
        from_microseconds(max(times) + CLOCKS_DIFFER_US + SHUTDOWN_LASTS_US),
    )
    groups = ConsumerGroup.objects.filter(pk__in=[span.group for span in found if span.parts])
    places = {(cluster, name): pk for pk, cluster, name in groups.values_list("pk", "cluster_id", "name")}
    named = Q(group__in={name for _, name in places}) | Q(group=None, code=LogCode.CLIENT_STOPPED)
    rows = LogEvent.objects.filter(named, cluster__in={cluster for cluster, _ in places}, code__in=CODES)
    lines: dict[int, list[LoggedLine]] = {pk: [] for pk in places.values()}
    for row in rows.filter(at__gte=since, began_at__lte=until).order_by("began_at", "pk")[:MOST_LINES]:
        of_groups = [places.get((row.cluster_id, row.group))] if row.group else _of_cluster(places, row.cluster_id)
        for pk in of_groups:
            if pk is not None:
                lines[pk].append(_line(row))
    return [replace(span, parts=[with_lines(one, lines.get(span.group, ())) for one in span.parts]) for span in found]


def _of_cluster(places: Mapping[tuple[int, str], int], cluster: int) -> list[int]:
    return [pk for (of_cluster, _), pk in places.items() if of_cluster == cluster]


def _line(row: LogEvent) -> LoggedLine:
    return LoggedLine(
        code=LogCode(row.code),
        began_us=microseconds(row.began_at),
        at_us=microseconds(row.at),
        lines=row.lines,
        topic=row.topic,
        broker=row.broker,
        queue_id=row.queue_id,
        client_id=row.client_id,
    )


def _again_after(since: datetime, durations: Durations) -> datetime:
    return since - timedelta(seconds=durations.repeat_again_seconds) - MICROSECOND


def _minutes(since: datetime, until: datetime) -> tuple[datetime, datetime]:
    """Those that are over. A part has the time of its minute's last reading: in one that is not over that would change,
    and with it the name of the event."""
    return floor(since, MINUTE), floor(until, MINUTE)


def _offset_spans(
    lake: Lake,
    clusters: Sequence[str],
    after: datetime,
    until: datetime,
    falls: pa.Table | None,
    durations: Durations,
    stored: Collection[int],
) -> Iterator[FoundSpan]:
    gone = absences(clusters, after, until, timedelta(seconds=durations.reach_seconds))
    fell = fallen_parts(falls, gone, lake, until, durations) if gone or (falls is not None and falls.num_rows) else {}
    resets = reset_parts(clusters, after, until)
    restarts = broadcast_parts(clusters, lake, after, until)
    for group in {*fell, *resets, *restarts, *stored}:
        yield FoundSpan(group, after, until, [*fell.get(group, ()), *resets.get(group, ()), *restarts.get(group, ())])


def _rebalance_spans(rebalanced: pa.Table, until: datetime, durations: Durations) -> Iterator[FoundSpan]:
    spans = {(one["cluster"], one["group"]): from_microseconds(one["anchor_us"]) for one in rebalanced.to_pylist()}
    if not spans:
        return
    clusters = {cluster for cluster, _ in spans}
    rows = ConsumerGroup.objects.filter(cluster__name__in=clusters, name__in={name for _, name in spans})
    places = rows.values_list("pk", "cluster__name", "name", "consume_type")
    mine = [(pk, spans[cluster, name], kind) for pk, cluster, name, kind in places if (cluster, name) in spans]
    anchors = {pk: anchor for pk, anchor, _ in mine}
    if not anchors:
        return
    popping = {pk for pk, _, kind in mine if kind == POPPING} | {
        pk for pk, answer in pop_answers(anchors).items() if answer.pops
    }
    rebalances = Rebalance.objects.filter(
        group__in=anchors, started_before__gt=min(anchors.values()), started_before__lt=until
    ).prefetch_related("topics")
    # Members of a broadcasting group share nothing out, and keep offsets of their own.
    rebalances = rebalances.exclude(group__message_model=BROADCASTING)
    begun = [row for row in rebalances if row.started_before > anchors[row.group_id]]
    found = moved_parts(begun, popping, until, durations)
    source = RepeatSource.REBALANCES
    stored = _with_events(clusters, {source: (min(anchors.values()), until)})[source]
    for group in {*found, *(pk for pk in stored if pk in anchors)}:
        yield FoundSpan(group, anchors[group], until, found.get(group, []))


def _retry_spans(
    clusters: Sequence[str], start: datetime, end: datetime, reach: timedelta, going_on: Collection[int]
) -> Iterator[FoundSpan]:
    """`going_on`: groups that have events already. `reach`: how long before a minute a reading may lie that the minute
    counts from."""
    if start >= end:
        return
    windows = GroupWindow.objects.filter(step_seconds=60, start__gte=start, start__lt=end)
    windows = windows.filter(group__cluster__name__in=clusters)
    retried = windows.filter(into_retry__gt=0)
    unknown = windows.filter(into_retry=None, group__in=going_on)
    names = ("group_id", "group__cluster_id", "start", "into_retry", "out_of_retry")
    found = [row for chosen in ((retried, unknown) if going_on else (retried,)) for row in chosen.values_list(*names)]
    readings = _reading_times({row[1] for row in found}, start - reach, end)
    minutes: dict[int, list[RetryMinute]] = {}
    for group, cluster, at, into, out in found:
        around = _readings_around(readings[cluster], microseconds(at), round(reach.total_seconds() * MICROSECONDS))
        minutes.setdefault(group, []).append(RetryMinute(microseconds(at), into, out, *around))
    yield from _retry_parts(minutes, start - MICROSECOND, end, going_on)


def _retry_parts(
    minutes: Mapping[int, Sequence[RetryMinute]], after: datetime, until: datetime, going_on: Collection[int]
) -> Iterator[FoundSpan]:
    groups = {*minutes, *going_on}
    names = dict(ConsumerGroup.objects.filter(pk__in=groups).values_list("pk", "name")) if groups else {}
    reports = _listener_reports(minutes)
    for group in groups & names.keys():
        topic, report = f"{RETRY_PREFIX}{names[group]}", reports.get(group, ListenerReport())
        parts = (sent_back_part(topic, one, report, group in going_on) for one in minutes.get(group, ()))
        yield FoundSpan(group, after, until, [part for part in parts if part is not None])


def _reading_times(clusters: Collection[int], since: datetime, until: datetime) -> dict[int, list[int]]:
    """By cluster, in order: the readings of [since, until) that the history has. No query where no cluster is asked."""
    found: dict[int, list[int]] = {cluster: [] for cluster in clusters}
    if found:
        rows = Reading.objects.filter(cluster__in=clusters, taken_at__gte=since, taken_at__lt=until)
        rows = rows.exclude(Reading.READ_NOTHING).exclude(members__has_key=HISTORY_ERROR)
        for cluster, at in rows.order_by("taken_at").values_list("cluster_id", "taken_at"):
            found[cluster].append(microseconds(at))
    return found


def _readings_around(times: Sequence[int], start_us: int, reach_us: int) -> tuple[int | None, int | None]:
    """The last reading before the minute, and the last one in it; null where there is none."""
    first, end = bisect_left(times, start_us), bisect_left(times, start_us + MINUTE_US)
    is_near = first > 0 and times[first - 1] >= start_us - reach_us
    return times[first - 1] if is_near else None, times[end - 1] if end > first else None


def _with_events(
    clusters: Collection[str], spans: Mapping[RepeatSource, tuple[datetime, datetime]]
) -> Mapping[RepeatSource, set[int]]:
    """The groups that have events of each source in its span."""
    wanted = Q()
    for source, (after, until) in spans.items():
        wanted |= Q(source=source, last_at__gt=after, started_at__lt=until)
    found: dict[RepeatSource, set[int]] = {source: set() for source in spans}
    rows = RepeatEvent.objects.filter(wanted, group__cluster__name__in=clusters)
    for name, group in rows.values_list("source", "group_id"):
        found[RepeatSource(name)].add(group)
    return found


def _listener_reports(groups: Collection[int]) -> dict[int, ListenerReport]:
    """What the members that are there report of their listeners."""
    failures: dict[int, list[int]] = {}
    sizes: dict[int, list[int]] = {}
    rows = Client.objects.filter(group__in=list(groups), gone_by=None) if groups else Client.objects.none()
    for group, status, settings in rows.values_list("group_id", "consume_status", "settings"):
        of_topics = [one.get("consume_failed_messages") for one in (status or {}).values()]
        failures.setdefault(group, []).extend(one for one in of_topics if one is not None)
        size = str((settings or {}).get(BATCH_SETTING, ""))
        if size.isdigit():
            sizes.setdefault(group, []).append(int(size))
    popping = _popping(groups)
    return {
        group: ListenerReport(
            sum(failures[group]) if failures.get(group) else None,
            max(sizes.get(group, ()), default=None),
            group in popping,
        )
        for group in {*failures, *sizes, *popping}
    }


def _popping(groups: Collection[int]) -> set[int]:
    """Groups of which a member pops, or the last ones did: messages come again after a member that popped them died."""
    rows = Client.objects.filter(group__in=list(groups)) if groups else Client.objects.none()
    present: dict[int, list[bool]] = {}
    gone: dict[int, list[bool]] = {}
    for group, gone_by, queues in rows.values_list("group_id", "gone_by", "pop_queues"):
        (present if gone_by is None else gone).setdefault(group, []).append(bool(queues))
    return {group for group, pops in {**gone, **present}.items() if any(pops)}
