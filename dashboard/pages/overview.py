"""The overview: what needs attention, what is not known, what changed; worst first."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.queries.incidents import IncidentFilters, incident_list
from consumers.alerts.queries.rows import SubjectRow
from consumers.clock.status import change_words, clock_status
from consumers.clusters.queries import cluster_list
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters
from consumers.models import HealthLevel, IncidentStatus, Measure, State
from consumers.overview import queries as selector
from consumers.overview.fleet import Fleet, fleet_history
from consumers.overview.queries import Change, Overview
from consumers.queries.history import sparklines
from consumers.queries.queues.lost_offsets import BrokerLoss, broker_loss_words
from consumers.queries.reset_marks import ResetMark, reset_count, reset_marks
from consumers.queries.unwatched import is_partly_watched
from consumers.rebalances.events import Mark as RebalanceMark, rebalance_count, rebalance_marks
from consumers.rebalances.rows import RebalanceFilters
from consumers.retries.checks.condition_rows import FailingGroup
from consumers.words.marks import labelled
from consumers.words.states import rule_words
from dashboard.figures.layout import Figure, Line, beginning
from dashboard.figures.merged_marks import merged
from dashboard.figures.time_bars import REBALANCE, RESET, Mark, change_strip
from dashboard.figures.time_lines import Scale, time_lines
from dashboard.pages.alerts.preview_pictures import incident_flags
from dashboard.pages.common.figures import (
    CONSUMED,
    MESSAGES,
    PRODUCED,
    RATE,
    TIME_LAG as TOTAL,
    closed_windows,
    compared_lag,
    cut,
    on_scale,
)
from dashboard.pages.common.frame import Frame, context, frame_of, page, refreshing
from dashboard.pages.findings import finding_counts
from dashboard.pages.group import LABELS, EventKind
from dashboard.pages.reset import reset_words
from dashboard.wording.numbers import count, minute, zone_name, zoned

from .common.figures import mark_words

FAILING, FIRING, NAMED, DRAWN = 10, 5, 5, 6
# Shown even where no group is in them; the others only where one is.
ALWAYS = (State.STOP, State.STALL, State.REWIND, State.WARN, State.UNKNOWN, State.OK)


def overview_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    shown = frame.range
    found = selector.overview(cluster=frame.cluster, since=shown.since, until=shown.until, now=frame.now)
    rows = [worst.row for worst in found.worst]
    in_range = RebalanceFilters(cluster=frame.cluster, since=shown.since, until=shown.until, touching=True)
    rebalanced = rebalance_marks(in_range)
    resets = reset_marks(cluster=frame.cluster, since=shown.since, until=shown.until)
    lags, collected = {row.id: row.lag_messages for row in rows}, frame.collected
    lines = sparklines(lags, collected.since, collected.until, is_past=frame.is_past)
    marks = merged(
        [
            *(_mark(frame, change) for change in found.changes),
            *(_rebalance(frame, mark) for mark in rebalanced),
            *(_reset(frame, mark) for mark in resets),
            *incident_flags(frame),
        ],
        collected.since,
        collected.until,
        lambda some: _merged_words(frame, some),
    )
    rebalances = rebalance_count(in_range)
    reset_total = reset_count(cluster=frame.cluster, since=shown.since, until=shown.until)
    cut = {
        EventKind.STATE: found.change_count > len(found.changes),
        EventKind.REBALANCE: rebalances > sum(mark.rebalances for mark in rebalanced),
        EventKind.RESET: reset_total > len(resets),
    }
    return context(
        frame,
        overview=found,
        counts=[(word, n, frame.to("groups", state=word)) for word, n in found.counts.items() if n or word in ALWAYS],
        worst=[(row, lines.get(row.id), frame.group(row.cluster, row.group)) for row in rows],
        oldest=_oldest(frame, found),
        strip=change_strip(
            marks, collected.since, collected.until, _("State changes, rebalances, offset resets, and incidents")
        ),
        merged_marks=[mark for mark in reversed(marks) if mark.parts],
        resets=reset_total,
        losses=[_loss(frame, loss) for loss in found.losses],
        clock_changes=[change_words(change) for change in clock_status(frame.now).changes],
        **_firing(frame, {(row.cluster, row.group, None) for row in rows}),
        rebalances=rebalances,
        rebalances_are_partial=is_partly_watched(frame.cluster, None, shown.since, shown.until),
        cut=[LABELS[kind] for kind, is_cut in cut.items() if is_cut],
        clusters=cluster_list(frame.now, name=frame.cluster),
        failing=[(row, _where_retried(frame, row)) for row in found.failing[:FAILING]],
        finding_counts=finding_counts(frame),
        retries_page=frame.to("retries"),
        failing_more=max(0, len(found.failing) - FAILING),
        troubled=found.health[HealthLevel.CRITICAL] + found.health[HealthLevel.WARNING],
        unknown=found.health[HealthLevel.UNKNOWN],
        figure_query=frame.here(range=frame.range.name, scale=None),
    )


overview, overview_part = refreshing(
    "overview/overview.html", "overview/overview_part.html", overview_context, charts=True
)


@page
def top_lag(request: HttpRequest) -> HttpResponse:
    """The lag of the groups that are furthest behind now, as JSON for the browser to draw."""
    frame = frame_of(request, timezone.now())
    most = group_list(GroupFilters(cluster=frame.cluster, ordering="-lag_messages"), now=frame.now, page_size=DRAWN)
    drawn = beginning(compared_lag(frame, most.rows), frame.collected.collected_since, frame.now)
    return JsonResponse(on_scale(request, drawn, MESSAGES))


@page
def fleet_lag(request: HttpRequest) -> HttpResponse:
    """The lag of all groups together."""
    drawn = _of_fleet(request, {"lag_messages": (_("lag"), TOTAL)}, MESSAGES)
    return JsonResponse(on_scale(request, drawn, MESSAGES))


@page
def fleet_rates(request: HttpRequest) -> HttpResponse:
    """Messages that all groups together produced and consumed a second."""
    names = {"produce_rate": (_("produced"), PRODUCED), "consume_rate": (_("consumed"), CONSUMED)}
    return JsonResponse(_of_fleet(request, names, RATE))


def _of_fleet(request: HttpRequest, names: Mapping[str, tuple[str, str]], scale: Scale) -> Figure:
    """A gap where a group is unknown; there a dotted line for the groups that are known."""
    frame = frame_of(request, timezone.now())
    shown = frame.collected
    fleet = fleet_history(cluster=frame.cluster, since=shown.since, until=shown.until, now=frame.now)
    lines = [(_fleet_line(fleet, field, name), colour) for field, (name, colour) in names.items()]
    size = max(closed_windows(line) for line, _colour in lines)
    parts = [(_known_line(fleet, field, name), colour) for field, (name, colour) in names.items()]
    parts = [(line, colour) for line, colour in parts if any(value is not None for value in line.values[:size])]
    drawn = time_lines(
        [point.at for point in fleet.points][:size],
        timedelta(seconds=fleet.step_seconds),
        [(cut(line, size), colour) for line, colour in [*lines, *parts]],
        scale,
        [],
        until=shown.until,
    )
    dotted = {line.name for line, _colour in parts}
    for trace in drawn["data"]:
        if trace["name"] in dotted:
            trace["line"]["dash"] = "dot"
            trace["showlegend"] = False
    return beginning(drawn, shown.collected_since, frame.now)


def _fleet_line(fleet: Fleet, field: str, name: str) -> Line:
    points = fleet.points
    return Line(name, [point.sums[field] for point in points], [point.reasons.get(field) for point in points])


def _known_line(fleet: Fleet, field: str, name: str) -> Line:
    """Of the windows in which a group is unknown. At least zero says nothing, and is left out."""
    values = [point.known[field] or None if point.sums[field] is None else None for point in fleet.points]
    reasons = [point.reasons.get(field) for point in fleet.points]
    return Line(_("%s, at least") % name, values, reasons, range(len(values)))


def _firing(frame: Frame, shown: Collection[tuple[str | None, ...]]) -> dict[str, Any]:
    """The worst incidents that fire, and how many more do. Those of a state of the groups `shown` say it without words:
    they stand below."""
    wanted = IncidentFilters(statuses=(IncidentStatus.FIRING,), cluster=frame.cluster, ordering="severity")
    rows, count = incident_list(wanted, frame.now, page_size=FIRING)
    return {
        "firing": [
            (row, frame.to("incident", row.id), row.measure == Measure.STATE and _place(row.subject) in shown)
            for row in rows
        ],
        "firing_more": count - len(rows),
        "evaluation": frame.evaluation,
    }


def _place(subject: SubjectRow) -> tuple[str | None, ...]:
    return subject.cluster, subject.group, subject.topic


def _loss(frame: Frame, loss: BrokerLoss) -> tuple[BrokerLoss, str, list[tuple[str, str]], int, str]:
    """One row for all groups of a broker; the first of them by name."""
    names = list(loss.groups.values())
    links = [(name, frame.group(loss.cluster, name)) for name in names[:NAMED]]
    everything = frame.to("groups", cluster=loss.cluster, state=State.LOSS)
    return loss, broker_loss_words(loss), links, len(names) - len(links), everything


def _where_retried(frame: Frame, row: FailingGroup) -> str:
    """One group's own tab; of a cause of many, all retries of its cluster."""
    if row.group is not None:
        return frame.to("group_retries", row.cluster, row.group)
    return frame.to("retries", cluster=row.cluster)


