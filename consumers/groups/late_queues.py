"""The states of queues in SQL while evaluations are late, as `late_state` has one (queries/queues/overlay.py)."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, Case, F, IntegerField, Q, QuerySet, Value, When

from consumers.models import State
from consumers.queries.queues.overlay import ALL_WELL, ENDED_BY_NO_LAG, NOT_MOVING
from consumers.vocabulary.states import NO_LAG_REASONS

RANKS = {state: rank for rank, state in enumerate(State)}


def with_late_ranks(
    states: QuerySet[Any],
    *,
    is_unread: Q,
    stopped: Collection[int],
    excused: Collection[int],
    stands_since: datetime,
    allowed_since: datetime,
) -> QuerySet[Any]:
    """`states` of queues, joined with their snapshots, with `rank` of the shown state, worst first.

    `is_unread`: the broker of a queue's state is not read. `stopped` and `excused`: ids of groups. The times are those
    of LateTimes.
    """
    polled = _with_polled(states, is_unread)
    is_behind, is_well = Q(of_lag__gt=0), Q(state__in=ALL_WELL, of_no_lag=False) & ~Q(group__in=excused)
    has_not_moved = Q(of_waiting_since__isnull=True) | Q(of_waiting_since__lt=stands_since)
    waits = Q(of_waiting_since__isnull=True) | Q(of_waiting_since__lte=allowed_since)
    moved = Q(of_waiting_since__gt=F("group__judged__judged_at"))
    unknown = Value(RANKS[State.UNKNOWN])
    rank = Case(
        When(state=State.LOSS, then=Value(RANKS[State.LOSS])),
        When(is_behind & waits & Q(group__in=stopped), then=Value(RANKS[State.STOP])),
        When(state__in=ENDED_BY_NO_LAG, of_lag=0, then=Value(RANKS[State.OK])),
        When(state=State.STOP, group__online=True, then=unknown),
        When(moved & Q(state__in=NOT_MOVING), then=unknown),
        When(is_well & Q(of_lag__isnull=True), then=unknown),
        When(is_well & is_behind & has_not_moved, then=unknown),
        *[When(state=state, then=Value(rank)) for state, rank in RANKS.items()],
        default=unknown,
        output_field=IntegerField(),
    )
    return polled.annotate(rank=rank)


def _with_polled(states: QuerySet[Any], is_unread: Q) -> QuerySet[Any]:
    """Adds `of_lag` (null: unknown), `of_waiting_since` and `of_no_lag`: the queue has no lag by its nature."""
    polled = states.filter(queue__snapshots__group=F("group")).annotate(
        of_consumer=F("queue__snapshots__consumer_offset"),
        of_end=F("queue__snapshots__broker_offset"),
        of_reason=F("queue__snapshots__unknown_reason"),
        of_waiting=F("queue__snapshots__waiting_since"),
    )
    is_told = ~is_unread & Q(group__outside_store__isnull=True)
    has_lag = Q(of_reason__isnull=True, of_consumer__isnull=False, of_end__gte=F("of_consumer"))
    no_lag = When(is_told & Q(of_reason__in=NO_LAG_REASONS), then=Value(True))
    return polled.annotate(
        of_lag=Case(When(is_told & has_lag, then=F("of_end") - F("of_consumer"))),
        of_waiting_since=Case(When(~is_unread, then=F("of_waiting"))),
        of_no_lag=Case(no_lag, default=Value(False), output_field=BooleanField()),
    )
