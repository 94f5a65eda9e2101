"""Every group in one query and without sentences, for scrapers; reasons as one word of a short list."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Case, F, When

from consumers.groups.listing import filtered
from consumers.groups.overlay import STATES, Overlay
from consumers.groups.row import is_forecast_partial, time_lag_kind
from consumers.groups.rows import GroupFilters
from consumers.models import HealthLevel, State, TimeLagKind

from .health import LEVELS
from .shown import UnknownWord, lag_word, unread_word

# Pages and REST show the same numbers through groups.py; a test compares the two.
CHUNK = 2000


class GroupGauges(NamedTuple):
    """Numbers under the overlay, null where unknown, and stored values of the group; `causes` says why one is null.

    `is_fresh`: its evaluation is current; null: it was never evaluated. `unread_by` and `silent_by` are those of the
    overlay.
    """

    id: int
    cluster_id: int
    cluster: str
    name: str
    total: int | None
    total_unknown_reason: str | None
    judged_time_lag_kind: str | None
    judged_time_lag_seconds: float | None
    judged_at: datetime | None
    judged_state: str | None
    judged_rule: str | None
    judged_expiry_forecast: str | None
    last_rebalance_at: datetime | None
    consume_enable: bool | None
    consume_type: str | None
    message_model: str | None
    outside_store: str | None
    membership_at: datetime | None
    membership_error: str | None
    settled_at: datetime | None
    members_changed_at: datetime | None
    rank: int
    health_rank: int
    unread_by: int | None
    silent_by: int | None
    taken_at: datetime | None
    is_fresh: bool | None
    lag_messages: int | None
    lag_messages_at_least: int | None
    time_lag_seconds: float | None
    drain_seconds: float | None
    expires_unconsumed_seconds: float | None
    members: int | None
    dlq_messages: int | None
    never_committed_queues: int | None
    lost_queues: int | None
    retry_share: float | None
    dlq_day_messages: int | None
    consume_rate: float | None
    produce_rate: float | None
    expired_messages: int | None

    @property
    def state(self) -> State:
        return STATES[self.rank]

    @property
    def is_stale(self) -> bool:
        """The state is that of the last evaluation, and evaluations are late or a broker is not read."""
        is_unread = self.unread_by is not None and self.silent_by is None
        return (self.is_fresh is False or is_unread) and self.state == self.judged_state

    @property
    def health(self) -> HealthLevel:
        return LEVELS[self.health_rank]

    @property
    def is_judged(self) -> bool:
        """Everything of the group is read, and its evaluation is current."""
        return bool(self.is_fresh) and self.unread_by is None

    @property
    def time_lag_kind(self) -> TimeLagKind:
        return time_lag_kind(
            self.lag_messages, self.time_lag_seconds, self.judged_time_lag_kind, self.judged_time_lag_seconds
        )


STORED = (
    "pk", "cluster", "cluster__name", "name", "total__pk", "total__unknown_reason", "judged__time_lag_kind",
    "judged__time_lag_seconds", "judged__judged_at", "judged__state", "judged__rule", "judged__expiry_forecast",
    "judged__last_rebalance_at", "consume_enable", "consume_type",
    "message_model", "outside_store", "membership_at", "membership_error", "settled_at", "members_changed_at",
)  # fmt: skip

SHOWN = ("lag_messages", "lag_messages_at_least", "time_lag_seconds", "drain_seconds",
         "expires_unconsumed_seconds", "members", "dlq_messages",
         "never_committed_queues", "lost_queues", "retry_share", "dlq_day_messages", "consume_rate",
         "produce_rate")  # fmt: skip


def state_time(row: Any) -> datetime | None:
    """The time that a stale state is of: no later than the evaluation, and the poll results that it is based on."""
    return min((at for at in (row.judged_at, row.taken_at) if at is not None), default=None)


def group_gauges(overlay: Overlay, cluster: str | None = None) -> Iterator[GroupGauges]:
    """User groups of all clusters, or of one, except inactive ones, by cluster and name."""
    since = overlay.limits.judged_since(overlay.now)
    columns = {
        "of_rank": F("shown_rank"),
        "of_health_rank": F("shown_health_rank"),
        "of_unread_by": F("unread_by"),
        "of_silent_by": F("silent_by"),
        "of_taken_at": F("shown_taken_at"),
        "of_is_fresh": Case(When(judged__judged_at__gte=since, then=True), When(judged__isnull=False, then=False)),
        **{f"of_{name}": F(f"shown_{name}") for name in SHOWN},
        "of_expired": Case(When(unread_by__isnull=True, then=F("total__expired_messages"))),
    }
    found = filtered(overlay, GroupFilters(cluster=cluster)).annotate(**columns).order_by("cluster__name", "name")
    return map(GroupGauges._make, found.values_list(*STORED, *columns).iterator(chunk_size=CHUNK))


def causes(overlay: Overlay, group: GroupGauges) -> tuple[UnknownWord, ...]:
    """One word for each cause that makes a number of the group null."""
    return tuple(dict.fromkeys(_causes(overlay, group)))


def _causes(overlay: Overlay, row: GroupGauges) -> Iterator[UnknownWord]:
    unread = unread_word(overlay, row.unread_by)
    if row.lag_messages is None:
        yield unread or lag_word(row.total is not None, row.total_unknown_reason, row.outside_store)
    if not row.is_fresh:
        yield UnknownWord.NOT_JUDGED if row.is_fresh is None else UnknownWord.JUDGEMENT_LATE
    elif row.time_lag_seconds is None and row.lag_messages is not None:
        yield UnknownWord.TIME_LAG_UNKNOWN
    elif row.time_lag_kind == TimeLagKind.AT_LEAST and row.lag_messages is not None:
        yield UnknownWord.TIME_LAG_AT_LEAST
    if unread is not None:
        return
    if row.is_fresh and row.retry_share is None:
        yield UnknownWord.RETRY_SHARE_UNKNOWN
    if row.is_fresh and row.dlq_day_messages is None:
        yield UnknownWord.DLQ_DAY_UNKNOWN
    if row.is_fresh and None in (row.consume_rate, row.produce_rate):
        yield UnknownWord.RATES_UNKNOWN
    is_partial = is_forecast_partial(row.judged_expiry_forecast, row.lag_messages)
    if row.is_fresh and is_partial and row.outside_store is None:
        yield UnknownWord.EXPIRY_FORECAST_PARTIAL
    if row.members is None:
        is_asked = row.membership_error or overlay.too_old(row.membership_at)
        yield UnknownWord.MEMBERS_UNREAD if is_asked else UnknownWord.MEMBERS_NOT_ASKED
    if row.total is not None and row.dlq_messages is None:
        yield UnknownWord.DEAD_LETTERS_UNREAD
    # Without a lag, its cause is also that of the expired messages.
    if row.lag_messages is not None and row.expired_messages is None:
        yield UnknownWord.MIN_OFFSETS_UNREAD