def _oldest(frame: Frame, found: Overview) -> str | None:
    return frame.group(found.oldest_group.cluster, found.oldest_group.group) if found.oldest_group else None


def _merged_words(frame: Frame, some: Sequence[Mark]) -> str:
    """`14:03 UTC · 12 × STALL: no commit`; both ends where these are of several minutes."""
    ends = dict.fromkeys(minute(mark.at, frame.now) for mark in (some[0], some[-1]))
    return f"{'–'.join(ends)} {zone_name()} · {count(len(some))} × {some[0].cause}"


def _mark(frame: Frame, change: Change) -> Mark:
    before = f"{change.before} → " if change.before else ""
    text = f"{zoned(change.at, frame.now)} · {change.group} · {before}{change.after} · {change.sentence}"
    cause = labelled(change.after, rule_words(change.rule))
    return Mark(change.at, change.after, text, frame.group(change.cluster, change.group), cause)


def _rebalance(frame: Frame, mark: RebalanceMark) -> Mark:
    """Several lead to the list of them."""
    at = mark.until if mark.episodes > 1 else mark.since
    text = f"{zoned(at, frame.now)} · {mark.group} · {mark_words(mark)}"
    if mark.rebalances > 1:
        href = frame.to("rebalances", group=mark.group, cluster=mark.cluster)
    else:
        href = frame.to("rebalance", mark.cluster, mark.group, mark.at)
    return Mark(max(at, frame.collected.since), REBALANCE, text, href, mark_words(mark))


def _reset(frame: Frame, mark: ResetMark) -> Mark:
    """One that began before the range stands at its edge."""
    text = f"{zoned(mark.since, frame.now)} · {mark.group} · {reset_words(mark)}"
    return Mark(max(mark.since, frame.collected.since), RESET, text, frame.to("reset", mark.id))
