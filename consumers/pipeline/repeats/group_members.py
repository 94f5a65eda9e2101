"""Who was in a group, who held its queues, and when those went from one owner to another, by the rows of the poll."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Q

from consumers.models import Assignment, Client, Rebalance

from .holders import NO_REPORT_OLDER
from .stored_history import Place


class MemberSpan(NamedTuple):
    """A member while brokers listed it. `doubled`: since when two processes share its id."""

    client_id: str
    seen: datetime
    gone: datetime | None
    doubled: datetime | None


def members_at(clients: Sequence[MemberSpan], since: datetime, at: datetime) -> int:
    return sum(one.seen <= at and (one.gone is None or one.gone > since) for one in clients)


def queue_moves(
    groups: Collection[int], since: datetime, until: datetime, slack: timedelta
) -> dict[tuple[int, Place], list[tuple[datetime, datetime]]]:
    """When queues went from one owner to another. One that nobody held has an offset that no owner sets back."""
    found: dict[tuple[int, Place], list[tuple[datetime, datetime]]] = defaultdict(list)
    rows = Rebalance.objects.filter(
        group__in=groups, started_before__lte=until + slack, last_change_at__gte=since - slack
    )
    for row in rows.prefetch_related("topics"):
        span = (row.started_after or row.started_before) - slack, (row.settled_at or row.last_change_at) + slack
        for topic, move in row.moves():
            if move["before"] and move["after"] is not None and move["before"] != move["after"]:
                found[row.group_id, (topic, move["broker"], move["queue_id"])].append(span)
    return found


def member_spans(groups: Collection[int], since: datetime, until: datetime) -> dict[int, list[MemberSpan]]:
    found: dict[int, list[MemberSpan]] = defaultdict(list)
    rows = Client.objects.filter(Q(gone_by=None) | Q(gone_by__gt=since), group__in=groups, seen_since__lte=until)
    names = ("group_id", "client_id", "seen_since", "gone_by", "duplicated_since")
    for group, client_id, seen, gone, doubled in rows.values_list(*names):
        found[group].append(MemberSpan(client_id, seen, gone, doubled))
    return found


def queue_reports(
    groups: Collection[int], since: datetime, until: datetime
) -> dict[tuple[int, Place], list[Assignment]]:
    found: dict[tuple[int, Place], list[Assignment]] = defaultdict(list)
    rows = Assignment.objects.filter(group__in=groups, last_seen__gte=since - NO_REPORT_OLDER, seen_since__lte=until)
    for row in rows.select_related("queue__topic"):
        found[row.group_id, (row.queue.topic.name, row.queue.broker, row.queue.queue_id)].append(row)
    return found
