"""The numbers of every group under the overlay, in one query and without sentences: for scrapers.

Lists, pages and REST show the same numbers by way of groups.py; a test compares the two.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import Case, F, When

from consumers.models import State, TimeLagKind
from consumers.selectors.unknown_words import UnknownWord, lag_word, unread_word

from .listing import filtered
from .overlay import STATES, Overlay
from .row import time_lag_kind
from .rows import GroupFilters

CHUNK = 2000


class GroupGauges(NamedTuple):
    """`unknown` has one word for each cause that keeps a number null; a number that is null has its cause in it.

    `is_judged`: everything of it is read, and its judgement is of now.
    """

    id: int
    cluster: str
    group: str
    state: State
    is_judged: bool
    lag_messages: int | None
    lag_messages_at_least: int | None
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    members: int | None
    dlq_messages: int | None
    expired_messages: int | None
    never_committed_queues: int | None
    retry_share: float | None
    dlq_day_messages: int | None
    consume_rate: float | None
    produce_rate: float | None
    last_rebalance_at: datetime | None
    unknown: tuple[UnknownWord, ...]


class _Row(NamedTuple):
    id: int
    cluster: str
    group: str
    rank: int
    lag: int | None
    at_least: int | None
    time_lag: float | None
    members: int | None
    dead: int | None
    expired: int | None
    never: int | None
    retry_share: float | None
    dead_day: int | None
    consume_rate: float | None
    produce_rate: float | None
    unread_by: int | None
    total: int | None
    unknown_reason: str | None
    judged_kind: str | None
    last_rebalance_at: datetime | None
    is_judged: bool | None
    membership_error: str | None
    outside_store: str | None


COLUMNS = {
    "of_rank": F("shown_rank"),
    "of_lag": F("shown_lag_messages"),
    "of_at_least": F("shown_lag_messages_at_least"),
    "of_time_lag": F("shown_time_lag_seconds"),
    "of_members": F("shown_members"),
    "of_dead": F("shown_dlq_messages"),
    "of_expired": Case(When(unread_by__isnull=True, then=F("total__expired_messages"))),
    "of_never": F("shown_never_committed_queues"),
    "of_retry_share": F("shown_retry_share"),
    "of_dead_day": F("shown_dlq_day_messages"),
    "of_consume_rate": F("shown_consume_rate"),
    "of_produce_rate": F("shown_produce_rate"),
    "of_unread_by": F("unread_by"),
}


def group_gauges(overlay: Overlay, cluster: str | None = None) -> Iterator[GroupGauges]:
    """User groups of all clusters, or of one, but ghosts, by cluster and name."""
    since = overlay.limits.judged_since(overlay.now)
    found = filtered(overlay, GroupFilters(cluster=cluster)).annotate(
        **COLUMNS,
        of_is_judged=Case(When(judged__judged_at__gte=since, then=True), When(judged__isnull=False, then=False)),
    )
    rows = found.order_by("cluster__name", "name").values_list(
        "pk",
        "cluster__name",
        "name",
        *COLUMNS,
        "total__pk",
        "total__unknown_reason",
        "judged__time_lag_kind",
        "judged__last_rebalance_at",
        "of_is_judged",
        "membership_error",
        "outside_store",
    )
    for values in rows.iterator(chunk_size=CHUNK):
        yield _gauges(overlay, _Row(*values))


def _gauges(overlay: Overlay, row: _Row) -> GroupGauges:
    return GroupGauges(
        id=row.id,
        cluster=row.cluster,
        group=row.group,
        state=STATES[row.rank],
        is_judged=bool(row.is_judged) and row.unread_by is None,
        lag_messages=row.lag,
        lag_messages_at_least=row.at_least,
        time_lag_seconds=row.time_lag,
        time_lag_kind=time_lag_kind(row.lag, row.time_lag, row.judged_kind),
        members=row.members,
        dlq_messages=row.dead,
        expired_messages=row.expired,
        never_committed_queues=row.never,
        retry_share=row.retry_share,
        dlq_day_messages=row.dead_day,
        consume_rate=row.consume_rate,
        produce_rate=row.produce_rate,
        last_rebalance_at=row.last_rebalance_at if row.is_judged and row.unread_by is None else None,
        unknown=tuple(dict.fromkeys(_causes(overlay, row))),
    )


def _causes(overlay: Overlay, row: _Row) -> Iterator[UnknownWord]:
    unread = unread_word(overlay, row.unread_by)
    if row.lag is None:
        yield unread or lag_word(row.total is not None, row.unknown_reason, row.outside_store)
    if not row.is_judged:
        yield UnknownWord.NOT_JUDGED if row.is_judged is None else UnknownWord.JUDGEMENT_LATE
    elif row.time_lag is None and row.lag is not None:
        yield UnknownWord.TIME_LAG_UNTOLD
    if unread is not None:
        return
    if row.is_judged and row.retry_share is None:
        yield UnknownWord.RETRY_SHARE_UNTOLD
    if row.is_judged and row.dead_day is None:
        yield UnknownWord.DLQ_DAY_UNTOLD
    if row.is_judged and None in (row.consume_rate, row.produce_rate):
        yield UnknownWord.RATES_UNTOLD
    if row.members is None:
        yield UnknownWord.MEMBERS_UNREAD if row.membership_error else UnknownWord.MEMBERS_NOT_ASKED
    if row.total is not None and row.dead is None:
        yield UnknownWord.DEAD_LETTERS_UNREAD
    # Without a lag its cause is that of what expired, too.
    if row.lag is not None and row.expired is None:
        yield UnknownWord.MIN_OFFSETS_UNREAD
