"""The result of a preview, as it is stored and shown: JSON, with a reason beside every null."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consumers.alerts.measured import Subject
from consumers.alerts.preview.values import DAY, Grid
from consumers.models import AlertRule, Incident
from consumers.vocabulary.alerts import PreviewReason
from consumers.vocabulary.times import EPOCH, MICROSECOND, from_microseconds, microseconds
from consumers.words.reasons import coded_reason

from .compared import Evaluated, Replay, reasons
from .request import Chosen

INCIDENTS_AT_MOST = 200
SUBJECTS_AT_MOST = 50
# Of so many of the subjects that fired most it is said when nothing of them was known.
DRAWN_AT_MOST = 12
# A value that comes and goes for days has more: then the longest are kept.
SPANS_AT_MOST = 200
Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class ReplayFindings:
    """`incidents` as `replay.replayed` gives them. `known`: how many moments of the subject at a place were known, and
    `known_on` on a day, by the number of days since 1970. `known_at`: the moments at which any was. `unknown_spans` and
    `excluded` (why) by place.
    """

    incidents: Sequence[Mapping[str, Any]] = ()
    known: Mapping[int, int] = field(default_factory=dict)
    known_on: Mapping[int, int] = field(default_factory=dict)
    known_at: Collection[int] = frozenset()
    unknown_spans: Mapping[int, Sequence[Span]] = field(default_factory=dict)
    excluded: Mapping[int, str] = field(default_factory=dict)
    evaluated: Evaluated | None = None


def result_of(rule: AlertRule, chosen: Chosen, grid: Grid, found: ReplayFindings, now: datetime) -> dict[str, Any]:
    """{fired, fired_excluded, known_from, known_to, known_seconds, unknown_seconds, unknown_spans: [{from, to}],
    subjects, fired_subjects, unknown_subjects, unknown_share, unknown_share_in_data, step_seconds, incidents:
    [{subject, from, fired_at, to, worst_value, excluded, unknown}], the newest first, left_out, by_subject:
    [{subject, fired, excluded, unknown_spans: [{from, to}]}], per_day: [{day, fired, fired_excluded,
    unknown_share, unknown}], evaluated: {rule, fired, fired_before, only_replayed, only_evaluated, elsewhere,
    incidents: [{id, subject, fired_at, to, unknown}], left_out, reasons}, unknown}.

    `known_from` to `unknown_spans` are of all subjects together: see data_span. `to` is null of what fires still at the
    end; days are those of UTC. Of a subject `excluded`, a reason, and `unknown_spans` are left out where there are
    none.
    """
    newest = sorted(found.incidents, key=lambda one: (-one["fired_us"], one["place"]))
    fired = [(from_microseconds(one["fired_us"]), one["place"] in found.excluded) for one in newest]
    share, excluded = _unknown_share(chosen, grid, found.known), sum(is_alone for _at, is_alone in fired)
    known = [found.known.get(place, 0) for place in range(len(chosen.subjects))]
    in_data = unknown_share_in_data(known, chosen.first_seen, found.known_at)
    span = data_span(grid, found.known_at)
    unknown = span["unknown"]
    if share is None:
        unknown["unknown_share"] = coded_reason(PreviewReason.NO_SUBJECT)
    if in_data is None:
        unknown["unknown_share_in_data"] = coded_reason(PreviewReason.NO_DATA)
    if found.evaluated is None:
        unknown["evaluated"] = coded_reason(PreviewReason.NO_SAVED_RULE)
    return {
        "fired": len(newest),
        "fired_excluded": excluded,
        **span,
        "subjects": len(chosen.subjects),
        "fired_subjects": len({one["place"] for one in newest}),
        "unknown_subjects": sum(not count for count in known),
        "unknown_share": share,
        "unknown_share_in_data": in_data,
        "step_seconds": grid.step_seconds,
        "incidents": [_incident(one, chosen, found) for one in newest[:INCIDENTS_AT_MOST]],
        "left_out": max(0, len(newest) - INCIDENTS_AT_MOST),
        "by_subject": _by_subject(chosen, found),
        "per_day": per_day(grid, fired, chosen.first_seen, found.known_on),
        "evaluated": found.evaluated and _evaluated(found.evaluated, Replay(rule, grid, share, excluded), now),
        "unknown": unknown,
    }


def most_fired(chosen: Chosen, incidents: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Place and number of firings, the most first."""
    counted = Counter(one["place"] for one in incidents)
    return sorted(counted.items(), key=lambda item: (-item[1], chosen.subjects[item[0]].key))


def data_span(grid: Grid, known_at: Collection[int]) -> dict[str, Any]:
    """{known_from, known_to, known_seconds, unknown_seconds, unknown_spans, unknown}.

    `known_at`: the moments of the grid at which anything was known. Each stands for the step before it.
    """
    moments = sorted(known_at)
    nothing = coded_reason(PreviewReason.NO_DATA)
    spans = unknown_spans(grid, map(from_microseconds, moments), None) if grid.count else []
    return {
        "known_from": iso_text(from_microseconds(moments[0]) - grid.step) if moments else None,
        "known_to": iso_text(from_microseconds(moments[-1])) if moments else None,
        "known_seconds": len(moments) * grid.step_seconds,
        "unknown_seconds": (grid.count - len(moments)) * grid.step_seconds,
        "unknown_spans": [{"from": iso_text(begin), "to": iso_text(end)} for begin, end in spans],
        "unknown": {} if moments else {"known_from": nothing, "known_to": nothing},
    }


