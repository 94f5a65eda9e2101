"""What a preview found, as it is kept and shown: JSON, with a reason beside every null."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from consumers.alerts.subjects import Subject
from consumers.models import AlertRule, Comparison, Measure
from consumers.pipeline.slices import EPOCH

from .chosen import Chosen
from .grid import Grid

INCIDENTS_AT_MOST = 200
SUBJECTS_AT_MOST = 50
DAY = timedelta(days=1)


def result_of(
    rule: AlertRule, chosen: Chosen, grid: Grid, incidents: Sequence[Mapping[str, Any]], known: Mapping[int, int]
) -> dict[str, Any]:
    """`incidents` as `replay.replayed` gives them; `known`: how many moments of the subject at a place were known.

    {fired, subjects, unknown_subjects, unknown_share, step_seconds, incidents: [{subject, from, fired_at, to,
    worst_value, unknown}], the newest first, left_out, by_subject: [{subject, fired}], per_day: [{day, fired}], notes,
    unknown}. `to` is null of what fires still at the end; days are those of UTC.
    """
    newest = sorted(incidents, key=lambda one: (-one["fired_us"], one["place"]))
    share = _unknown_share(chosen, grid, known)
    return {
        "fired": len(newest),
        "subjects": len(chosen.subjects),
        "unknown_subjects": sum(not known.get(place) for place in range(len(chosen.subjects))),
        "unknown_share": share,
        "step_seconds": grid.step_seconds,
        "incidents": [_incident(one, chosen, rule) for one in newest[:INCIDENTS_AT_MOST]],
        "left_out": max(0, len(newest) - INCIDENTS_AT_MOST),
        "by_subject": _by_subject(newest, chosen),
        "per_day": _per_day(newest, grid),
        "notes": _notes(rule, grid),
        "unknown": {"unknown_share": _("there was nothing to look at")} if share is None else {},
    }


def _unknown_share(chosen: Chosen, grid: Grid, known: Mapping[int, int]) -> float | None:
    """Of all moments at which the subjects were there."""
    there = [grid.count if first is None else grid.moments_from(first) for first in chosen.first_seen]
    seen = sum(min(known.get(place, 0), count) for place, count in enumerate(there))
    return 1 - seen / sum(there) if sum(there) else None


def _incident(one: Mapping[str, Any], chosen: Chosen, rule: AlertRule) -> dict[str, Any]:
    unknown = {}
    if one["resolved_us"] is None:
        unknown["to"] = _("it fires still at the end of the range")
    if one["worst_value"] is None:
        unknown["worst_value"] = _("states are compared")
    return {
        "subject": _subject(chosen.subjects[one["place"]]),
        "from": _moment(one["started_us"]),
        "fired_at": _moment(one["fired_us"]),
        "to": None if one["resolved_us"] is None else _moment(one["resolved_us"]),
        "worst_value": one["worst_value"],
        "unknown": unknown,
    }


def _subject(subject: Subject) -> dict[str, str]:
    """Names that its kind does not have are left out."""
    names = {name: getattr(subject, name) for name in ("cluster", "broker", "group", "topic")}
    return {"kind": subject.kind.value, "title": subject.title, **{name: said for name, said in names.items() if said}}


def _by_subject(incidents: Sequence[Mapping[str, Any]], chosen: Chosen) -> list[dict[str, Any]]:
    counted = Counter(one["place"] for one in incidents)
    most = sorted(counted.items(), key=lambda item: (-item[1], chosen.subjects[item[0]].key))
    return [{"subject": _subject(chosen.subjects[place]), "fired": fired} for place, fired in most[:SUBJECTS_AT_MOST]]


def _per_day(incidents: Sequence[Mapping[str, Any]], grid: Grid) -> list[dict[str, Any]]:
    """Every day of the range, also those on which nothing fired."""
    fired = Counter(_at(one["fired_us"]).date() for one in incidents)
    first = (grid.since + timedelta(seconds=grid.step_seconds)).date()
    days = max(0, (grid.until.date() - first).days + 1) if grid.count else 0
    return [{"day": (first + number * DAY).isoformat(), "fired": fired[first + number * DAY]} for number in range(days)]


def _notes(rule: AlertRule, grid: Grid) -> list[str]:
    said = [_("What held already when the range began counts from there.")]
    if grid.step_seconds > 60:
        words = {"minutes": grid.step_seconds // 60}
        said.append(
            _(
                "So many windows were looked at that one in %(minutes)s minutes had to do: what lasted for less may be "
                "missed. A shorter range, or fewer groups, is looked at by the minute."
            )
            % words
        )
    if rule.comparison == Comparison.IN:
        said.append(_("A state counts from when it was judged."))
    if rule.measure == Measure.UNKNOWN:
        said.append(_("Only the lag of groups is looked at, not their state."))
    if rule.measure == Measure.READING_AGE:
        said.append(_("Where no cluster was read at all, one incident of the whole site stands for those of clusters."))
    if rule.labels or rule.overrides:
        said.append(_("Notes and labels count as they are today."))
    said.append(_("Groups that a rule leaves alone, as paused ones and those offline by habit, are not left out here."))
    return said


def _at(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def _moment(micros: int) -> str:
    return _at(micros).isoformat().replace("+00:00", "Z")
