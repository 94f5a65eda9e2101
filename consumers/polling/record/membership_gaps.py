"""Times when the members of a group were not reported completely, stored once they are over."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from django.conf import settings

from consumers.models import ConsumerGroup, MembershipGap

from .clients import ClientKey, ClientRows
from .keyed_rows import WRITE_BATCH


def unlisted_since(
    membership_at: datetime | None, error: str | None, first_seen_at: datetime, now: datetime
) -> datetime | None:
    """When brokers last listed the members of a group completely; null where that answer still counts at `now`.

    `error`: why the newest answer was incomplete. A group that is only waiting for its turn is known for a time.
    """
    since = first_seen_at if membership_at is None else membership_at
    counts_for = settings.JUDGE["rebalance_merge_seconds" if error is not None else "evidence_seconds"]
    return since if now - since > timedelta(seconds=counts_for) else None


def gaps_of_lists(groups: Iterable[ConsumerGroup], now: datetime) -> Iterator[MembershipGap]:
    """`groups`: the rows before this reading, of the groups whose members every broker now lists."""
    for group in groups:
        since = unlisted_since(group.membership_at, group.membership_error, group.first_seen_at, now)
        if since is not None:
            yield MembershipGap(group=group, began_at=since, ended_at=now, is_listed=False)


def gaps_of_silence(
    rows: ClientRows,
    groups: Mapping[int, ConsumerGroup],
    answered: Collection[ClientKey],
    longest: timedelta,
    now: datetime,
) -> Iterator[MembershipGap]:
    """Of members that answered before, and now answer again or have left. At most one of each group, the longest.

    A member that never answered has no gap: what it does is never known.
    """
    since: dict[int, datetime] = {}
    for key in rows.silent:
        at = rows.answered_at[key]
        is_over = key in answered or key not in rows.present or key in rows.replaced
        if at is not None and is_over and now - at > longest:
            since[key[0]] = min(at, since.get(key[0], at))
    for group, at in since.items():
        yield MembershipGap(group=groups[group], began_at=at, ended_at=now, is_listed=True)


def store_gaps(gaps: Iterable[MembershipGap]) -> None:
    MembershipGap.objects.bulk_create(gaps, batch_size=WRITE_BATCH)
