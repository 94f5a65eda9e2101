"""What each member of a group reports over time: one measure, a line per member."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from consumers.models import ConsumerGroup
from consumers.ownership.member_rates import MemberPoint, MemberRates, MemberSeries, member_rates
from consumers.queries.groups import find_group
from consumers.queries.limits import limits
from consumers.queries.windows import RangeError
from consumers.vocabulary.reasons import ReasonCode, reason_code
from consumers.words.reasons import membership_reason
from dashboard.figures.layout import Figure, Line, aside, beginning
from dashboard.figures.time_lines import Scale, time_lines
from dashboard.pages.common.figures import charted, marks_of, rebalance_spans
from dashboard.pages.common.frame import Choice, Frame, no_group, page
from dashboard.pages.site.problems import UnknownFilter, WrongQuery


@dataclass(frozen=True)
class Measure:
    """`field` of a point; `name` as its chart is headed."""

    field: str
    name: str | Promise
    scale: Scale


PER_SECOND = Scale(gettext_lazy("messages/s"), gettext_lazy("msg/s"), ",.4~g")
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
    shown = charted(request, now, cluster, group)
    found = find_group(cluster, group)
    if found is None:
        raise no_group(cluster, group)
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
