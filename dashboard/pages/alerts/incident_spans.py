"""Incidents as bars on the time axis of a group's figures, as flags on the overview's strip, and in words."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consumers.alerts.queries.incidents import IncidentMark, incident_marks
from consumers.models import Severity
from dashboard.figures.points import Span
from dashboard.pages.common.frame import Frame
from dashboard.pages.common.ranges import Range
from dashboard.svg.change_strip import Mark
from dashboard.svg.shapes import CRITICAL, INFO, WARNING
from dashboard.wording.alerts import SEVERITIES
from dashboard.wording.numbers import count, duration
from dashboard.wording.times import clock

COLOURS = {
    Severity.CRITICAL: "var(--state-stop)",
    Severity.WARNING: "var(--state-warn)",
    Severity.INFO: "var(--state-recreated)",
}
SIGNS = {Severity.CRITICAL: "▲", Severity.WARNING: "◆", Severity.INFO: "□"}
FLAGS = {Severity.CRITICAL: CRITICAL, Severity.WARNING: WARNING, Severity.INFO: INFO}
# More bars than this at once share the last lane.
LANES = 6


def incident_spans(cluster: str, group: str, shown: Range) -> list[Span]:
    """From when each fired to its end; what is pending is not drawn."""
    return bars(incident_marks(cluster=cluster, group=group, since=shown.since, until=shown.until), shown)


def bars(marks: Sequence[IncidentMark], shown: Range) -> list[Span]:
    """Each in the first lane that is free at its time, the oldest first."""
    free: list[datetime] = []
    found = []
    for mark in sorted(marks, key=lambda mark: mark.since):
        until = mark.until or shown.until
        if mark.fired_at is None or mark.fired_at > shown.until:
            continue
        lane = next((lane for lane, at in enumerate(free) if at <= mark.fired_at), len(free))
        free[lane : lane + 1] = [until]
        severity = Severity(mark.severity)
        text = f"{clock(mark.fired_at, shown.until)} UTC · {incident_words(mark, shown.until)}"
        look = {"sign": SIGNS[severity], "colour": COLOURS[severity]}
        found.append(
            Span(
                mark.fired_at, until, text, **look, lane=min(lane, LANES - 1), href=reverse("incident", args=[mark.id])
            )
        )
    return found


def incident_words(mark: IncidentMark, now: datetime) -> str:
    """`critical Far behind, over after 5 min: 10 min 20 s behind`."""
    words = {"severity": SEVERITIES[mark.severity], "rule": mark.rule_name, "evidence": mark.evidence}
    end = mark.until or now
    lasted = {"time": duration(max(0, (end - mark.since).total_seconds()))}
    words["how_long"] = _("over after %(time)s") % lasted if mark.until else _("for %(time)s") % lasted
    if not mark.evidence:
        return _("%(severity)s %(rule)s, %(how_long)s") % words
    return _("%(severity)s %(rule)s, %(how_long)s: %(evidence)s") % words


def incident_flags(frame: Frame) -> list[Mark]:
    """What fired at one moment by one rule is one flag, which leads to the incident, or to the list of them."""
    shown = frame.range
    together: dict[tuple[str, datetime], list[IncidentMark]] = {}
    for mark in incident_marks(cluster=frame.cluster, since=shown.since, until=shown.until):
        if mark.fired_at is not None:
            together.setdefault((mark.rule_name, mark.fired_at), []).append(mark)
    return [_flag(frame, at, marks) for (_rule, at), marks in together.items()]


def _flag(frame: Frame, at: datetime, marks: Sequence[IncidentMark]) -> Mark:
    """One that fired before the range stands at its edge."""
    first, when = marks[0], f"{clock(at, frame.now)} UTC"
    flag = FLAGS[Severity(first.severity)]
    place = max(at, frame.range.since + timedelta(seconds=1))
    if len(marks) == 1:
        text = f"{when} · {_named(first)} · {incident_words(first, frame.now)}"
        return Mark(place, flag, text, frame.to("incident", first.id))
    words = {"n": count(len(marks)), "severity": SEVERITIES[first.severity], "rule": first.rule_name}
    text = ngettext("%(n)s incident: %(severity)s %(rule)s", "%(n)s incidents: %(severity)s %(rule)s", len(marks))
    return Mark(place, flag, f"{when} · {text % words}", frame.to("alerts"))


def _named(mark: IncidentMark) -> str:
    names = (mark.group or mark.broker or mark.cluster, mark.topic)
    return " / ".join(name for name in names if name) or "Consumerscope"