def unknown_share_in_data(
    known: Sequence[int], first_seen: Sequence[datetime | None], known_at: Collection[int]
) -> float | None:
    """The share of values that are not known at moments at which others are: null where there is no such moment.

    `known`: of each subject, how many of its values are.
    """
    moments = sorted(known_at)
    there = [
        len(moments) - (0 if first is None else bisect_right(moments, microseconds(first))) for first in first_seen
    ]
    seen = sum(min(count, most) for count, most in zip(known, there, strict=True))
    return 1 - seen / sum(there) if sum(there) else None


def unknown_spans(grid: Grid, known: Iterable[datetime], first_seen: datetime | None) -> list[Span]:
    """[from, to) of each, in order. `known`: the moments of the grid, in order; each stands for the step before it.

    Before it was first seen a subject lacks nothing.
    """
    found = list(_spans(grid, known, first_seen))
    if len(found) > SPANS_AT_MOST:
        found = sorted(sorted(found, key=lambda span: span[0] - span[1])[:SPANS_AT_MOST])
    return found


def _spans(grid: Grid, known: Iterable[datetime], first_seen: datetime | None) -> Iterator[Span]:
    begin = grid.since if first_seen is None else max(grid.since, first_seen)
    for at in (*known, grid.until + grid.step):
        # What is first seen within a step has a value only at the end of the next one.
        if at - grid.step > begin and grid.moments_between(begin + MICROSECOND, at):
            yield begin, at - grid.step
        begin = max(begin, at)


def iso_text(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def per_day(
    grid: Grid,
    fired: Iterable[tuple[datetime, bool]],
    first_seen: Sequence[datetime | None],
    known: Mapping[int, int],
) -> list[dict[str, Any]]:
    """[{day, fired, fired_excluded, unknown_share, unknown}], every day of the range, also those on which nothing
    fired.

    `fired`: when, and whether of a group that is left alone. `known`: how many moments of any subject were known on
    a day, by its number.
    """
    counted = Counter((at.date(), is_alone) for at, is_alone in fired)
    begins = Counter(grid.since if at is None else max(at, grid.since) for at in first_seen)
    found = []
    for begin in grid.days:
        there = sum(
            count * grid.moments_between(max(begin, at + MICROSECOND), begin + DAY) for at, count in begins.items()
        )
        seen = min(known.get((begin - EPOCH) // DAY, 0), there)
        found.append(
            {
                "day": begin.date().isoformat(),
                "fired": counted[begin.date(), False] + counted[begin.date(), True],
                "fired_excluded": counted[begin.date(), True],
                "unknown_share": 1 - seen / there if there else None,
                "unknown": {} if there else {"unknown_share": coded_reason(PreviewReason.NO_SUBJECT)},
            }
        )
    return found


def _unknown_share(chosen: Chosen, grid: Grid, known: Mapping[int, int]) -> float | None:
    """Of all moments at which the subjects were there."""
    there = [grid.count if first is None else grid.moments_from(first) for first in chosen.first_seen]
    seen = sum(min(known.get(place, 0), count) for place, count in enumerate(there))
    return 1 - seen / sum(there) if sum(there) else None


def _incident(one: Mapping[str, Any], chosen: Chosen, found: ReplayFindings) -> dict[str, Any]:
    unknown = {}
    if one["resolved_us"] is None:
        unknown["to"] = coded_reason(PreviewReason.STILL_FIRING)
    if one["worst_value"] is None:
        unknown["worst_value"] = coded_reason(PreviewReason.STATES_COMPARED)
    return {
        "subject": _subject(chosen.subjects[one["place"]]),
        "from": iso_text(from_microseconds(one["started_us"])),
        "fired_at": iso_text(from_microseconds(one["fired_us"])),
        "to": None if one["resolved_us"] is None else iso_text(from_microseconds(one["resolved_us"])),
        "worst_value": one["worst_value"],
        **_excluded(one["place"], found),
        "unknown": unknown,
    }


def _by_subject(chosen: Chosen, found: ReplayFindings) -> list[dict[str, Any]]:
    listed = []
    for place, fired in most_fired(chosen, found.incidents)[:SUBJECTS_AT_MOST]:
        row = {"subject": _subject(chosen.subjects[place]), "fired": fired, **_excluded(place, found)}
        if spans := found.unknown_spans.get(place):
            row["unknown_spans"] = [{"from": iso_text(begin), "to": iso_text(end)} for begin, end in spans]
        listed.append(row)
    return listed


def _excluded(place: int, found: ReplayFindings) -> dict[str, str]:
    return {"excluded": found.excluded[place]} if place in found.excluded else {}


def _evaluated(found: Evaluated, replay: Replay, now: datetime) -> dict[str, Any]:
    newest = list(reversed(found.incidents))
    return {
        "rule": found.rule.pk,
        "fired": found.fired,
        "fired_before": found.fired_before,
        "only_replayed": len(found.only_replayed),
        "only_evaluated": len(found.only_evaluated),
        "elsewhere": found.elsewhere,
        "incidents": [_kept(one) for one in newest[:INCIDENTS_AT_MOST]],
        "left_out": max(0, len(newest) - INCIDENTS_AT_MOST),
        "reasons": reasons(found, replay, now),
    }


def _kept(incident: Incident) -> dict[str, Any]:
    fired, resolved = incident.fired_at, incident.resolved_at
    return {
        "id": str(incident.pk),
        "subject": _subject(Subject.of_incident(incident)),
        "fired_at": fired and iso_text(fired),
        "to": resolved and iso_text(resolved),
        "unknown": {} if resolved else {"to": coded_reason(PreviewReason.NOT_RESOLVED)},
    }


def _subject(subject: Subject) -> dict[str, str]:
    """Names that its kind does not have are left out."""
    names = {name: getattr(subject, name) for name in ("cluster", "broker", "group", "topic")}
    return {"kind": subject.kind.value, "title": subject.title, **{name: one for name, one in names.items() if one}}
