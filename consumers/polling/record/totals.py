"""The sums of each group. One unknown queue makes the lag of its group unknown; the known sum stands beside it."""

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from consumers.models import Cluster, GroupTotal
from consumers.polling.reading import NEVER_COMMITTED, NO_LAG_REASONS

from .keyed_rows import upsert
from .snapshots import NULL, Columns

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
    counted = rows.take(rows.kinds.is_in(COUNTED_KINDS))
    size = max(groups, default=0) + 1
    group = counted.groups
    known = counted.reasons.is_in([None])
    known &= (counted.offsets[:, CONSUMER] != NULL) & (counted.offsets[:, BROKER] != NULL)
    never = counted.reasons.is_in([NEVER_COMMITTED])
    unknown = ~known & ~counted.reasons.is_in(NO_LAG_REASONS)
    lag = np.zeros(size, np.int64)
    np.add.at(lag, group[known], counted.offsets[known, BROKER] - counted.offsets[known, CONSUMER])
    count = {
        name: np.bincount(group[chosen], minlength=size).tolist()
        for name, chosen in {"all": slice(None), "unknown": unknown, "never": never, "known": known}.items()
    }
    reasons = _first_reasons(counted.take(never)) | _first_reasons(counted.take(unknown))
    lags = lag.tolist()
    return {
        pk: Total(
            queues=count["all"][pk],
            unknown_queues=count["unknown"][pk],
            never_committed_queues=count["never"][pk],
            lag_messages=lags[pk] if count["known"][pk] and not count["unknown"][pk] else None,
            lag_messages_at_least=lags[pk] if count["known"][pk] else None,
            dlq_messages=dead_letters.get(pk),
            unknown_reason=None if count["known"][pk] and not count["unknown"][pk] else reasons.get(pk, NO_QUEUES),
        )
        for pk in groups
    }


def _first_reasons(rows: Columns) -> dict[int, str | None]:
    groups, first = np.unique(rows.groups, return_index=True)
    return dict(zip(groups.tolist(), rows.reasons.take(first).to_list(), strict=True))


def write_totals(cluster: Cluster, fresh: dict[int, Total], now: datetime, last_taken_at: datetime | None) -> None:
    """Rewrites the totals that changed. A total that turns unknown keeps the time of the last whole reading."""
    names = list(Total.__dataclass_fields__)
    stored = {
        row[0]: (dict(zip(names, row[2:], strict=True)), row[1])
        for row in GroupTotal.objects.filter(group__cluster=cluster).values_list("group_id", "last_good_at", *names)
    }
    changed = {pk: total for pk, total in fresh.items() if pk not in stored or stored[pk][0] != vars(total)}
    good_at: list[datetime | None] = []
    for pk, total in changed.items():
        before, last_good_at = stored.get(pk, (None, None))
        good = last_good_at if before is not None and before["unknown_reason"] else last_taken_at
        good_at.append(good if total.unknown_reason and before is not None else None)
    upsert(
        GroupTotal,
        ["group"],
        {
            "group": list(changed),
            **{name: [getattr(total, name) for total in changed.values()] for name in names},
            "last_good_at": good_at,
            "changed_at": [now] * len(changed),
        },
    )
