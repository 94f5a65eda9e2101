"""What a preview found, drawn: a bar for each day, and below it, on the same axis, when whom of it would have fired."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consumers.alerts.queries.previews import PreviewRow
from dashboard.svg.day_bars import DayBar, day_bars
from dashboard.svg.incident_bars import Bar, Gap, incident_bars
from dashboard.wording.numbers import count
from dashboard.wording.numbers import share as share_words
from dashboard.wording.times import clock

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
    return day_bars(days, row.since, row.until, _("By day, in UTC: %s") % "; ".join(day.text for day in days))


def _day(one: Mapping[str, Any]) -> DayBar:
    fired, alone, unknown = one["fired"], one.get("fired_left_alone", 0), one.get("unknown_share")
    words = [ngettext("%s firing", "%s firings", fired) % count(fired) if fired else _("none")]
    if alone:
        words.append(_("%s of groups that are left alone") % count(alone))
    if unknown:
        words.append(_("%s not known") % share_words(unknown))
    return DayBar(date.fromisoformat(one["day"]), fired, alone, unknown, f"{one['day']}: {', '.join(words)}")


def _key(one: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(one["subject"].items()))


def _replayed(row: PreviewRow, result: Mapping[str, Any], drawn: list[Mapping[str, Any]]) -> Iterator[Bar]:
    lines = {_key(one): line for line, one in enumerate(drawn)}
    end = end_of_data(row, result)
    for one in result["incidents"]:
        if (line := lines.get(_key(one))) is not None:
            over = at_of(one["to"])
            kind = "fired apart" if "left_alone" in one else "fired" if over else "fired open"
            yield Bar(line, at_of(one["fired_at"]), over or end, kind, _told(row, one, one.get("left_alone")))


def _evaluated(row: PreviewRow, result: Mapping[str, Any], drawn: list[Mapping[str, Any]]) -> Iterator[Bar]:
    lines = {_key(one): line for line, one in enumerate(drawn)}
    for one in (result.get("evaluated") or {}).get("incidents", ()):
        if (line := lines.get(_key(one))) is not None:
            over = at_of(one["to"]) or row.until
            yield Bar(line, at_of(one["fired_at"]), over, "evaluated", _told(row, one, _("as it was evaluated then")))


def _gaps(row: PreviewRow, drawn: list[Mapping[str, Any]]) -> Iterator[Gap]:
    for line, one in enumerate(drawn):
        for span in one.get("unknown_spans", ()):
            since, until = at_of(span["from"]), at_of(span["to"])
            words = {"title": one["subject"]["title"], "from": clock(since, row.until), "to": clock(until, row.until)}
            yield Gap(line, since, until, _("%(title)s: not known from %(from)s to %(to)s UTC") % words)


def _bands(row: PreviewRow, result: Mapping[str, Any]) -> Iterator[Gap]:
    """Where nothing is known of any subject."""
    for span in result.get("unknown_spans", ()):
        since, until = at_of(span["from"]), at_of(span["to"])
        words = {"from": clock(since, row.until), "to": clock(until, row.until)}
        yield Gap(None, since, until, _("No data from %(from)s to %(to)s UTC") % words)


def _told(row: PreviewRow, one: Mapping[str, Any], beside: str | None) -> str:
    fired, over = at_of(one["fired_at"]), at_of(one["to"])
    words = {"title": one["subject"]["title"], "from": clock(fired, row.until)}
    if over is None:
        said = _("%(title)s: from %(from)s UTC to the end") % words
    else:
        said = _("%(title)s: from %(from)s to %(to)s UTC") % {**words, "to": clock(over, row.until)}
    return f"{said} ({beside})" if beside else said
