"""Who owns which queue of a group, now and over time; and what each of its members reports over time: one measure, a
line per member.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from consumers.groups.detail import group_head
from consumers.models import ConsumerGroup
from consumers.ownership.assignments import assignments
from consumers.ownership.findings import ownership_check
from consumers.ownership.member_rates import MemberPoint, MemberRates, MemberSeries, member_rates
from consumers.ownership.members import broker_configs, member_settings, members_unknown
from consumers.ownership.timeline import timeline, timeline_owners
from consumers.queries.groups import find_group
from consumers.queries.limits import limits
from consumers.queries.windows import RangeError, window_range
from consumers.rebalances.events import newest_rebalances
from consumers.rebalances.flapping import flapping_of
from consumers.vocabulary.reasons import ReasonCode, reason_code
from consumers.words.reasons import membership_reason
from dashboard.figures.layout import Figure, Line, aside, beginning
from dashboard.figures.ownership_timeline import OWNERS, colour_number, ownership_timeline
from dashboard.figures.time_lines import Scale, time_lines
from dashboard.pages.common.figures import charted, marks_of, rebalance_spans
from dashboard.pages.common.frame import (
    Choice,
    Frame,
    context,
    frame_of,
    group_or_404,
    no_group,
    page,
    refreshing,
    tabs,
)
from dashboard.pages.common.moments import moment_of, range_of
from dashboard.pages.site.problems import UnknownFilter, WrongQuery

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
        members_unknown=members_unknown(group, now=frame.now),
        configs=[
            (one, [getattr(one, name) for name in FLAGS], [getattr(one, name) for name in NUMBERS])
            for one in broker_configs(group)
        ],
    )


settings, settings_part = refreshing(
    "ownership/group_settings.html", "ownership/group_settings_part.html", settings_context
)


@dataclass(frozen=True)
class Measure:
    """`field` of a point; `name` as its chart is headed."""

    field: str
    name: str | Promise
    scale: Scale


PER_SECOND = Scale(gettext_lazy("msg/s"), gettext_lazy("msg/s"), ",.4~g")
MILLISECONDS = Scale(gettext_lazy("milliseconds"), gettext_lazy("ms"), ",.4~g")
MEASURES = {
    measure.field: measure
    for measure in (
        Measure("consume_ok_tps", gettext_lazy("Consume TPS"), PER_SECOND),
        Measure("consume_failed_tps", gettext_lazy("Failed TPS"), PER_SECOND),
        Measure("consume_rt_ms", gettext_lazy("Consume RT"), MILLISECONDS),
        Measure("pull_tps", gettext_lazy("Pull TPS"), PER_SECOND),
        Measure("pull_rt_ms", gettext_lazy("Pull RT"), MILLISECONDS),
        Measure(
            "cached_messages",
            gettext_lazy("Cached messages"),
            Scale(gettext_lazy("messages"), gettext_lazy("messages"), ",d"),
        ),
        Measure("cached_mib", gettext_lazy("Cached size"), Scale("MiB", "MiB", ",d")),
    )
}
DEFAULT = "consume_ok_tps"
# As many as have a colour of their own.
LINES = 8
# What is missing for these reasons is nothing that somebody could know.
ABSENT = frozenset({ReasonCode.NOT_A_MEMBER, ReasonCode.NO_MESSAGE_IN_WINDOW})


def measure_of(request: HttpRequest) -> Measure:
    name = request.GET.get("measure", DEFAULT)
    if name not in MEASURES:
        raise UnknownFilter("measure", name, MEASURES)
    return MEASURES[name]


def measure_choices(frame: Frame) -> list[Choice]:
    """The chart is loaded once one is chosen: it weighs as much as the rest of the tab's figures."""
    chosen = measure_of(frame.request)
    return [
        Choice(str(one.name), frame.here(measure=field), "measure" in frame.request.GET and one is chosen)
        for field, one in MEASURES.items()
    ]


@page
def member_rates_figure(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """The chart of one measure, as JSON for the browser to draw."""
    now, measure = timezone.now(), measure_of(request)
    found = group_or_404(cluster, group)
    shown = range_of(request, now).collected_from(found.first_seen_at)
    try:
        rates = member_rates(
            found, since=shown.since, until=shown.until, now=now, topic=request.GET.get("topic") or None
        )
    except RangeError as error:
        raise WrongQuery(str(error)) from None
    size = _ended(rates, now)
    starts = [rates.since + timedelta(seconds=rates.step_seconds * number) for number in range(size)]
    lines = [_line(series, measure, size) for series in rates.series]
    drawn = time_lines(
        starts,
        timedelta(seconds=rates.step_seconds),
        [(line, f"var(--series-{place + 1})") for place, line in enumerate(_most(lines) or _nobody(found, size))],
        measure.scale,
        marks_of(cluster, group, shown),
        rebalance_spans(cluster, group, shown),
        until=shown.until,
    )
    _note(drawn, len(lines))
    return JsonResponse(beginning(drawn, shown.collected_since, now))


def _ended(rates: MemberRates, now: datetime) -> int:
    """How many windows to draw: the one that is open, and those whose answers may still come, are no gap."""
    step, late = timedelta(seconds=rates.step_seconds), timedelta(seconds=limits().late_seconds)
    size = round((min(rates.until, now) - rates.since) // step)
    while size and rates.since + size * step > now - late and not _answers(rates.series, size - 1):
        size -= 1
    return max(size, 0)


def _answers(series: Sequence[MemberSeries], place: int) -> bool:
    return any(one.points[place].answers for one in series)


def _line(series: MemberSeries, measure: Measure, size: int) -> Line:
    points = series.points[:size]
    reasons = [_reason(point, measure.field) for point in points]
    absent = {place for place, reason in enumerate(reasons) if reason_code(reason) in ABSENT}
    return Line(series.client_id, [getattr(point, measure.field) for point in points], reasons, absent)


def _reason(point: MemberPoint, field: str) -> str | None:
    return point.unknown_reason or point.unknown.get(field)


def _most(lines: Sequence[Line]) -> list[Line]:
    """Those with the highest value, in the order in which they came."""
    ranked = sorted(lines, key=lambda line: -max((value for value in line.values if value is not None), default=-1.0))
    chosen = {line.name for line in ranked[:LINES]}
    return [line for line in lines if line.name in chosen]


def _nobody(group: ConsumerGroup, size: int) -> list[Line]:
    """Where no member was listed: whether there was one may not be known."""
    if group.membership_at is not None:
        return []
    why = membership_reason(group.membership_error)
    return [Line(_("members"), [None] * size, [why] * size)]


def _note(drawn: Figure, members: int) -> None:
    words = _("no member was listed in this range") if not members else ""
    if members > LINES:
        words = _("%(shown)s of %(members)s members: those with the highest values") % {
            "shown": LINES,
            "members": members,
        }
    if words:
        drawn["layout"]["annotations"].append(aside(words))
