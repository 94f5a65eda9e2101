"""Sums over groups, null as soon as a part is unknown."""

from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum

from consumers.models import TimeLagKind
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
        "dlq_day_messages": _no_day(groups, no_day, row["day"]),
    }
    lag_reason = f"{no_lag} of {groups} groups have no known lag" if no_lag else NO_GROUPS
    kind = TimeLagKind.AT_LEAST if no_time_lag else TimeLagKind.INTERPOLATED
    return values | {
        "time_lag_kind": TimeLagKind.UNKNOWN if row["oldest"] is None else kind,
        "unknown_reason": lag_reason if values["lag_messages"] is None else None,
        "unknown": {name: reason for name, reason in reasons.items() if values[name] is None},
    }


def _of_read(read: QuerySet[Any]) -> dict[str, Any]:
    shown = read.annotate(time_lag=F("shown_time_lag_seconds"), died=F("shown_dlq_day_messages"))
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
    )


def _no_day(groups: int, unknown: int, known: int | None) -> str:
    if not groups:
        return NO_GROUPS
    others = f"; the others have {count(known)}" if known is not None else ""
    return f"of {unknown} of {groups} groups it is not known how many messages died in 24 hours{others}"
