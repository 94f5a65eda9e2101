"""Retries over all groups: failing checks, blocked queues, delay levels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.dead_letters.filters import DeadLetterFilters
from consumers.dead_letters.listing import dead_letter_list
from consumers.findings.queries import FindingFilters, late_checks, open_count
from consumers.groups.detail import group_head
from consumers.groups.listing import ORDERINGS, group_list
from consumers.groups.rows import GroupFilters
from consumers.models import ConsumerGroup
from consumers.queries.findings import DetectedFinding
from consumers.queries.groups import find_group
from consumers.queries.windows import OPEN_WINDOWS
from consumers.retries.blocked import all_blocked, blocked_queues
from consumers.retries.blocked_rows import BlockedQueue
from consumers.retries.broker_levels import BrokerLevel, BrokerLevels, delay_summary
from consumers.retries.checks.condition_rows import Condition, FailingGroup
from consumers.retries.checks.failing import conditions, failing_groups
from consumers.retries.checks.observed import facts_of
from consumers.retries.ladder import ladder_of
from consumers.retries.ladder_rows import Ladder, LadderRung
from consumers.retries.volumes import VolumeWindow, volumes_of
from consumers.vocabulary.findings import FindingCode, FindingSeverity
from consumers.vocabulary.reasons import ReasonCode
from consumers.words.reasons import coded_reason
from dashboard.figures.layout import Figure, Line, beginning
from dashboard.figures.retry_ladder import is_empty, is_late, retry_ladder
from dashboard.figures.time_lines import volume_bars
from dashboard.pages.common.figures import charted, marks_of, rebalance_spans
from dashboard.pages.common.frame import Frame, context, frame_of, no_group, page, refreshing, tabs
from dashboard.pages.common.list_pages import page_links, page_number
from dashboard.pages.common.moments import Range
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import FIELDS

from .groups import Column, column


# What the pages of retries say of conditions, rungs and blocked queues, in the order in which they are needed.
@dataclass(frozen=True)
class RungLine:
    rung: LadderRung
    attempts: list[tuple[int, int]]
    is_late: bool


def rung_lines(ladder: Ladder) -> list[RungLine]:
    """Levels at which messages wait, or may wait."""
    return [
        RungLine(rung, sorted(rung.sampled.attempts.items()) if rung.sampled else [], is_late(rung))
        for rung in ladder.rungs
        if not is_empty(rung)
    ]


def condition_lines(conditions: Sequence[Condition], ladder: Ladder) -> dict[str, Any]:
    """`failing` stops or hurts retries, `notes` are worth knowing; `doubtful` are not known, by the reason why.

    `total`: how many there are. `is_sound`: all of them are known, and none of those that matter fails.
    """
    failing = [condition for condition in conditions if condition.is_failing]
    loud = [condition for condition in failing if condition.severity != FindingSeverity.INFO]
    doubtful: dict[str, list[Condition]] = {}
    for condition in conditions:
        if condition.ok is None:
            doubtful.setdefault(condition.unknown_reason or "", []).append(condition)
    return {
        "late": list(ladder.findings),
        "failing": loud,
        "notes": [condition for condition in failing if condition.severity == FindingSeverity.INFO],
        "doubtful": list(doubtful.items()),
        "total": len(conditions),
        "holding": [condition for condition in conditions if condition.ok],
        "is_sound": not (loud or doubtful or ladder.findings),
    }


def blocked_lines(
    frame: Frame, blocked: Sequence[BlockedQueue], *, with_group: bool
) -> list[tuple[BlockedQueue, str, str]]:
    """Each with the page of its member, and with that of its group where the page is of several."""
    return [
        (
            queue,
            frame.to("client", queue.cluster, queue.client_id),
            frame.to("group_retries", queue.cluster, queue.group) if with_group else "",
        )
        for queue in blocked
    ]


# Retries & DLQ over all groups: what keeps failed messages from coming back, what is blocked, who retries and dies.
ROWS, FAILING, BLOCKED, BROKERS = 30, 20, 20, 20

NUMBERS = ("dlq_messages", "dlq_day_messages", "retry_share", "retry_rate", "consume_rate")

# What died in 24 hours is not known on the first day, how many dead letters there are is with the first reading.
FIRST = f"-{NUMBERS[0]}"


def retries_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    failing = failing_groups(frame.cluster, frame.now)
    blocked, blocked_count = all_blocked(frame.cluster, frame.now, BLOCKED)
    delays = delay_summary(frame.cluster, frame.now)
    doubtful = open_count(FindingFilters(code=FindingCode.RETRY_CHECKS_UNKNOWN, cluster=frame.cluster))
    not_checked = late_checks(FindingFilters(cluster=frame.cluster), frame.now)
    shown = [one for one in frame.clusters if frame.cluster in (None, one.name)]
    are_scraped = all(one.masters and one.brokers_read == len(one.masters) for one in shown)
    return context(
        frame,
        are_checked=are_scraped and not doubtful and not not_checked,
        not_checked=not_checked,
        failing=[(row, _page_of(frame, row)) for row in failing[:FAILING]],
        failing_more=max(0, len(failing) - FAILING),
        doubtful=doubtful,
        doubtful_href=frame.to("findings", code=FindingCode.RETRY_CHECKS_UNKNOWN),
        late=[(row.cluster, finding) for row in delays for finding in row.levels.findings],
        delays=delays[:BROKERS],
        delays_more=max(0, len(delays) - BROKERS),
        blocked=blocked_lines(frame, blocked, with_group=True),
        blocked_more=blocked_count - len(blocked),
        many_clusters=frame.cluster is None and len(frame.clusters) > 1,
        **_groups(frame),
    )


retries, retries_part = refreshing("retries/retries.html", "retries/retries_part.html", retries_context)


def _page_of(frame: Frame, row: FailingGroup) -> str:
    """Of one group its own tab, of a cause of many the groups of its cluster."""
    if row.group is not None:
        return frame.to("group_retries", row.cluster, row.group)
    return frame.to("groups", cluster=row.cluster)


def _groups(frame: Frame) -> dict[str, Any]:
    read = frame.request.GET.get
    ordering = read("ordering", "") or FIRST
    if ordering.removeprefix("-") not in ORDERINGS:
        raise UnknownFilter("ordering", ordering, ORDERINGS)
    filters = GroupFilters(cluster=frame.cluster, search=read("search", "").strip() or None, ordering=ordering)
    found = group_list(filters, now=frame.now, page=page_number(frame.request), page_size=ROWS)
    return {
        "found": found,
        "rows": [(row, frame.to("group_retries", row.cluster, row.group)) for row in found.rows],
        "columns": _columns(frame, ordering),
        "numbers": NUMBERS,
        "links": page_links(frame, found.page, found.pages),
        "first": (found.page - 1) * ROWS + 1,
        "last": (found.page - 1) * ROWS + len(found.rows),
    }


def _columns(frame: Frame, ordering: str) -> list[Column]:
    words = [("group", _("Group"))]
    if frame.cluster is None and len(frame.clusters) > 1:
        words.append(("cluster", _("Cluster")))
    heads = [column(frame, ordering, name, label, "", is_number=False) for name, label in words]
    return heads + [
        column(frame, ordering, name, str(FIELDS[name].label), str(FIELDS[name].unit), is_number=True)
        for name in NUMBERS
    ]


# The delay levels of a cluster's brokers as a table: a column for each level, a row for each broker.
@dataclass(frozen=True)
class LevelHead:
    """`delays`: what the brokers say; more than one where they differ."""

    level: int
    delays: Sequence[float]


@dataclass(frozen=True)
class LevelCell:
    """`level` is null where the broker does not have it."""

    level: BrokerLevel | None

    @property
    def is_late(self) -> bool:
        return self.level is not None and self.level.is_late


@dataclass(frozen=True)
class DelayLine:
    levels: BrokerLevels
    cells: Sequence[LevelCell]

    @property
    def why_nothing(self) -> str | None:
        """Why no level of the broker is known; null where one is."""
        known = any(cell.level is not None and cell.level.backlog is not None for cell in self.cells)
        return None if known else self.levels.unknown.get("backlog")


@dataclass(frozen=True)
class DelayTable:
    heads: Sequence[LevelHead]
    lines: Sequence[DelayLine]
    findings: Sequence[DetectedFinding]


def delay_tables(levels: Mapping[str, Sequence[BrokerLevels]]) -> dict[str, DelayTable]:
    """By the cluster's name."""
    return {name: _table(brokers) for name, brokers in levels.items()}


