"""The sums of each group. One unknown queue makes the lag of its group unknown; the known sum stands beside it."""

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from django.db import transaction

from consumers.models import Cluster, GroupTotal
from consumers.polling.reading import NEVER_COMMITTED, NO_LAG_REASONS

from .snapshots import BATCH, NULL, Columns

CONSUMER, BROKER = 0, 1
COUNTED_KINDS = ("normal", "retry", "system")
NO_QUEUES = "no offset of this group is on any broker"


@dataclass(frozen=True)
class Total:
    queues: int
    unknown_queues: int | None
    never_committed_queues: int
    lag_messages: int | None
    lag_messages_at_least: int | None
    dlq_messages: int | None
    unknown_reason: str | None


def totals(
    rows: Columns, groups: list[int], dead_letters: dict[int, int | None], never_read: str | None = None
) -> dict[int, Total]:
    """One total per group id in `groups`; `dead_letters` gives each group's dead messages, null where not known.

    `never_read` names a broker that was never read: any group may have queues on it, so no sum is whole.
    """
    known = _totals(rows, groups, dead_letters)
    if never_read is None:
        return known
    return {
        pk: replace(total, lag_messages=None, unknown_queues=None, unknown_reason=never_read)
        for pk, total in known.items()
    }


def _totals(rows: Columns, groups: list[int], dead_letters: dict[int, int | None]) -> dict[int, Total]:
    counted = rows.take(np.isin(rows.kinds, COUNTED_KINDS))
    size = max(groups, default=0) + 1
    group = counted.groups
    known = (counted.reasons == None) & (counted.offsets[:, CONSUMER] != NULL) & (counted.offsets[:, BROKER] != NULL)  # noqa: E711
    never = counted.reasons == NEVER_COMMITTED
    unknown = ~known & ~np.isin(counted.reasons.astype(str), NO_LAG_REASONS)
    lag = np.zeros(size, np.int64)
    np.add.at(lag, group[known], counted.offsets[known, BROKER] - counted.offsets[known, CONSUMER])
    count = {
        name: np.bincount(group[chosen], minlength=size)
        for name, chosen in {"all": slice(None), "unknown": unknown, "never": never, "known": known}.items()
    }
    reasons = _first_reasons(group[never], counted.reasons[never]) | _first_reasons(
        group[unknown], counted.reasons[unknown]
    )
    return {
        pk: Total(
            queues=int(count["all"][pk]),
            unknown_queues=int(count["unknown"][pk]),
            never_committed_queues=int(count["never"][pk]),
            lag_messages=int(lag[pk]) if count["known"][pk] and not count["unknown"][pk] else None,
            lag_messages_at_least=int(lag[pk]) if count["known"][pk] else None,
            dlq_messages=dead_letters.get(pk),
            unknown_reason=None if count["known"][pk] and not count["unknown"][pk] else reasons.get(pk, NO_QUEUES),
        )
        for pk in groups
    }


def _first_reasons(groups: np.ndarray, reasons: np.ndarray) -> dict[int, str]:
    return dict(zip(groups[::-1].tolist(), reasons[::-1].tolist(), strict=True))


def write_totals(cluster: Cluster, fresh: dict[int, Total], now: datetime, last_taken_at: datetime | None) -> None:
    """Rewrites the totals that changed. A total that turns unknown keeps the time of the last whole reading."""
    stored = {total.group_id: total for total in GroupTotal.objects.filter(group__cluster=cluster)}
    names = list(Total.__dataclass_fields__)
    rows = []
    for pk, total in fresh.items():
        row = stored.get(pk)
        if row is not None and all(getattr(row, name) == getattr(total, name) for name in names):
            continue
        good_at = row.last_good_at if row is not None and row.unknown_reason else last_taken_at
        rows.append(
            GroupTotal(
                group_id=pk,
                changed_at=now,
                last_good_at=good_at if total.unknown_reason and row is not None else None,
                **{name: getattr(total, name) for name in names},
            )
        )
    for start in range(0, len(rows), BATCH):
        with transaction.atomic():
            GroupTotal.objects.bulk_create(
                rows[start : start + BATCH],
                update_conflicts=True,
                unique_fields=["group"],
                update_fields=[*names, "changed_at", "last_good_at"],
            )
