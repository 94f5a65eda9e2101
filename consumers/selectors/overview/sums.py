"""Sums over groups, null as soon as a part is unknown."""

from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from consumers.models import TimeLagKind
from consumers.selectors.groups.rows import KnownPart
from consumers.selectors.measures import count

NO_GROUPS = "no group has been read yet"


def sums(groups: int, found: QuerySet[Any], read: QuerySet[Any]) -> dict[str, Any]:
    """`read` are those of the `groups` in `found` of which nothing is unread: of the others only a part of their lag is
    known. A group that never committed has no part in the sums."""
    row = _of_read(read)
    at_least = found.annotate(known=F("shown_lag_messages_at_least")).aggregate(sum=Sum("known"))["sum"]
    no_lag = groups - row["groups"] + row["unknown_lag"]
    no_time_lag, no_dead, no_day = (groups - row[name] for name in ("time_lags", "dead_known", "day_known"))
    values = {
        "lag_messages": None if no_lag else row["lag"],
        "lag_messages_at_least": at_least,
        "time_lag_seconds": row["oldest"],
        "dlq_messages": None if no_dead else row["dead"],
        "dlq_day_messages": None if no_day else row["day"],
    }
    reasons = {
        "lag_messages_at_least": "no group has a known lag",
        "time_lag_seconds": "no group has a known time lag",
        "dlq_messages": f"{no_dead} of {groups} groups have unread dead letters" if groups else NO_GROUPS,
        "dlq_day_messages": _no_day(groups, no_day, row["day_at_least"]),
    }
    # Where one group is known of the whole day, no moment says since when what is known of all counts.
    since = row["day_since"] if row["day_parts"] == row["groups"] else None
    parts = (
        {"dlq_day_messages": KnownPart(row["day_at_least"], since)}
        if no_day and row["day_at_least"] is not None
        else {}
    )
    lag_reason = f"{no_lag} of {groups} groups have no known lag" if no_lag else NO_GROUPS
    kind = TimeLagKind.AT_LEAST if no_time_lag else TimeLagKind.INTERPOLATED
    return values | {
        "time_lag_kind": TimeLagKind.UNKNOWN if row["oldest"] is None else kind,
        "unknown_reason": lag_reason if values["lag_messages"] is None else None,
        "unknown": {name: reason for name, reason in reasons.items() if values[name] is None},
        "known_parts": parts,
    }


def _of_read(read: QuerySet[Any]) -> dict[str, Any]:
    shown = read.annotate(
        time_lag=F("shown_time_lag_seconds"),
        died=F("shown_dlq_day_messages"),
        died_at_least=Coalesce(F("shown_dlq_day_messages"), F("shown_dlq_day_messages_at_least")),
        died_since=F("shown_dlq_day_since"),
    )
    return shown.aggregate(
        groups=Count("pk"),
        lag=Sum("total__lag_messages"),
        unknown_lag=Count("pk", filter=Q(total__unknown_queues__isnull=True) | Q(total__unknown_queues__gt=0)),
        oldest=Max("time_lag"),
        time_lags=Count("time_lag"),
        dead=Sum("total__dlq_messages"),
        dead_known=Count("total__dlq_messages"),
        day=Sum("died"),
        day_known=Count("died"),
        day_at_least=Sum("died_at_least"),
        day_parts=Count("died_since"),
        day_since=Min("died_since"),
    )


def _no_day(groups: int, unknown: int, known: int | None) -> str:
    if not groups:
        return NO_GROUPS
    at_least = f": at least {count(known)} of all" if known is not None else ""
    return f"the dead letters of 24 hours are not known in full of {unknown} of {groups} groups{at_least}"