def _table(brokers: Sequence[BrokerLevels]) -> DelayTable:
    delays: dict[int, set[float]] = {}
    for level in (level for broker in brokers for level in broker.levels):
        delays.setdefault(level.level, set()).update({level.delay_seconds} - {None})  # type: ignore[arg-type]
    heads = [LevelHead(number, sorted(delays[number])) for number in sorted(delays)]
    lines = [_line(broker, [head.level for head in heads]) for broker in brokers]
    return DelayTable(heads, lines, [finding for broker in brokers for finding in broker.findings])


def _line(broker: BrokerLevels, numbers: Sequence[int]) -> DelayLine:
    held = {level.level: level for level in broker.levels}
    return DelayLine(broker, [LevelCell(held.get(number)) for number in numbers])


# Retries of one group, and their figures.

# The figures of retries, as JSON for the browser to draw: volumes, dead letters, the ladder of delay levels.
CONSUMED, RETRIED, DEAD = "var(--volume-consumed)", "var(--volume-retried)", "var(--volume-dead)"


@page
def ladder(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    now = timezone.now()
    try:
        return JsonResponse(retry_ladder(ladder_of(cluster, group, now), now))
    except ConsumerGroup.DoesNotExist:
        raise no_group(cluster, group) from None


@page
def volumes(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    names = {"consumed": (_("consumed"), CONSUMED), "into_retry": (_("into retry"), RETRIED)}
    return _figure(request, cluster, group, names | {"into_dlq": (_("into DLQ"), DEAD)})


@page
def dead_letters(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    return _figure(request, cluster, group, {"into_dlq": (_("into DLQ"), DEAD)})


def _figure(request: HttpRequest, cluster: str, group: str, names: dict[str, tuple[str, str]]) -> JsonResponse:
    now = timezone.now()
    shown = charted(request, now, cluster, group)
    return JsonResponse(beginning(volume_figure(cluster, group, shown, now, names), shown.collected_since, now))


def volume_figure(cluster: str, group: str, shown: Range, now: datetime, names: dict[str, tuple[str, str]]) -> Figure:
    try:
        found = volumes_of(cluster, group, shown.since, shown.until, now)
    except ConsumerGroup.DoesNotExist:
        raise no_group(cluster, group) from None
    windows = closed(found.windows)
    return volume_bars(
        [window.at for window in windows],
        timedelta(seconds=found.step_seconds),
        [(line_of(windows, field, name), colour) for field, (name, colour) in names.items()],
        marks_of(cluster, group, shown),
        rebalance_spans(cluster, group, shown),
        until=shown.until,
    )


def closed(windows: list[VolumeWindow]) -> list[VolumeWindow]:
    """Without the newest ones that are not over for the pipeline: that it is so at every moment is no news."""
    size = len(windows)
    for _open in range(OPEN_WINDOWS):
        if size and windows[size - 1].is_open:
            size -= 1
    return windows[:size]


def line_of(windows: list[VolumeWindow], field: str, name: str) -> Line:
    """Of complete windows: the sum of a part of one is no sum."""
    return Line(
        name,
        [None if window.is_open else getattr(window, field) for window in windows],
        [
            coded_reason(ReasonCode.NOT_AGGREGATED) if window.is_open else window.unknown.get(field)
            for window in windows
        ],
    )


# The Retries & DLQ tab of a group: what stands in the way, what is blocked, what waits on which rung, what died.
LETTERS = 5


def group_retries_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    group = find_group(cluster, name)
    if group is None:
        raise no_group(cluster, name)
    ladder = ladder_of(cluster, name, frame.now)
    return context(
        frame,
        group=group_head(group, now=frame.now),
        tabs=tabs(frame, cluster, name),
        figure_query=f"?range={frame.range.name}",
        ladder=ladder,
        rungs=(lines := rung_lines(ladder)),
        empty_rungs=len(ladder.rungs) - len(lines),
        blocked=blocked_lines(frame, blocked_queues(cluster, name, frame.now), with_group=False),
        volumes=volumes_of(cluster, name, frame.range.since, frame.range.until, frame.now).totals,
        letters=dead_letter_list(group, DeadLetterFilters(), page_size=LETTERS),
        every_dead_letter=frame.to("group_dlq", cluster, name),
        **condition_lines(conditions(facts_of([group], frame.now)[0]), ladder),
    )


group_retries, group_retries_part = refreshing(
    "retries/group_retries.html",
    "retries/group_retries_part.html",
    group_retries_context,
    mark="is_refresh",
    charts=True,
)
