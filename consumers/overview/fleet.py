"""The lag of all groups together over time, and how many messages they produce and consume a second. A sum is known
only where every group's number is. The sum of the known groups is its lower bound."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Min, Q, Sum
from django.utils.translation import gettext

from consumers.groups.listing import of_kind
from consumers.groups.overlay import Overlay
from consumers.groups.rows import ListKind
from consumers.models import ConsumerGroup, GroupWindow
from consumers.pipeline.upkeep import STEPS
from consumers.queries.history import missing_reason
from consumers.queries.limits import evaluated_until
from consumers.queries.windows import finest_retained, step_for, window_range
from consumers.vocabulary.reasons import ReasonCode
from consumers.vocabulary.states import NO_LAG_REASONS
from consumers.words.marks import labelled
from consumers.words.reasons import coded_reason, reason_words

FIELDS = ("lag_messages", "produce_rate", "consume_rate")
# A database sums so many rows in a fraction of a second: with more groups windows are wider.
MOST_ROWS = 400_000


@dataclass(frozen=True)
class FleetPoint:
    """`sums`: by FIELDS, null where one group is unknown. `known`: the sums of the groups that are known, null where
    none is. `reasons`: why a sum is null."""

    at: datetime
    sums: Mapping[str, float | None]
    known: Mapping[str, float | None]
    reasons: Mapping[str, str]


@dataclass(frozen=True)
class Fleet:
    step_seconds: int
    points: list[FleetPoint]


def fleet_history(*, cluster: str | None, since: datetime, until: datetime, now: datetime) -> Fleet:
    """Of user groups that are not inactive, each window of the range. Four queries."""
    chosen = ConsumerGroup.objects.filter(of_kind(ListKind.USER, Overlay.at(now)))
    if cluster:
        chosen = chosen.filter(cluster__name=cluster)
    first_seen = sorted(chosen.order_by().values_list("first_seen_at", flat=True))
    windows = window_range(since, until, _step(since, until, len(first_seen), now))
    stored = GroupWindow.objects.filter(
        step_seconds=windows.step_seconds, start__gte=windows.start, start__lt=windows.until, group__in=chosen
    )
    no_lag = Q(unknown_reason__in=NO_LAG_REASONS)
    numbers: dict[str, Any] = {f"sum_{name}": Sum(name) for name in FIELDS}
    # A group that has no lag by its nature leaves the sum of the others complete. One that came within the window is in
    # the sum, and does not make up for another that is unknown.
    was_there = Q(group__first_seen_at__lt=F("start"))
    numbers |= {
        f"count_{name}": Count("pk", filter=was_there & (Q(**{f"{name}__isnull": False}) | no_lag)) for name in FIELDS
    }
    numbers |= {
        "first_reason": Min("unknown_reason", filter=~no_lag),
        "last_reason": Max("unknown_reason", filter=~no_lag),
    }
    found = {row["start"]: row for row in stored.order_by().values("start").annotate(**numbers)}
    done = evaluated_until(now)
    complete = windows.complete_until(done, map(windows.index, found))
    points = [
        _point(start, found[start], bisect_left(first_seen, start))
        if number < complete and start in found
        else _missing(start, _why(start, windows.step_seconds, done, now, is_open=number >= complete))
        for number, start in enumerate(windows.starts)
    ]
    return Fleet(windows.step_seconds, points)


def _step(since: datetime, until: datetime, groups: int, now: datetime) -> int:
    usual = max(step_for(until - since), finest_retained(since, now))
    wider = [step for step in STEPS if step >= usual]
    most = MOST_ROWS / max(1, groups)
    return next((step for step in wider if (until - since) / timedelta(seconds=step) <= most), wider[-1])


def _point(start: datetime, row: Mapping[str, Any], groups: int) -> FleetPoint:
    """`groups`: how many had been seen when the window began."""
    unknown = {name: groups - row[f"count_{name}"] for name in FIELDS}
    reasons = {
        name: _lacking(lacking, groups, row["first_reason"], row["last_reason"])
        for name, lacking in unknown.items()
        if lacking > 0
    }
    known = {name: row[f"sum_{name}"] for name in FIELDS}
    sums = {name: None if name in reasons else value for name, value in known.items()}
    return FleetPoint(start, sums, known, reasons)


def _lacking(unknown: int, groups: int, first: str | None, last: str | None) -> str:
    """With the reason of the groups, where they have the same one."""
    words = gettext("no data for %(unknown)s of %(groups)s groups") % {"unknown": unknown, "groups": groups}
    return words if first is None or first != last else labelled(words, reason_words(first))


def _missing(start: datetime, reason: str) -> FleetPoint:
    nothing = dict.fromkeys(FIELDS)
    return FleetPoint(start, nothing, nothing, dict.fromkeys(FIELDS, reason))


def _why(start: datetime, step: int, done: datetime | None, now: datetime, *, is_open: bool) -> str:
    return coded_reason(ReasonCode.NOT_AGGREGATED) if is_open else missing_reason(start, step, done, now)
