"""Pictures of incidents over time, of a rule and of its preview."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, ngettext

from consumers.alerts.queries.incidents import IncidentMark, incident_marks
from consumers.alerts.queries.previews import PreviewRow
from consumers.models import Severity
from consumers.queries.codes import SEVERITIES
from consumers.words.alerts import rule_name_words
from consumers.words.marks import chained, clauses, labelled
from dashboard.figures.fired_bars import Bar, DayBar, Gap, day_bars, incident_bars
from dashboard.figures.layout import Span
from dashboard.figures.time_bars import CRITICAL, INFO, WARNING, Mark
from dashboard.pages.common.frame import Frame
from dashboard.pages.common.moments import Range
from dashboard.wording.numbers import clock, count, duration, share as share_words, zoned

# What a preview found, drawn: a bar for each day, and below it, on the same axis, when whom of it would have fired.
SUBJECTS_DRAWN = 12


def pictures(row: PreviewRow, result: Mapping[str, Any]) -> dict[str, Any]:
    """`day_picture` and `picture` are empty where there is nothing to draw; `drawn` names the kinds of what is."""
    drawn = result["by_subject"][:SUBJECTS_DRAWN]
    bars = [*_replayed(row, result, drawn), *_evaluated(row, result, drawn)]
    gaps, bands = list(_gaps(row, drawn)), list(_bands(row, result))
    days = [_day(one) for one in result["per_day"]]
    is_hatched = gaps or bands or any(day.unknown_share for day in days)
    kinds = {bar.kind for bar in bars} | ({"unknown"} if is_hatched else set())
    return {
        "day_picture": _days(row, days),
        "picture": _picture(row, drawn, bars, [*bands, *gaps]) if drawn or bands else "",
        "drawn": kinds,
        "not_drawn": max(0, result.get("fired_subjects", len(result["by_subject"])) - SUBJECTS_DRAWN),
    }


def _picture(row: PreviewRow, drawn: list[Mapping[str, Any]], bars: list[Bar], gaps: list[Gap]) -> SafeString:
    titles = [one["subject"]["title"] for one in drawn]
    return incident_bars(titles, bars, gaps, row.since, row.until, _("When it would have fired"))


def at_of(text: str | None) -> Any:
    return None if text is None else datetime.fromisoformat(text)


def end_of_data(row: PreviewRow, result: Mapping[str, Any]) -> datetime:
    """Until then it is known that what fires still does so."""
    until = result.get("known_to")
    return row.until if until is None else datetime.fromisoformat(until)


def _days(row: PreviewRow, days: list[DayBar]) -> SafeString | str:
    """Nothing where nothing fired, and all is known."""
    if not any(day.count or day.unknown_share for day in days):
        return ""
    return day_bars(days, row.since, row.until, _("By day, in UTC: %s") % chained(day.text for day in days))


def _day(one: Mapping[str, Any]) -> DayBar:
    fired, alone, unknown = one["fired"], one.get("fired_excluded", 0), one.get("unknown_share")
    words = [ngettext("%s firing", "%s firings", fired) % count(fired) if fired else _("none")]
    if alone:
        words.append(_("%s of excluded groups") % count(alone))
    if unknown:
        words.append(_("%s not known") % share_words(unknown))
    return DayBar(date.fromisoformat(one["day"]), fired, alone, unknown, labelled(one["day"], clauses(words)))


def _key(one: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(one["subject"].items()))


def _replayed(row: PreviewRow, result: Mapping[str, Any], drawn: list[Mapping[str, Any]]) -> Iterator[Bar]:
    lines = {_key(one): line for line, one in enumerate(drawn)}
    end = end_of_data(row, result)
    for one in result["incidents"]:
        if (line := lines.get(_key(one))) is not None:
            resolved = at_of(one["to"])
            kind = "fired apart" if "excluded" in one else "fired" if resolved else "fired open"
            yield Bar(line, at_of(one["fired_at"]), resolved or end, kind, _bar_title(row, one, one.get("excluded")))


def _evaluated(row: PreviewRow, result: Mapping[str, Any], drawn: list[Mapping[str, Any]]) -> Iterator[Bar]:
    lines = {_key(one): line for line, one in enumerate(drawn)}
    for one in (result.get("evaluated") or {}).get("incidents", ()):
        if (line := lines.get(_key(one))) is not None:
            resolved = at_of(one["to"]) or row.until
            yield Bar(line, at_of(one["fired_at"]), resolved, "evaluated", _bar_title(row, one, _("as evaluated then")))


def _gaps(row: PreviewRow, drawn: list[Mapping[str, Any]]) -> Iterator[Gap]:
    for line, one in enumerate(drawn):
        for span in one.get("unknown_spans", ()):
            since, until = at_of(span["from"]), at_of(span["to"])
            words = {"title": one["subject"]["title"], "from": clock(since, row.until), "to": zoned(until, row.until)}
            yield Gap(line, since, until, _("%(title)s: not known from %(from)s to %(to)s") % words)


def _bands(row: PreviewRow, result: Mapping[str, Any]) -> Iterator[Gap]:
    """Where nothing is known of any subject."""
    for span in result.get("unknown_spans", ()):
        since, until = at_of(span["from"]), at_of(span["to"])
        words = {"from": clock(since, row.until), "to": zoned(until, row.until)}
        yield Gap(None, since, until, _("No data from %(from)s to %(to)s") % words)


def _bar_title(row: PreviewRow, one: Mapping[str, Any], remark: str | None) -> str:
    fired, resolved = at_of(one["fired_at"]), at_of(one["to"])
    words = {"title": one["subject"]["title"], "from": clock(fired, row.until)}
    if resolved is None:
        title = _("%(title)s: from %(from)s to the end") % {**words, "from": zoned(fired, row.until)}
    else:
        title = _("%(title)s: from %(from)s to %(to)s") % {**words, "to": zoned(resolved, row.until)}
    return f"{title} ({remark})" if remark else title


# Incidents as bars on the time axis of a group's figures, as flags on the overview's strip, and in words.
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
        text = f"{zoned(mark.fired_at, shown.until)} · {incident_words(mark, shown.until)}"
        style = {"sign": SIGNS[severity], "colour": COLOURS[severity]}
        found.append(
            Span(
                mark.fired_at, until, text, **style, lane=min(lane, LANES - 1), href=reverse("incident", args=[mark.id])
            )
        )
    return found


def incident_words(mark: IncidentMark, now: datetime) -> str:
    """`critical · Far behind, resolved after 5 min: 10 min 20 s behind`."""
    return f"{SEVERITIES[mark.severity]} · {course_words(mark, now)}"


def course_words(mark: IncidentMark, now: datetime) -> str:
    """Without its severity, which stands before it."""
    words = {"rule": rule_name_words(mark.rule_name), "evidence": mark.evidence}
    end = mark.until or now
    lasted = {"time": duration(max(0, (end - mark.since).total_seconds()))}
    if mark.fired_at is None:
        how_long = _("resolved after %(time)s without firing") if mark.until else _("pending for %(time)s")
    else:
        how_long = _("resolved after %(time)s") if mark.until else _("for %(time)s")
    words["how_long"] = how_long % lasted
    if not mark.evidence:
        return _("%(rule)s, %(how_long)s") % words
    return _("%(rule)s, %(how_long)s: %(evidence)s") % words


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
    first, when = marks[0], zoned(at, frame.now)
    flag = FLAGS[Severity(first.severity)]
    place = max(at, frame.collected.since + timedelta(seconds=1))
    if len(marks) == 1:
        text = f"{when} · {_named(first)} · {incident_words(first, frame.now)}"
        return Mark(place, flag, text, frame.to("incident", first.id))
    words = {"n": count(len(marks)), "severity": SEVERITIES[first.severity], "rule": rule_name_words(first.rule_name)}
    text = ngettext("%(n)s incident: %(severity)s · %(rule)s", "%(n)s incidents: %(severity)s · %(rule)s", len(marks))
    return Mark(place, flag, f"{when} · {text % words}", frame.to("alerts"))


def _named(mark: IncidentMark) -> str:
    names = (mark.group or mark.broker or mark.cluster, mark.topic)
    return " / ".join(name for name in names if name) or "Consumerscope"
