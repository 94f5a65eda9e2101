"""Who owns which queue of a group, now and over time."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from consumers.groups.detail import group_head
from consumers.ownership.assignments import assignments
from consumers.ownership.findings import ownership_check
from consumers.ownership.members import broker_configs, member_settings
from consumers.ownership.timeline import timeline, timeline_owners
from consumers.queries.groups import find_group
from consumers.queries.windows import window_range
from consumers.rebalances.events import newest_rebalances
from consumers.rebalances.flapping import flapping_of
from dashboard.figures.layout import beginning
from dashboard.figures.ownership_timeline import OWNERS, colour_number, ownership_timeline
from dashboard.pages.common.figures import charted, marks_of, rebalance_spans
from dashboard.pages.common.frame import Frame, context, frame_of, group_or_404, no_group, page, refreshing, tabs
from dashboard.pages.common.moments import moment_of

from .member_rates import measure_choices, measure_of
from .ownership_tables import compared, member_table, queue_table, subscription_table

# The Ownership tab of a group: who owns which queue, now and over time, beside who is to own it.
REBALANCES = 5


def ownership_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    group = find_group(cluster, name)
    if group is None:
        raise no_group(cluster, name)
    at, head = moment_of(request, frame.now), group_head(group, now=frame.now)
    shown = frame.range.collected_from(group.first_seen_at)
    owners = timeline_owners(group, since=window_range(shown.since, shown.until).start, until=shown.until)
    check = ownership_check(group, frame.now) if at is None else None
    rows = assignments(group, now=frame.now, at=at, expected=check.expected if check else None)
    now_only = {} if check is None else compared(frame, check) | member_table(frame, group, rows, owners)
    return context(
        frame,
        group=head,
        tabs=tabs(frame, cluster, name),
        lag_query=f"?range={frame.range.name}",
        figure_query=frame.here(range=frame.range.name, all=None),
        at=at,
        newest_href=frame.here(at=None),
        **now_only,
        **queue_table(frame, head, rows),
        **subscription_table(frame, group),
        **_legend(owners),
        measure=measure_of(request),
        measure_choices=measure_choices(frame),
        rates_query=frame.here(range=frame.range.name, all=None, at=None),
        **_rebalances(frame, cluster, name),
    )


ownership, ownership_part = refreshing(
    "ownership/group_ownership.html",
    "ownership/group_ownership_part.html",
    ownership_context,
    mark="is_refresh",
    charts=True,
)


def _legend(owners: list[str]) -> dict[str, Any]:
    named = [(owner, colour_number(place)) for place, owner in enumerate(owners[: 2 * OWNERS])]
    return {"owners": named, "owners_left_out": len(owners) - len(named)}


def _rebalances(frame: Frame, cluster: str, group: str) -> dict[str, Any]:
    """Each with its page, and this page as it was before and after it."""
    return {
        "flapping": flapping_of(cluster, group, frame.now),
        "every_rebalance": frame.to("rebalances", group=group, cluster=cluster),
        "rebalances": [
            (
                event,
                frame.to("rebalance", cluster, group, event.at),
                _at(frame, event.started_after),
                _at(frame, event.settled_at),
            )
            for event in newest_rebalances(cluster, group, REBALANCES)
        ],
    }


def _at(frame: Frame, at: datetime | None) -> str:
    return "" if at is None else frame.here(at=at.isoformat().replace("+00:00", "Z"))


@page
def ownership_figure_of(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """The picture of who owned which queue, as JSON for the browser to draw."""
    now = timezone.now()
    shown = charted(request, now, cluster, group)
    # Where the axis of the lag begins, above it.
    since = window_range(shown.since, shown.until).start
    found = timeline(cluster, group, since=since, until=shown.until, topic=request.GET.get("topic") or None)
    if found is None:
        raise no_group(cluster, group)
    changes, spans = marks_of(cluster, group, shown), rebalance_spans(cluster, group, shown)
    drawn = ownership_timeline(found, changes, spans, since=since, until=shown.until, at=moment_of(request, now))
    return JsonResponse(beginning(drawn, shown.collected_since, now))


# The Settings tab of a group: what its members are set to and where they differ, and its configuration per broker.
# Columns of what a broker has configured for a group.
FLAGS = ("consume_enable", "broadcast_enable", "orderly")
NUMBERS = ("retry_max_times", "retry_queue_nums", "consume_timeout_minutes")


def settings_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    group = group_or_404(cluster, name)
    found = member_settings(group)
    return context(
        frame,
        group=group_head(group, now=frame.now),
        tabs=tabs(frame, cluster, name),
        settings=found,
        configs=[
            (one, [getattr(one, name) for name in FLAGS], [getattr(one, name) for name in NUMBERS])
            for one in broker_configs(group)
        ],
    )


settings, settings_part = refreshing(
    "ownership/group_settings.html", "ownership/group_settings_part.html", settings_context
)
