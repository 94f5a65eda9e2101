"""What a preview found, in words and as a picture."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consumers.selectors.alerts.previews import PreviewRow
from consumers.selectors.alerts.words import number_words
from dashboard.svg.incident_bars import Bar, incident_bars
from dashboard.wording.numbers import count, duration
from dashboard.wording.numbers import share as share_words
from dashboard.wording.times import clock

from .frame import Frame

SUBJECTS_NAMED, SUBJECTS_DRAWN = 5, 12


def preview_lines(frame: Frame, row: PreviewRow, result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "result": result,
        "verdict": verdict(row, result),
        "unknown_words": unknown_words(result),
        "step": duration(result["step_seconds"]),
        "picture": _picture(row, result),
        "not_drawn": max(0, len(result["by_subject"]) - SUBJECTS_DRAWN),
        "incidents": [_line(frame, row, one) for one in result["incidents"]],
        "days": [(day["day"], day["fired"]) for day in result["per_day"]],
    }


def verdict(row: PreviewRow, result: Mapping[str, Any]) -> str:
    """`It would have fired 3 times in 7 d: 2 × billing, 1 × audit.`"""
    words = {"time": duration((row.until - row.since).total_seconds()), "n": count(result["fired"])}
    if not result["subjects"]:
        return _("It selects nothing that there is: there was nothing to look at.")
    if not result["fired"]:
        return _("It would not have fired in %(time)s, as far as is known.") % words
    most = result["by_subject"][:SUBJECTS_NAMED]
    named = ", ".join(f"{count(one['fired'])} × {one['subject']['title']}" for one in most)
    rest = result["fired"] - sum(one["fired"] for one in most)
    if rest:
        named = _("%(named)s and %(rest)s of others") % {"named": named, "rest": count(rest)}
    words["named"] = named
    return (
        ngettext(
            "It would have fired %(n)s time in %(time)s: %(named)s.",
            "It would have fired %(n)s times in %(time)s: %(named)s.",
            result["fired"],
        )
        % words
    )


def unknown_words(result: Mapping[str, Any]) -> str:
    """Empty where all was known."""
    share = result["unknown_share"]
    if not share:
        return ""
    part = share_words(share)
    said = _("%s of what it looks at is not known in that time: it may have fired there too.") % part
    never = result["unknown_subjects"]
    if not never:
        return said
    words = {"n": count(never), "all": count(result["subjects"])}
    return f"{said} " + _("Of %(n)s of %(all)s nothing is known at all.") % words


def _picture(row: PreviewRow, result: Mapping[str, Any]) -> str:
    if not result["incidents"]:
        return ""
    drawn = [one["subject"] for one in result["by_subject"][:SUBJECTS_DRAWN]]
    bars = [
        Bar(
            line=drawn.index(one["subject"]),
            since=_at(one["fired_at"]),
            until=_at(one["to"]) or row.until,
            is_open=one["to"] is None,
            text=_told(row, one),
        )
        for one in result["incidents"]
        if one["subject"] in drawn
    ]
    return incident_bars(
        [subject["title"] for subject in drawn], bars, row.since, row.until, _("When it would have fired")
    )


def _told(row: PreviewRow, one: Mapping[str, Any]) -> str:
    fired, over = _at(one["fired_at"]), _at(one["to"])
    words = {"title": one["subject"]["title"], "from": clock(fired, row.until)}
    if over is None:
        return _("%(title)s: from %(from)s UTC to the end") % words
    return _("%(title)s: from %(from)s to %(to)s UTC") % {**words, "to": clock(over, row.until)}


def _line(frame: Frame, row: PreviewRow, one: Mapping[str, Any]) -> dict[str, Any]:
    subject, fired, over = one["subject"], _at(one["fired_at"]), _at(one["to"])
    worst = one["worst_value"]
    return {
        "title": subject["title"],
        "cluster": subject.get("cluster", ""),
        "href": frame.group(subject["cluster"], subject["group"]) if "group" in subject else "",
        "began": _at(one["from"]),
        "fired": fired,
        "over": over,
        "lasted": duration(((over or row.until) - fired).total_seconds()),
        "worst": "" if worst is None else number_words(row.rule["measure"], worst),
    }


def _at(text: str | None) -> Any:
    return None if text is None else datetime.fromisoformat(text)
